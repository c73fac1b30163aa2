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

// Life is what becomes of one resource.
type Life struct {
	// Create are the properties that it is created with.
	Create Properties
	// Computed are the properties that the provider computes in Create, beyond those that must always be there, which are
	// those without a pointer in the IDL.
	Computed []string
	// Expect are properties, among others, that it has after it was created: those that are filled in or computed.
	Expect Properties
	// MayDiffer is what [Resource.MayDiffer] says.
	MayDiffer []lumi.Path
	// MayBeEmpty is what [Resource.MayBeEmpty] says.
	MayBeEmpty []string
	// Known are the properties without which the provider cannot judge the others. The kit has each of the others be
	// unknown in turn, and then all of them, before the resource is created and after.
	Known []string
	// Unknown are parts of properties that the kit has be unknown too, each by itself.
	Unknown []lumi.Path
	// Ignores are changes of properties that make no difference: InspectChange reports none of them, and keeps the old
	// values.
	Ignores []Properties
	// Updates are changes in place, one after another.
	Updates []Change
	// Replaces are changes that take a new resource, after the updates.
	Replaces []Replacement
	// Upgrades are states that older versions of the provider stored, after the replacements. The resource is deleted with
	// the last of them as its state.
	Upgrades []Upgrade
}

// Change is a change in place.
type Change struct {
	// Set are the properties that change. Nil takes one away.
	Set Properties
	// Changes, if it is not nil, are those that InspectChange must report, as [lumi.Change] prints them.
	Changes []string
	// Expect are properties, among others, that the resource has afterward.
	Expect Properties
}

// Replacement is a change that takes a new resource.
type Replacement struct {
	// Set are the properties that change. Nil takes one away.
	Set Properties
	// Because, if it is not nil, are the paths whose changes must be what asks for it.
	Because []lumi.Path
	// Expect are properties, among others, that the new resource has.
	Expect Properties
	// DeleteFirst says that the old resource is deleted before the new one is created, as a program can ask for with the
	// option deleteBeforeReplace. Otherwise that is for InspectChange to say.
	DeleteFirst bool
}

// Upgrade is the state of a resource as an older version of the provider stored it, perhaps under an older IDL.
type Upgrade struct {
	// Stored are the properties in which that state differs from what the provider stores now. Nil takes one away.
	Stored Properties
	// Change is a change in place of the resource in that state. If its Set is nil, nothing was changed since, and
	// InspectChange must report exactly what Changes has, nothing if that is nil.
	Change
}

// Life takes the resource from nothing to nothing, as an engine would: it is planned, created, read, changed, replaced
// and deleted. A difference from what must be is reported, the same one only once, and the life goes on. A call that fails
// ends it.
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

// declared ends the test if it names a property that does not exist, which would have no effect.
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

// paths are those of properties.
func paths(names []string) []lumi.Path {
	var made []lumi.Path
	for _, name := range names {
		made = append(made, lumi.Path("").Key(name))
	}
	return made
}

// plans has properties be unknown.
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

// asExpected sees that the resource has the properties that it must have after the step, among others.
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
