package providertest

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/special"
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
	// NoRetry says that a second Create makes a second resource, since the cloud offers no way to prevent that.
	NoRetry bool
	// NoRefusal says that none of the changes in Replaces is declared in the IDL to take a replacement: only the
	// provider's InspectChange asks for it, and Update knows nothing of that. Where the kit knows the IDL, it knows this.
	NoRefusal bool
	// Updates are changes in place, one after another.
	Updates []Change
	// Replaces are changes that take a new resource, after the updates.
	Replaces []Replacement
}

// Change is a change in place.
type Change struct {
	// Set are the properties that change. Nil takes one away.
	Set Properties
	// Changes, if it is not nil, are those that InspectChange must report, as [lumi.Change] prints them.
	Changes []string
	// Expect are properties, among others, that the resource has afterwards.
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
	// CreateFirst says that the new resource is created before the old one is deleted. Otherwise it is the other way
	// round, as it must be where both cannot exist at the same time.
	CreateFirst bool
}

// Life takes the resource from nothing to nothing, as an engine would: it is planned, created, read, changed, replaced
// and deleted. A difference from what must be is reported, the same one only once, and the life goes on. A call that fails
// ends it.
func (r *Resource) Life(t TB, l Life) {
	t.Helper()
	r.MayDiffer(l.MayDiffer...)
	r.MayBeEmpty(l.MayBeEmpty...)
	r.Check(t, l.Create)
	r.plans(t, l)
	s := r.step(t, "create", nil)
	s.exists(false)
	s.expected = l.Expect
	s.create(l.Create)
	for _, name := range l.Computed {
		if special.IsNull(r.Output(lumi.Path(name))) {
			s.errorf("%s is not computed", name)
		}
	}
	s.asExpected()
	s.settled()
	if !l.NoRetry {
		r.Retry(t)
	}
	r.plans(t, l)
	for i, c := range l.Updates {
		s := r.step(t, fmt.Sprintf("update %d", i+1), nil)
		s.expected = c.Expect
		s.update(c)
		s.asExpected()
		s.settled()
	}
	for i, c := range l.Replaces {
		s := r.step(t, fmt.Sprintf("replace %d", i+1), nil)
		s.noRefusal, s.expected = l.NoRefusal, c.Expect
		s.replace(c)
		s.asExpected()
		s.settled()
	}
	r.Delete(t)
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
	s.differs("the resource has other properties than expected", s.encode(s.expected), found, nil)
}
