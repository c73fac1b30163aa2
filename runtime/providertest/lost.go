package providertest

import (
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// This file simulates an engine's recovery from lost responses, uncertain outcomes, and partial failures.

// isUncertain reports whether err wraps a *[lumi.UncertainError] but no *[lumi.PartialError].
func isUncertain(err error) bool {
	return !errors.As(err, new(*lumi.PartialError)) && errors.As(err, new(*lumi.UncertainError))
}

// expects reports whether the step expects an uncertain outcome with error err.
func (s *step) expects(err error) bool { return s.want.uncertain && s.want.met(err) }

// retry repeats the last Create and looks up its resource with Find, as far as the provider supports them, and checks that
// they return the same resource.
func (s *step) retry() {
	s.t.Helper()
	r := s.r
	if !r.described.Named {
		s.sameName()
	}
	if r.described.IdempotentCreate {
		s.createAgain()
	}
	if !r.described.CanFind {
		return
	}
	switch id, err := r.callFind(s.ctx, r.created, r.intent(r.attempt)); {
	case err != nil:
		s.errorf("Find must return %s for the token of its Create, but failed: %s", r.ID(), explain(err))
	case id != r.ID():
		s.errorf("Find must return %s for the token of its Create, but returned %s", r.ID(), id)
	}
	s.findsNothing(r.created, r.intent(-1))
}

// sameName checks that Name is deterministic. An engine that stopped before recording the name calls Name again, and another
// name would make it another resource.
func (s *step) sameName() {
	s.t.Helper()
	name, err := s.r.callName(s.ctx, s.r.created)
	if !s.called("Name", err) {
		return
	}
	if u, err := s.r.format(name); err != nil || u != s.r.URN() {
		s.errorf("Name returns a different name for the same properties: expected %q, found %q", s.r.URN().Name(), name)
	}
}

func (s *step) createAgain() {
	s.t.Helper()
	const why = "The provider declares Create idempotent: an engine that did not get the response calls it again with the" +
		" same token"
	r := s.r
	id, computed, err := r.callCreate(s.ctx, r.created)
	if err != nil {
		s.fatalf("Create must return %s again, but failed: %s\n%s", r.ID(), explain(err), why)
	}
	s.called("Create", nil)
	if id != r.ID() {
		r.h.track(r, id, merge(r.created, computed))
		s.errorf("Create must return %s again, but created another resource: %s\n%s", r.ID(), id, why)
		return
	}
	if proto.Equal(r.created, r.wanted) { // not updated since
		s.differs("Create computes different properties than the first time", outOf(r.current(), r.wanted), computed, s.excused)
	}
	s.then("get").get(r.current())
}

// atOnce makes a call. If the call is declared to allow it, atOnce makes it twice at once, like two engines of which one
// takes over from the other, and checks that both succeed, or that one returns a [lumi.RetryError]. It returns the result
// of one that succeeds.
func (s *step) atOnce(
	call string, declared bool, do func() (lumi.ID, *structpb.Struct, error),
) (lumi.ID, *structpb.Struct, error) {
	s.t.Helper()
	if !declared || s.want.what != "" {
		return do()
	}
	s.r.twin = &twin{}
	id, computed, err := do()
	otherID, other, otherErr := do()
	if otherErr == nil && otherID < id {
		id, computed, otherID, other = otherID, other, id, computed
	}
	if err == nil && call == "Create" {
		s.r.h.track(s.r, id, merge(s.r.created, computed))
	}
	const why = "An engine that takes over from a lost one repeats such a call while the first attempt may still be running"
	switch {
	case err != nil || errors.As(otherErr, new(*lumi.RetryError)):
	case otherErr != nil:
		s.fatalf("%s was called twice at once with the same token, and one call failed: %s\n%s", call, explain(otherErr), why)
	case otherID != id:
		s.r.h.track(s.r, otherID, merge(s.r.created, other))
		s.fatalf("%s was called twice at once with the same token, and created two resources: %s and %s\n%s", call, id, otherID, why)
	}
	return id, computed, err
}

// late repeats the change before c, as if its first attempt began only now, and checks that it has no effect.
func (s *step) late(c *change) {
	s.t.Helper()
	r, last := s.r, s.r.last
	if r.last = c; last == nil || !r.described.RepeatableChange {
		return
	}
	sub, call := s.then("the change before it once more"), "Update"
	before, missing := r.callGet(s.ctx, lumi.Import, last.id, nil)
	if last.want != nil {
		_, _, _ = r.callUpdate(s.ctx, last) // It may fail, since no engine would receive its response.
	} else {
		call, _ = "Delete", r.callDelete(s.ctx, last)
	}
	after, err := r.callGet(s.ctx, lumi.Import, last.id, nil)
	sub.called(call, nil)
	const why = "An engine that takes over from a lost one does not wait for its call, which may begin after later calls have ended"
	switch {
	case missing == nil && err == nil:
		sub.differs("a late "+call+" changes "+string(last.id), before, after, nil, why)
	case missing == nil:
		sub.errorf("a late %s deletes %s: %s\n%s", call, last.id, explain(err), why)
	case err == nil:
		r.h.track(r, last.id, last.old)
		sub.errorf("a late %s creates %s again\n%s", call, last.id, why)
	}
}

// findsNothing checks that Find returns [lumi.ErrNotFound] for a token that was not passed to Create.
func (s *step) findsNothing(bag *structpb.Struct, token string) {
	s.t.Helper()
	id, err := s.r.callFind(s.ctx, bag, token)
	switch {
	case err == nil:
		s.errorf("Find returns %s for a token with which nothing was created\nAn engine would mistake that for the result of"+
			" its own Create: compare tokens", id)
	case !errors.Is(err, lumi.ErrNotFound):
		s.errorf("Find must return %s for a token with which nothing was created, but failed with another error: %s",
			s.r.h.term("lumi.ErrNotFound"), explain(err))
	default:
		s.called("Find", nil)
	}
}

// resolve determines the result of a Create with an uncertain outcome by repeating Create or calling Find. It returns the
// name of the call that determined the result. If the step does not expect the outcome, it only records the resource for
// deletion and returns err.
func (s *step) resolve(checked *structpb.Struct, err error) (call string, id lumi.ID, computed *structpb.Struct, _ error) {
	s.t.Helper()
	r, can := s.r, s.r.described
	if !s.expects(err) {
		if can.CanFind {
			if id, failure := r.callFind(s.ctx, checked, r.intent(r.attempt)); failure == nil {
				r.h.track(r, id, checked)
			}
		}
		return "Create", "", nil, err
	}
	if !can.IdempotentCreate && !can.CanFind { // Only the user can resolve it.
		return "Create", "", nil, err
	}
	s.called("Create", err)
	if can.IdempotentCreate {
		s.want = expectation{}
		id, computed, err = r.callCreate(s.ctx, checked)
		return "Create", id, computed, err
	}
	id, failure := r.callFind(s.ctx, checked, r.intent(r.attempt))
	if errors.Is(failure, lumi.ErrNotFound) {
		return "Create", "", nil, err
	}
	s.want = expectation{}
	if failure != nil {
		return "Find", "", nil, failure
	}
	r.h.track(r, id, checked)
	computed, err = r.callGet(s.ctx, lumi.Refresh, id, checked)
	for name := range computed.GetFields() {
		is := func(p lumi.Path) bool { return string(p) == name }
		if chosen := r.declares(lumi.Computed, is) && isNull(checked.GetFields()[name]); !chosen && !r.declares(lumi.Out, is) {
			delete(computed.Fields, name)
		}
	}
	return nameOf(lumi.Refresh), id, computed, err
}

// checkReported checks that the resource is in the state reported by a failed call: the state in a partial failure, or
// otherwise the old state. It reads the resource as for an import, so that the provider cannot copy the reported state.
func (s *step) checkReported(call string, partial bool, err error) {
	s.t.Helper()
	var retry *lumi.RetryError
	if !partial && (s.r.ID() == "" || isUncertain(err) || errors.As(err, &retry)) {
		return
	}
	uncertain := errors.As(err, new(*lumi.UncertainError))
	sub := s.then("get")
	got, err := s.r.callGet(s.ctx, lumi.Import, s.r.ID(), nil)
	if err != nil {
		sub.fatalf("the failed %s reports that %s exists, but Get (import) failed: %s", call, s.r.ID(), explain(err))
	}
	sub.called(nameOf(lumi.Import), nil)
	now := lumi.BagOf(s.r.wrapped(got))
	left := lumi.Compare(lumi.BagOf(s.r.wrapped(s.r.wanted)), now) // remaining changes
	for _, c := range lumi.CompareAs(s.r.described.Properties, lumi.BagOf(s.r.wrapped(s.readBack())), now).Changes() {
		out := s.r.declares(lumi.Out, func(p lumi.Path) bool { return p.Holds(c.Path) })
		if uncertain && (out || !left.Changed(c.Path)) { // It may or may not have been done.
			continue
		}
		if s.excused(c) || call == "Create" && out && (isNull(c.Old) || isUnset(c.Old)) { // Create may have failed before setting it.
			continue
		}
		says, reads := show(c.Old), show(c.New)
		switch {
		case c.Secret && c.Kind == lumi.Added:
			reads = "a secret"
		case c.Secret && c.Kind == lumi.Removed:
			says = "a secret"
		case c.Secret:
			says, reads = "a secret", "another value"
		}
		sub.errorf("the failed %s reports %s as %s, but Get reads %s", call, c.Path, says, reads)
	}
}

// outOf returns the properties in state that are not in wanted: the computed ones.
func outOf(state, wanted *structpb.Struct) *structpb.Struct {
	made := clone(state)
	for name := range wanted.GetFields() {
		delete(made.Fields, name)
	}
	return made
}
