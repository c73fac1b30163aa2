package providertest

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// This file implements the steps. Functions that return a bool return false if a call fails as expected.

func (s *step) check(bag *structpb.Struct) (*structpb.Struct, bool) {
	s.t.Helper()
	checked, err := s.r.callCheck(s.ctx, bag)
	if !s.called("Check", err) {
		return nil, false
	}
	s.kept(bag, checked)
	s.stillUnknown(bag, checked)
	s.wrapsSecrets("Check", checked)
	s.keepsSecrets("Check", bag, checked)
	if !proto.Equal(bag, checked) { // Otherwise, this call is the same as the next.
		same, err := s.r.callCheck(s.ctx, bag)
		if s.then("check again").called("Check", err) {
			s.differs("Check returns different properties for the same input", checked, same, nil)
		}
	}
	again, err := s.r.callCheck(s.ctx, checked)
	if !s.then("check again").called("Check", err) {
		return nil, false
	}
	s.differs("Check is not idempotent: it changes properties it returned itself", checked, again, nil)
	return checked, true
}

func (s *step) create(asked Properties) bool {
	s.t.Helper()
	r := s.r
	checked, ok := s.check(s.encode(asked))
	if !ok {
		return false
	}
	name, err := r.callName(s.ctx, checked)
	if !s.called("Name", err) {
		return false
	}
	s.rename(name)
	if !r.again || !proto.Equal(r.created, checked) {
		r.attempt++
		if r.described.CanFind {
			s.findsNothing(checked, r.intent(r.attempt))
		}
	}
	r.again, r.created = false, checked
	call := "Create"
	id, computed, err := s.atOnce(call, s.atFirst && r.described.IdempotentCreate, func() (lumi.ID, *structpb.Struct, error) {
		return r.callCreate(s.ctx, checked)
	})
	if isUncertain(err) {
		call, id, computed, err = s.resolve(checked, err)
	}
	r.again = isUncertain(err) || errors.As(err, new(*lumi.RetryError))
	return s.made(call, asked, checked, id, computed, err)
}

// made checks and records the result of a Create or Update, named by call. It returns false if the call failed as expected.
func (s *step) made(
	call string, asked Properties, checked *structpb.Struct, id lumi.ID, computed *structpb.Struct, err error,
) bool {
	s.t.Helper()
	r := s.r
	var partial *lumi.PartialError
	isPartial := errors.As(err, &partial)
	if isPartial {
		r.asked, r.wanted = asked, checked
		r.is(partial.ID, clone(partial.Properties.Struct()))
		s.keepsFixed(call, partial.Properties.Struct())
	}
	if !s.called(call, err) {
		s.checkReported(call, isPartial, err)
		return false
	}
	r.asked, r.wanted = asked, checked
	computed = s.answer(call, computed)
	r.is(id, merge(checked, computed))
	s.computed(call, computed)
	s.keepsFixed(call, computed)
	return true
}

// rename changes the resource's name to the one chosen by the provider.
func (s *step) rename(name string) {
	s.t.Helper()
	r := s.r
	u, err := r.format(name)
	if err != nil {
		s.fatalf("Name returns an invalid name: %v", err)
	}
	r.h.mu.Lock()
	other := r.h.resources[u]
	r.h.mu.Unlock()
	if other != nil && other != r {
		s.fatalf("Name returns %q, which is already the name of %s", name, other)
	}
	r.h.rename(r, u)
}

// settled checks that the resource can be read and needs no change. After an update, it refreshes the resource with the
// old properties, as an engine does if the response to Update was lost.
func (s *step) settled() {
	s.t.Helper()
	if s.old == nil {
		s.then("get").get(s.r.current())
		s.then("no change").noChange()
		return
	}
	s.then("get with the old properties").get(s.old)
	s.then("no change").noChange()
	s.then("no drift").noDrift()
}

// noDrift checks that a refresh with the current properties shows no drift.
func (s *step) noDrift() {
	s.t.Helper()
	got, err := s.r.callGet(s.ctx, lumi.Refresh, s.r.ID(), s.r.current())
	if s.called(nameOf(lumi.Refresh), err) {
		s.read(nameOf(lumi.Refresh), got)
	}
}

// nameOf returns the name of a Get call with the given purpose in reports.
func nameOf(purpose lumi.Purpose) string { return "Get (" + string(purpose) + ")" }

