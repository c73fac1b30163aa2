package providertest

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Check has the provider judge properties, and returns them with what it fills in.
func (r *Resource) Check(t TB, properties Properties, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "check", options)
	checked, ok := s.check(s.encode(properties))
	if ok {
		s.end()
	}
	return lumi.BagOf(checked)
}

// Plan has the provider judge properties of which some are not known yet, as they are when the resources that they
// depend on do not exist. If the resource exists, it also says what would change.
func (r *Resource) Plan(t TB, properties Properties, unknown ...lumi.Path) {
	t.Helper()
	s := r.step(t, "plan with "+list(unknown)+" unknown", nil)
	bag := s.encode(properties)
	for _, path := range unknown {
		if !replaceAt(bag, path, lumi.NewUnknown()) {
			s.fatalf("there is no %s among the properties that could be unknown", path)
		}
	}
	checked, ok := s.check(bag)
	if !ok || s.r.ID() == "" {
		return
	}
	resp, err := s.r.callInspect(s.ctx, s.r.current(), checked)
	if s.called("InspectChange", err) {
		s.saysUnknown(unknown, resp)
	}
}

// Create creates the resource, and then sees that it can be read and needs no change.
func (r *Resource) Create(t TB, properties Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "create", options)
	s.exists(false)
	if s.create(properties) {
		s.end()
		s.settled()
	}
}

// Retry calls Create once more for the resource that was created last, as an engine does that did not get the answer.
// There must still be one resource.
func (r *Resource) Retry(t TB) {
	t.Helper()
	s := r.step(t, "create again after a lost answer", nil)
	s.exists(true)
	id, computed, err := r.callCreate(s.ctx, r.wanted)
	if err != nil {
		s.fatalf("Create must return %s again, and failed: %s\n%s", r.ID(), explain(err), whyAgain)
	}
	s.called("Create", nil)
	if id != r.ID() {
		r.h.lives(r, id, merge(r.wanted, computed))
		s.errorf("Create must return %s again, and made another resource: %s\n%s", r.ID(), id, whyAgain)
		return
	}
	s.differs("Create computes other properties than the first time", outOf(r.current(), r.wanted), computed, s.excused)
	s.then("get").get()
}

const whyAgain = "An engine that did not get the answer calls Create again with the same URN: find by it what was made" +
	" before, or say NoRetry in the Life if there is no way"

// Get reads the resource by its id, and returns its properties.
func (r *Resource) Get(t TB, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "get", options)
	s.exists(true)
	got, ok := s.get()
	if ok {
		s.end()
	}
	return lumi.BagOf(got)
}

// GetID reads a resource of this type by any id.
func (r *Resource) GetID(t TB, id lumi.ID, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "get "+string(id), options)
	got, err := r.callGet(s.ctx, id)
	if s.called("Get", err) {
		s.answer("Get", got)
		s.end()
	}
	return lumi.BagOf(got)
}

// NoChange sees that the resource needs no change.
func (r *Resource) NoChange(t TB) {
	t.Helper()
	s := r.step(t, "no change", nil)
	s.exists(true)
	s.noChange()
}

// Inspect says what would change if some properties were others.
func (r *Resource) Inspect(t TB, set Properties, options ...Option) *lumi.InspectChangeResponse {
	t.Helper()
	s := r.step(t, "inspect", options)
	s.exists(true)
	_, resp, ok := s.inspect(r.asked.With(set))
	if ok {
		s.end()
	}
	return resp
}

// Update changes the resource in place, and then sees that it can be read and needs no further change.
func (r *Resource) Update(t TB, set Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "update", options)
	s.exists(true)
	if s.update(Change{Set: set}) {
		s.end()
		s.settled()
	}
}

// Replace replaces the resource by another, since some properties cannot change in place. It sees that an update is
// refused.
func (r *Resource) Replace(t TB, set Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "replace", options)
	s.exists(true)
	if s.replace(Replacement{Set: set}) {
		s.end()
		s.settled()
	}
}

// Delete deletes the resource, twice, and sees that it is gone.
func (r *Resource) Delete(t TB, options ...Option) {
	t.Helper()
	s := r.step(t, "delete", options)
	s.exists(true)
	if s.delete() {
		s.end()
	}
}

// check is what Check does. It reports false if that failed as expected.
func (s *step) check(bag *structpb.Struct) (*structpb.Struct, bool) {
	s.t.Helper()
	checked, err := s.r.callCheck(s.ctx, bag)
	if !s.called("Check", err) {
		return nil, false
	}
	s.kept(bag, checked)
	s.stillUnknown(bag, checked)
	s.wrapsSecrets("Check", checked)
	again, err := s.r.callCheck(s.ctx, checked)
	if !s.then("check again").called("Check", err) {
		return nil, false
	}
	s.differs("Check changes what Check itself returned", checked, again, nil)
	return checked, true
}

func (s *step) create(properties Properties) bool {
	s.t.Helper()
	r := s.r
	checked, ok := s.check(s.encode(properties))
	if !ok {
		return false
	}
	name, err := r.callName(s.ctx, checked)
	if !s.called("Name", err) {
		return false
	}
	s.rename(name)
	id, computed, err := r.callCreate(s.ctx, checked)
	return s.made("Create", properties, checked, id, computed, err)
}

