package lumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Upgrade converts all stored properties of a resource, which may have been written under an older IDL, to the current one, for
// engines that keep state in the form of a schema. Renamed properties get their new names, properties that were removed are
// dropped, values of another kind are absent, and declared secrets are wrapped. If the properties do not fit the IDL and the
// author's type is an [Upgrader], it is called, with a state that has neither URN nor id, and no other operation is. The errors
// are those of the other methods.
func (r *Provider) Upgrade(ctx context.Context, stored Bag) (Bag, error) {
	s, err := storedState(ctx, r, "", "", stored, nil)
	if err != nil {
		return Bag{}, err
	}
	upgraded, err := encodeBag(ctx, s.Properties, s.marks, 0, 0)
	return BagFrom(upgraded), err
}

// storedState decodes stored properties, which may have been written under an older IDL. If they do not fit the current
// one, it calls the author's Upgrade.
func storedState(ctx context.Context, r *Provider, u urn.URN, id ID, bag Bag, refs References) (*state, error) {
	fits := true
	s, err := decodeState(ctx, r, u, id, bag, refs, decoding{mode: lenient, fits: &fits})
	if err != nil {
		return nil, err
	}
	s.bag = bag.Object()
	if !fits && r.can.upgrade.IsValid() {
		if err := upgradeState(ctx, r, s, bag); err != nil {
			return nil, upgradeError(err)
		}
	}
	return s, nil
}

// upgradeError converts an error returned by upgradeState. Since an upgrade has no side effects, the result never means
// that the resource was deleted or changed.
func upgradeError(err error) error {
	const problem = "upgrading the stored properties: "
	switch Meaning(err).(type) { //nolint:errorlint // A meaning is not wrapped.
	case nil, Fault, *InvalidError, *OutputError, *RetryError:
		return Invalid(fmt.Errorf(problem+"%w", err))
	}
	return errors.New(problem + wire.TextOf(err))
}

// upgradeState calls the author's Upgrade and updates s with the result. Missing properties stay missing unless Upgrade
// sets them. If stored contains a secret, all properties set by Upgrade become secret, since they may be derived from it.
func upgradeState(ctx context.Context, r *Provider, s *state, stored Bag) error {
	s.done = &sync.Map{}
	complete := s.marks.complete()
	before, _ := encodeBag(ctx, s.Properties, complete, 0, 0) // Some properties may not be encodable yet.
	if err := run(ctx, r, &call{op: upgradeOp, want: s, stored: stored}); err != nil {
		return err
	}
	after, _ := encodeBag(ctx, s.Properties, complete, 0, 0)
	if s.marks == nil {
		s.marks = &mark{}
	}
	s.marks.settle(before, after)
	secret := containsSecret(stored.Object())
	properties := r.properties()
	for _, p := range properties {
		part := s.marks.part(step{name: p.Name, index: fieldStep})
		if _, done := s.done.Load(p.Name); done {
			part.missing = false
		}
		if secret && !same(before.Get(p.Name), after.Get(p.Name)) {
			part.secret = true
		}
	}
	var err error
	s.bag, err = encodeBag(ctx, s.Properties, s.marks, 0, 0)
	return cmp.Or(err, checkDone(s.done, properties))
}