// get reads the resource for an import and for a refresh, and checks the results. old is the state passed to the refresh.
// It returns the result of the refresh, or false if a call failed as expected.
func (s *step) get(old *structpb.Struct) (*structpb.Struct, bool) {
	s.t.Helper()
	var answers []*structpb.Struct
	for _, purpose := range []lumi.Purpose{lumi.Import, lumi.Refresh} {
		got, err := s.r.callGet(s.ctx, purpose, s.r.ID(), old)
		if !s.called(nameOf(purpose), err) {
			return nil, false
		}
		answers = append(answers, got)
	}
	imported, refreshed := answers[0], answers[1]
	s.keepsSecrets(nameOf(lumi.Refresh), old, refreshed)
	if proto.Equal(s.r.wrapped(imported), s.r.wrapped(refreshed)) {
		s.read("Get (import and refresh)", refreshed)
		return refreshed, true
	}
	s.read(nameOf(lumi.Import), imported)
	s.read(nameOf(lumi.Refresh), refreshed)
	return refreshed, true
}

// read checks that Get returned the requested and computed properties.
func (s *step) read(call string, got *structpb.Struct) {
	s.t.Helper()
	s.answer(call, got)
	want := s.readBack()
	s.differs(call+" returns unexpected properties", want, got, s.excused, s.hints(want, got)...)
}

func (s *step) noChange() {
	s.t.Helper()
	resp, err := s.r.callInspect(s.ctx, s.r.current(), s.r.wanted)
	if s.called("InspectChange", err) && len(resp.Changes)+len(resp.Replaces) > 0 {
		s.errorf("InspectChange reports changes, but nothing changed:\n%s", indent(summary(resp)))
	}
}

// ignored checks that the provider ignores a change of some properties.
func (s *step) ignored(set Properties) {
	s.t.Helper()
	want, resp, _ := s.inspect(s.r.asked.With(set))
	if len(resp.Changes)+len(resp.Replaces) > 0 {
		s.errorf("InspectChange reports changes, but nothing changed:\n%s", indent(summary(resp)))
		return
	}
	s.differs("InspectChange must return the old values of ignored changes", s.r.wanted, want, nil)
}

// inspect calls Check with new properties, and then InspectChange. It returns the properties to update to and the response
// of InspectChange, or false if a call failed as expected.
func (s *step) inspect(asked Properties) (*structpb.Struct, *lumi.InspectChangeResponse, bool) {
	s.t.Helper()
	checked, ok := s.check(s.encode(asked))
	if !ok {
		return nil, nil, false
	}
	resp, err := s.r.callInspect(s.ctx, s.r.current(), checked)
	if !s.called("InspectChange", err) {
		return nil, resp, false
	}
	return resp.Properties.Struct(), resp, true
}

func (s *step) update(c Change) bool {
	s.t.Helper()
	asked := s.r.asked.With(c.Set)
	want, resp, ok := s.inspect(asked)
	if !ok {
		return false
	}
	if len(resp.Replaces) > 0 {
		s.fatalf("InspectChange requires a replacement because of %s: use Replace instead", list(resp.Replaces))
	}
	if len(resp.Changes) == 0 {
		s.fatalf("InspectChange reports no changes, so an engine would not update the resource")
	}
	s.changes(c.Changes, resp)
	return s.apply(asked, want)
}

// apply calls Update, and then repeats the call as after a lost response.
func (s *step) apply(asked Properties, want *structpb.Struct) bool {
	s.t.Helper()
	r := s.r
	s.old = r.current()
	c := r.newChange(r.ID(), s.old, want)
	_, computed, err := s.atOnce("Update", r.described.RepeatableChange, func() (lumi.ID, *structpb.Struct, error) {
		return r.callUpdate(s.ctx, c)
	})
	if isUncertain(err) && s.expects(err) {
		s.called("Update", err)
		s.want = expectation{}
		if _, err := r.callGet(s.ctx, lumi.Refresh, r.ID(), s.old); !s.called(nameOf(lumi.Refresh), err) {
			return false
		}
		_, computed, err = r.callUpdate(s.ctx, c)
	}
	if !s.made("Update", asked, want, r.ID(), computed, err) {
		return false
	}
	if s.want.what != "" {
		return true
	}
	sub := s.then("update again after a lost response")
	_, again, err := r.callUpdate(s.ctx, c)
	if err != nil {
		sub.fatalf("Update must be idempotent, but the second call failed: %s\nAn engine that did not get the response calls"+
			" Update again with the same properties", explain(err))
	}
	sub.made("Update", asked, want, r.ID(), again, nil) // An engine would receive only this response.
	s.late(c)
	return true
}