// made takes note of what Create or Update made of the resource.
func (s *step) made(call string, asked Properties, checked *structpb.Struct, id lumi.ID, computed *structpb.Struct, err error) bool {
	s.t.Helper()
	r := s.r
	var partial *lumi.PartialError
	if errors.As(err, &partial) {
		r.asked, r.wanted = asked, checked
		r.is(partial.ID, partial.Properties.Struct())
	}
	if !s.called(call, err) {
		return false
	}
	r.asked, r.wanted = asked, checked
	computed = s.answer(call, computed)
	r.is(id, merge(checked, computed))
	s.computed(call, computed)
	return true
}

// rename gives the resource the name that the provider chose.
func (s *step) rename(name string) {
	s.t.Helper()
	r := s.r
	u, err := r.format(name)
	if err != nil {
		s.fatalf("Name returns what cannot be part of a URN: %v", err)
	}
	r.h.mu.Lock()
	other := r.h.resources[u]
	r.h.mu.Unlock()
	if other != nil && other != r {
		s.fatalf("Name returns %q, which is the name of another resource: %s", name, other)
	}
	r.h.rename(r, u)
}

// outOf are the properties of a state that were computed.
func outOf(state, wanted *structpb.Struct) *structpb.Struct {
	made := clone(state)
	for name := range wanted.GetFields() {
		delete(made.Fields, name)
	}
	return made
}

// settled sees that the resource can be read and needs no change.
func (s *step) settled() {
	s.t.Helper()
	s.then("get").get()
	s.then("no change").noChange()
}

func (s *step) get() (*structpb.Struct, bool) {
	s.t.Helper()
	got, err := s.r.callGet(s.ctx, s.r.ID())
	if !s.called("Get", err) {
		return nil, false
	}
	s.answer("Get", got)
	want := s.readBack()
	s.differs("Get returns other properties than were asked for and computed", want, got, s.excused, s.hints(want, got)...)
	return got, true
}

func (s *step) noChange() {
	s.t.Helper()
	resp, err := s.r.callInspect(s.ctx, s.r.current(), s.r.wanted)
	if s.called("InspectChange", err) && len(resp.Changes)+len(resp.Replaces) > 0 {
		s.errorf("InspectChange reports changes where there are none:\n%s", indent(summary(resp)))
	}
}

// inspect checks other properties and asks what they would change.
func (s *step) inspect(asked Properties) (*structpb.Struct, *lumi.InspectChangeResponse, bool) {
	s.t.Helper()
	checked, ok := s.check(s.encode(asked))
	if !ok {
		return nil, nil, false
	}
	resp, err := s.r.callInspect(s.ctx, s.r.current(), checked)
	return checked, resp, s.called("InspectChange", err)
}

func (s *step) update(c Change) bool {
	s.t.Helper()
	r := s.r
	asked := r.asked.With(c.Set)
	checked, resp, ok := s.inspect(asked)
	if !ok {
		return false
	}
	if len(resp.Replaces) > 0 {
		s.fatalf("InspectChange asks for a replacement, because of %s: use Replace instead", list(resp.Replaces))
	}
	if len(resp.Changes) == 0 {
		s.fatalf("InspectChange reports no changes, so that an engine would not update the resource")
	}
	s.changes(c.Changes, resp)
	computed, err := r.callUpdate(s.ctx, r.current(), checked)
	return s.made("Update", asked, checked, r.ID(), computed, err)
}

func (s *step) replace(c Replacement) bool {
	s.t.Helper()
	r := s.r
	asked := r.asked.With(c.Set)
	checked, resp, ok := s.inspect(asked)
	if !ok {
		return false
	}
	if len(resp.Replaces) == 0 {
		s.fatalf("InspectChange asks for no replacement: %s", summary(resp))
	}
	if c.Because != nil && !slices.Equal(resp.Replaces, c.Because) {
		s.errorf("InspectChange asks for a replacement for other reasons than expected: expected %s, found %s",
			list(c.Because), list(resp.Replaces))
	}
	s.refused(checked, resp.Replaces)
	old, state := r.ID(), r.current()
	if c.CreateFirst {
		if !s.create(asked) {
			return false
		}
		if r.ID() == old {
			s.fatalf("Create returns the id of the resource that is to be replaced: %s", old)
		}
		return s.deleteOld(old, state)
	}
	return s.delete() && s.create(asked)
}

func (s *step) delete() bool {
	s.t.Helper()
	r := s.r
	id, state := r.ID(), r.current()
	if !s.deleteOld(id, state) {
		return false
	}
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	r.id, r.state = "", nil
	return true
}

// deleteOld deletes a resource that may have been replaced already.
func (s *step) deleteOld(id lumi.ID, state *structpb.Struct) bool {
	s.t.Helper()
	if !s.called("Delete", s.r.callDelete(s.ctx, id, state)) {
		return false
	}
	got, err := s.r.callGet(s.ctx, id)
	if err != nil {
		s.r.h.died(id, s.r)
	}
	switch {
	case err == nil:
		s.errorf("Get finds %s after it was deleted:\n%s", id, indent(lines(s.r.wrapped(got))))
	case !errors.Is(err, lumi.ErrNotFound):
		s.errorf("Get after Delete must return lumi.ErrNotFound, and failed otherwise: %s", explain(err))
	}
	if err := s.r.callDelete(s.ctx, id, state); err != nil {
		s.errorf("Delete fails if the resource is gone already, which must be no error: %s", explain(err))
	}
	return true
}
