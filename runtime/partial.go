package lumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// resultOf returns the computed properties of a resource after Create or Update. If the operation failed with err, or if
// the properties cannot be encoded, it returns a *[PartialError]. asked holds the properties in the request.
func resultOf(ctx context.Context, r *Provider, c *call, id ID, asked Bag, err error) (Bag, error) {
	ctx = context.WithoutCancel(ctx) // The engine needs the result even if the call was canceled.
	if err == nil {
		if computed, invalid := c.want.encode(ctx, 0, Out|Computed); invalid == nil && c.keepFixed(ctx, r, computed) == nil {
			return BagFrom(withoutComputed(r.properties(), computed, asked, true)), nil
		}
	}
	partial := &PartialError{ID: id, Err: err}
	own, ok := Meaning(err).(*PartialError) //nolint:errorlint // A meaning is not wrapped.
	switch {
	case ok && error(own) == err: //nolint:errorlint // If it is wrapped, the text around it is kept.
		partial.Err = outcome(c.op, own.Err)
	case ok && (isUncertain(err) || isLost(err)):
		partial.Err = Uncertain(err)
	}
	var has *property.Value
	var invalid error
	if ok && !own.Properties.IsZero() {
		has = concealIn(ctx, r, c, own.Properties)
	} else {
		has, invalid = remainsOf(ctx, r, c, asked, err == nil)
		if c.old != nil { // Values copied from the old properties may be secret.
			has = c.old.marks.concealFields(has, asked.Object())
		}
	}
	if invalid = errors.Join(invalid, c.keepFixed(ctx, r, has)); invalid != nil {
		partial.Err = errors.Join(partial.Err, invalid)
	}
	partial.Properties = BagFrom(has)
	return Bag{}, partial
}

// fixedIn returns the fixed properties of a stored state. Required ones that it lacks are absent.
func fixedIn(ctx context.Context, r *Provider, s *state) (*property.Value, error) {
	fixed, err := encodeBag(ctx, s.Properties, s.marks, 0, Fixed)
	if err != nil {
		return nil, err
	}
	for _, p := range r.properties() {
		isStored := func(name string) bool { return !s.bag.Get(name).IsNull() }
		if p.Flags&Fixed != 0 && !slices.ContainsFunc(append(slices.Clip(p.Was), p.Name), isStored) {
			*fixed = fixed.With(p.Name, property.Value{})
		}
	}
	return fixed, nil
}

// keepFixed restores the old values of fixed properties in result, the bag after an Update. The error reports the ones that
// the author changed. Properties that the old state lacks may be set.
func (c *call) keepFixed(ctx context.Context, r *Provider, result *property.Value) error {
	if len(c.fixed.Fields()) == 0 {
		return nil
	}
	now := property.ObjectOf()
	for _, f := range c.fixed.Fields() {
		now = now.With(f.Name, result.Get(f.Name).OrAbsent())
		*result = result.With(f.Name, f.Value)
	}
	properties := r.properties()
	diff := compare(ctx, c.fixed, &now)
	diff.ignoreEqual(properties, c.fixed, &now)
	changes := diff.Changes()
	var faults []Fault
	for _, p := range properties {
		at := Path("").Key(p.Name)
		i := slices.IndexFunc(changes, func(c Change) bool { return at.Holds(c.Path) })
		if i < 0 {
			continue
		}
		fault := Fault{changes[i].Path, "is fixed, but Update changed it"}
		if ch := changes[i]; ch.Kind == Modified {
			fault.Message += " from " + ch.show(ch.Old) + " to " + ch.show(ch.New)
		}
		faults = append(faults, fault)
	}
	if faults == nil {
		return nil
	}
	return &OutputError{Faults: faults}
}

// concealIn returns made, a bag created by the author, with secrets wrapped: values declared secret in the IDL, and values
// that were secret in the request.
func concealIn(ctx context.Context, r *Provider, c *call, made Bag) *property.Value {
	bag := *made.Object()
	if is, err := decodeState(ctx, r, c.want.URN, c.want.ID, made, nil, decoding{mode: lenient}); err == nil {
		encoded, _ := encodeBag(ctx, is.Properties, is.marks, 0, 0)
		for _, f := range encoded.Fields() {
			if containsSecret(&f.Value) {
				bag = bag.With(f.Name, f.Value)
			}
		}
	}
	concealed := c.want.marks.concealFields(&bag, nil)
	if c.old != nil {
		concealed = c.old.marks.concealFields(concealed, nil)
	}
	return concealed
}

// remainsOf returns a resource's properties after a failure. Out properties have the values set by the author; fixed ones
// that Create did not set are absent. If all is set, the others have the requested values. Otherwise, properties that were
// not reported as done have their old values, or are absent from a new resource unless they require a replacement, so that
// a retry can complete it. The error reports properties that cannot be encoded, and invalid names passed to [State.Done].
func remainsOf(ctx context.Context, r *Provider, c *call, asked Bag, all bool) (*property.Value, error) {
	now, unsent := c.want.encode(ctx, 0, 0)
	var goal, unset *property.Value
	if want, err := decodeState(ctx, r, c.want.URN, c.want.ID, asked, nil, decoding{checked: true}); err == nil {
		goal, _ = encodeBag(ctx, want.Properties, want.marks, Out, 0)
	}
	if c.op == createOp { // An Update that completes the resource may set the rest.
		unset, _ = encodeBag(ctx, r.alloc(), nil, 0, Fixed)
	}
	properties, has := r.properties(), property.ObjectOf()
	for _, p := range properties {
		_, done := c.want.done.Load(p.Name)
		v := goal.Get(p.Name)
		switch {
		case p.Flags&Out != 0 || p.Flags&Computed != 0 && v == nil || done && !all:
			v = now.Get(p.Name)
		case all || c.op == createOp && p.Flags&Replaces != 0:
		case c.op == createOp:
			v = nil
		default:
			v = c.old.before.Get(p.Name)
		}
		if isUnset := p.Flags&Fixed != 0 && same(v, unset.Get(p.Name)); v != nil && !isUnset {
			has = has.With(p.Name, *v)
		}
	}
	return &has, errors.Join(unsent, checkDone(c.want.done, properties))
}

// checkDone returns an error for each name in done that is not the name of a property, joined.
func checkDone(done *sync.Map, properties []Property) error {
	var names []string
	for _, p := range properties {
		names = append(names, p.Name)
	}
	var errs []error
	for name := range done.Range {
		if name := name.(string); !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("Done(%s): no such property%s", quote(name), didYouMean(name, names)))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// withoutComputed returns a bag without the computed properties that a request sets, or without the ones that it leaves to
// the provider.
func withoutComputed(properties []Property, bag *property.Value, request Bag, set bool) *property.Value {
	left := bag.OrAbsent()
	for _, p := range properties {
		if p.Flags&Computed == 0 {
			continue
		}
		if v, _ := signed.Reveal(request.Object().Get(p.Name)); v.IsNull() == set {
			continue
		}
		for _, name := range append(slices.Clip(p.Was), p.Name) {
			left = left.With(name, property.Value{})
		}
	}
	return &left
}