func (s *step) replace(c Replacement) bool {
	s.t.Helper()
	r := s.r
	asked := r.asked.With(c.Set)
	want, resp, ok := s.inspect(asked)
	if !ok {
		return false
	}
	if len(resp.Replaces) == 0 {
		s.fatalf("InspectChange does not require a replacement: %s", summary(resp))
	}
	if c.Because != nil && !slices.Equal(resp.Replaces, c.Because) {
		s.errorf("InspectChange requires a replacement because of the wrong properties: expected %s, found %s",
			list(c.Because), list(resp.Replaces))
	}
	s.refused(want, resp.Replaces)
	if c.DeleteFirst || resp.DeleteBeforeReplace {
		ok := s.delete() && s.create(asked)
		if ok {
			s.late(r.last)
		}
		return ok
	}
	id, state, wanted := r.ID(), r.current(), r.wanted
	r.next()
	if !s.create(asked) {
		if r.ID() == id { // unchanged
			r.wanted, r.incarnation = wanted, r.incarnation-1
		}
		return false
	}
	if r.ID() == id {
		s.fatalf("Create returns the id of the resource being replaced: %s\nIf both cannot exist at the same time,"+
			" call DeleteBeforeReplace in InspectChange, or set DeleteFirst in the Replacement", id)
	}
	return s.deleteOld(id, state)
}

func (s *step) upgrade(u Upgrade) {
	s.t.Helper()
	r := s.r
	now, wanted := r.current(), r.wanted
	stored := s.stored(now, u.Stored)
	if _, ok := s.then("get").get(stored); !ok {
		return
	}
	r.store(stored, s.stored(wanted, u.Stored))
	asked := r.asked.With(u.Set)
	want, resp, _ := s.inspect(asked)
	expected := u.Changes
	if expected == nil && u.Set == nil {
		expected = []string{}
	}
	s.changes(expected, resp)
	switch {
	case len(resp.Replaces) > 0:
		s.fatalf("InspectChange requires a replacement because of %s", list(resp.Replaces))
	case len(resp.Changes) == 0:
		r.store(now, wanted)
	default:
		s.apply(asked, want)
		s.asExpected()
		s.settled()
	}
}

// stored returns bag as stored by an older version of the provider, given the properties that differ. A nil property is
// removed.
func (s *step) stored(bag *structpb.Struct, differ Properties) *structpb.Struct {
	s.t.Helper()
	old := merge(bag, s.encode(differ))
	for name, value := range differ {
		if value == nil {
			delete(old.Fields, name)
		}
	}
	return s.r.wrapped(old)
}

func (s *step) delete() bool {
	s.t.Helper()
	r := s.r
	id, state := r.ID(), r.current()
	if !s.deleteOld(id, state) {
		return false
	}
	r.next()
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	r.id, r.state = "", nil
	return true
}

// deleteOld deletes the resource with the given id, which may already have been replaced, and checks that it no longer
// exists. It returns false if Delete failed as expected.
func (s *step) deleteOld(id lumi.ID, state *structpb.Struct) bool {
	s.t.Helper()
	c := s.r.newChange(id, state, nil)
	_, _, err := s.atOnce("Delete", s.r.described.RepeatableChange, func() (lumi.ID, *structpb.Struct, error) {
		return id, nil, s.r.callDelete(s.ctx, c)
	})
	if isUncertain(err) && s.expects(err) {
		s.called("Delete", err)
		s.want = expectation{}
		if _, err = s.r.callGet(s.ctx, lumi.Refresh, id, state); err == nil {
			err = s.r.callDelete(s.ctx, c)
		} else if errors.Is(err, lumi.ErrNotFound) {
			err = nil
		}
	}
	if !s.called("Delete", err) {
		return false
	}
	for _, purpose := range []lumi.Purpose{lumi.Import, lumi.Refresh} {
		got, err := s.r.callGet(s.ctx, purpose, id, state)
		if err == nil {
			s.errorf("%s still finds %s after Delete:\n%s", nameOf(purpose), id, indent(lines(s.r.wrapped(got))))
			break
		}
		s.r.h.untrack(id, s.r)
		if !errors.Is(err, lumi.ErrNotFound) {
			s.errorf("%s after Delete must return %s, but returned: %s", nameOf(purpose), s.r.h.term("lumi.ErrNotFound"),
				explain(err))
			break
		}
	}
	if err := s.r.callDelete(s.ctx, c); err != nil {
		s.errorf("Delete must succeed if the resource is already gone, but failed: %s", explain(err))
	}
	s.late(c)
	return true
}
