package providertest

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/suggest"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// Life describes the life cycle of one resource.
type Life struct {
	// Create holds the initial properties.
	Create Properties
	// Computed names optional computed properties that Create must return. Required ones, which are not pointers in the
	// IDL, are always checked.
	Computed []string
	// Expect holds properties that the resource must have after creation, such as defaults and computed properties.
	Expect Properties
	// MayDiffer is passed to [Resource.MayDiffer].
	MayDiffer []lumi.Path
	// MayBeEmpty is passed to [Resource.MayBeEmpty].
	MayBeEmpty []string
	// Known names the properties that the provider needs for checking the others. The kit makes each of the others
	// unknown in turn, and then all of them at once, both before and after the resource is created.
	Known []string
	// Unknown lists further paths that the kit makes unknown, one at a time.
	Unknown []lumi.Path
	// Ignores lists changes that the provider ignores: InspectChange must not report them, and must keep the old values.
	Ignores []Properties
	// Updates lists the updates to make, in order.
	Updates []Change
	// Replaces lists the replacements to make after the updates, in order.
	Replaces []Replacement
	// Upgrades lists states stored by older versions of the provider, tested after the replacements. The final Delete
	// receives the last of these states.
	Upgrades []Upgrade
}

// Change is an update.
type Change struct {
	// Set holds the properties to change. A nil value removes a property.
	Set Properties
	// Changes, if not nil, lists the changes that InspectChange must report, formatted by [lumi.Change.String].
	Changes []string
	// Expect holds properties that the resource must have after the update.
	Expect Properties
}

// Replacement is a change that requires a replacement.
type Replacement struct {
	// Set holds the properties to change. A nil value removes a property.
	Set Properties
	// Because, if not nil, lists the paths whose changes must require the replacement.
	Because []lumi.Path
	// Expect holds properties that the new resource must have.
	Expect Properties
	// DeleteFirst deletes the old resource before the new one is created, like the program's option deleteBeforeReplace.
	// If it is unset, InspectChange decides.
	DeleteFirst bool
}

// Upgrade is a resource's state as stored by an older version of the provider, possibly with an older IDL.
type Upgrade struct {
	// Stored holds the properties that differ from the current state. A nil value removes a property.
	Stored Properties
	// Change is an update from the stored state. If its Set is nil, a nil Changes means that InspectChange must not
	// report any changes.
	Change
}

// Life takes the resource through its whole life cycle, like an engine: it plans, creates, reads, updates, replaces, and
// deletes the resource. It reports each violation once and continues, but ends the test if a call fails.
func (r *Resource) Life(t TB, l Life) {
	t.Helper()
	r.declared(t, "Computed", paths(l.Computed))
	r.declared(t, "MayBeEmpty", paths(l.MayBeEmpty))
	r.declared(t, "MayDiffer", l.MayDiffer)
	r.declared(t, "Known", paths(l.Known))
	r.declared(t, "Unknown", l.Unknown)
	r.MayDiffer(l.MayDiffer...)
	r.MayBeEmpty(l.MayBeEmpty...)
	r.Check(t, l.Create)
	r.plans(t, l)
	s := r.step(t, "create", nil)
	s.exists(false)
	s.expected, s.atFirst = l.Expect, true
	s.create(l.Create)
	for _, name := range l.Computed {
		if isNull(r.Output(lumi.Path(name))) {
			s.errorf("%s is not computed", name)
		}
	}
	s.asExpected()
	s.settled()
	r.step(t, "create again after a lost response", nil).retry()
	r.plans(t, l)
	for i, set := range l.Ignores {
		r.step(t, fmt.Sprintf("ignored change %d", i+1), nil).ignored(set)
	}
	for i, c := range l.Updates {
		s := r.step(t, fmt.Sprintf("update %d", i+1), nil)
		s.expected = c.Expect
		s.update(c)
		s.asExpected()
		s.settled()
	}
	for i, c := range l.Replaces {
		s := r.step(t, fmt.Sprintf("replace %d", i+1), nil)
		s.expected = c.Expect
		s.replace(c)
		s.asExpected()
		s.settled()
	}
	for i, u := range l.Upgrades {
		s := r.step(t, fmt.Sprintf("upgrade %d", i+1), nil)
		s.expected = u.Expect
		s.upgrade(u)
	}
	s = r.step(t, "delete", nil)
	if n := len(l.Upgrades); n > 0 {
		r.store(s.stored(r.current(), l.Upgrades[n-1].Stored), r.wanted)
	}
	s.delete()
}

// declared ends the test if a path does not start with the name of a property. field is the name of the paths in the
// message.
func (r *Resource) declared(t TB, field string, paths []lumi.Path) {
	t.Helper()
	var names []lumi.Path
	for _, p := range r.described.Properties {
		names = append(names, lumi.Path("").Key(p.Name))
	}
	for _, path := range paths {
		if slices.ContainsFunc(names, func(name lumi.Path) bool { return name.Holds(path) }) {
			continue
		}
		hint := ""
		if near := suggest.Name(string(path), names); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		r.h.calls.fail()
		fatalf(t, "%s: %s: no property %s%s", r, r.h.term(field), path, hint)
	}
}

// paths converts property names to paths.
func paths(names []string) []lumi.Path {
	var made []lumi.Path
	for _, name := range names {
		made = append(made, lumi.Path("").Key(name))
	}
	return made
}

// plans tests plans in which properties are unknown: each in turn, all at once, and those in l.Unknown.
func (r *Resource) plans(t TB, l Life) {
	t.Helper()
	var all []lumi.Path
	for _, name := range slices.Sorted(maps.Keys(l.Create)) {
		if name != "name" && l.Create[name] != nil && !slices.Contains(l.Known, name) {
			path := lumi.Path("").Key(name)
			all = append(all, path)
			r.Plan(t, l.Create, path)
		}
	}
	if len(all) > 1 {
		r.Plan(t, l.Create, all...)
	}
	for _, path := range l.Unknown {
		r.Plan(t, l.Create, path)
	}
}

// asExpected checks that the resource, or the results of a call, have the properties in s.expected.
func (s *step) asExpected() {
	s.t.Helper()
	state := s.r.current()
	found := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name := range s.expected {
		if v, ok := state.Fields[name]; ok {
			found.Fields[name] = v
		}
	}
	problem := "the resource has unexpected properties"
	if s.r.function != nil {
		problem = "Call returns unexpected results"
	}
	s.differs(problem, s.encode(s.expected), found, nil)
}
