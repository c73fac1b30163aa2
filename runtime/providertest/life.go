package providertest

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/suggest"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// Life describes the life of one resource.
type Life struct {
	// Create holds the initial properties.
	Create Properties
	// Computed names optional computed properties that Create must return. Required ones, which are not pointers in the
	// IDL, need not be listed.
	Computed []string
	// Expect holds some of the resource's properties after creation, such as defaults and computed ones.
	Expect Properties
	// MayDiffer is passed to [Resource.MayDiffer].
	MayDiffer []lumi.Path
	// MayBeEmpty is passed to [Resource.MayBeEmpty].
	MayBeEmpty []string
	// Known names the properties that the provider needs in order to check the others. The kit makes each of the
	// others unknown in turn, and then all of them, both before the resource is created and afterward.
	Known []string
	// Unknown lists property paths that the kit also tests as unknown, one at a time.
	Unknown []lumi.Path
	// Ignores lists changes without effect: InspectChange must not report them, and must keep the old values.
	Ignores []Properties
	// Updates lists updates, in order.
	Updates []Change
	// Replaces lists replacements, made after the updates.
	Replaces []Replacement
	// Upgrades lists states stored by older versions of the provider, tested after the replacements. The resource is
	// deleted with the last of them as its state.
	Upgrades []Upgrade
}

// Change is an update.
type Change struct {
	// Set holds the properties to change. Nil removes one.
	Set Properties
	// Changes, if not nil, lists the changes that InspectChange must report, formatted by [lumi.Change].
	Changes []string
	// Expect holds some of the resource's properties afterward.
	Expect Properties
}

// Replacement is a change that requires a replacement.
type Replacement struct {
	// Set holds the properties to change. Nil removes one.
	Set Properties
	// Because, if not nil, lists the paths that must require the replacement.
	Because []lumi.Path
	// Expect holds some of the new resource's properties.
	Expect Properties
	// DeleteFirst deletes the old resource before the new one is created, as with a program's option
	// deleteBeforeReplace. Otherwise, InspectChange decides.
	DeleteFirst bool
}

// Upgrade is a resource's state as stored by an older version of the provider, perhaps under an older IDL.
type Upgrade struct {
	// Stored holds the properties in which that state differs from the current one. Nil removes one.
	Stored Properties
	// Change is an update of the resource in that state. If its Set is nil, nothing was changed, and InspectChange
	// must report exactly Changes, where nil means none.
	Change
}

// Life takes the resource through its whole life, as an engine would: it is planned, created, read, updated, replaced,
// and deleted. Violations are reported once each, and the life continues. A failed call ends it.
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
	s.expected = l.Expect
	s.create(l.Create)
	for _, name := range l.Computed {
		if signed.IsNull(r.Output(lumi.Path(name))) {
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

// declared ends the test if a path names a nonexistent property, which would have no effect.
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

// paths returns the paths of properties.
func paths(names []string) []lumi.Path {
	var made []lumi.Path
	for _, name := range names {
		made = append(made, lumi.Path("").Key(name))
	}
	return made
}

// plans makes properties unknown in turn.
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

// asExpected checks the properties expected after the step.
func (s *step) asExpected() {
	s.t.Helper()
	state := s.r.current()
	found := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name := range s.expected {
		if v, ok := state.Fields[name]; ok {
			found.Fields[name] = v
		}
	}
	s.differs("the resource has unexpected properties", s.encode(s.expected), found, nil)
}
