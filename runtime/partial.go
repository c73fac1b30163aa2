package lumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// resultOf returns the computed properties of a resource after Create or Update. If the operation failed with err, or if
// the properties cannot be encoded, it returns a *[PartialError]. asked holds the properties in the request.
func resultOf(ctx context.Context, r *Provider, c *call, id ID, asked Bag, err error) (Bag, error) {
	ctx = context.WithoutCancel(ctx) // The engine needs the result even if the call was canceled.
	if err == nil {
		if computed, invalid := c.want.encode(ctx, 0, Out|Computed); invalid == nil && c.keepFixed(ctx, r, computed) == nil {
			return Bag{withoutComputed(r.properties(), computed, asked, true)}, nil
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
	var has *structpb.Struct
	var invalid error
	if ok && !own.Properties.IsZero() {
		has = concealIn(ctx, r, c, own.Properties)
	} else {
		has, invalid = remainsOf(ctx, r, c, asked, err == nil)
		if c.old != nil { // Values copied from the old properties may be secret.
			has = c.old.marks.concealFields(has, asked.message)
		}
	}
	if invalid = errors.Join(invalid, c.keepFixed(ctx, r, has)); invalid != nil {
		partial.Err = errors.Join(partial.Err, invalid)
	}
	partial.Properties = Bag{has}
	return Bag{}, partial
}

// fixedIn returns the fixed properties of a stored state. Required ones that it lacks are absent.
func fixedIn(ctx context.Context, r *Provider, s *state) (*structpb.Struct, error) {
	fixed, err := encodeBag(ctx, s.Properties, s.marks, 0, Fixed)
	for _, p := range r.properties() {
		isStored := func(name string) bool { return !signed.IsNull(s.bag.GetFields()[name]) }
		if p.Flags&Fixed != 0 && !slices.ContainsFunc(append(p.Was, p.Name), isStored) {
			delete(fixed.GetFields(), p.Name)
		}
	}
	return fixed, err
}

// keepFixed restores the old values of fixed properties in result, the bag after an Update. The error reports the ones that
// the author changed. Properties that the old state lacks may be set.
func (c *call) keepFixed(ctx context.Context, r *Provider, result *structpb.Struct) error {
	if len(c.fixed.GetFields()) == 0 {
		return nil
	}
	now := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	if result.Fields == nil { // in a *[PartialError] of the author
		result.Fields = map[string]*structpb.Value{}
	}
	for name, v := range c.fixed.Fields {
		now.Fields[name], result.Fields[name] = result.Fields[name], v
	}
	properties := r.properties()
	diff := compare(ctx, c.fixed, now)
	diff.ignoreEqual(properties, c.fixed, now)
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
func concealIn(ctx context.Context, r *Provider, c *call, made Bag) *structpb.Struct {
	fields := maps.Clone(made.message.GetFields())
	if is, err := decodeState(ctx, r, c.want.URN, c.want.ID, made, nil, decoding{mode: lenient}); err == nil {
		encoded, _ := encodeBag(ctx, is.Properties, is.marks, 0, 0)
		for name, v := range encoded.GetFields() {
			if containsSecret(v) {
				fields[name] = v
			}
		}
	}
	bag := c.want.marks.concealFields(&structpb.Struct{Fields: fields}, nil)
	if c.old != nil {
		bag = c.old.marks.concealFields(bag, nil)
	}
	return bag
}

// remainsOf returns a resource's properties after a failure. Out properties have the values set by the author; fixed ones
// that Create did not set are absent. If all is set, the others have the requested values. Otherwise, properties that were
// not reported as done have their old values, or are absent from a new resource unless they require a replacement, so that
// a retry can complete it. The error reports properties that cannot be encoded, and invalid names passed to [State.Done].
func remainsOf(ctx context.Context, r *Provider, c *call, asked Bag, all bool) (*structpb.Struct, error) {
	now, unsent := c.want.encode(ctx, 0, 0)
	goal := &structpb.Struct{}
	if want, err := decodeState(ctx, r, c.want.URN, c.want.ID, asked, nil, decoding{checked: true}); err == nil {
		goal, _ = encodeBag(ctx, want.Properties, want.marks, Out, 0)
	}
	has, unset := map[string]*structpb.Value{}, &structpb.Struct{}
	if c.op == createOp { // An Update that completes the resource may set the rest.
		unset, _ = encodeBag(ctx, r.alloc(), nil, 0, Fixed)
	}
	properties := r.properties()
	for _, p := range properties {
		_, done := c.want.done.Load(p.Name)
		v := goal.Fields[p.Name]
		switch {
		case p.Flags&Out != 0 || p.Flags&Computed != 0 && v == nil || done && !all:
			v = now.Fields[p.Name]
		case all || c.op == createOp && p.Flags&Replaces != 0:
		case c.op == createOp:
			v = nil
		default:
			v = c.old.before.Fields[p.Name]
		}
		if isUnset := p.Flags&Fixed != 0 && same(v, unset.Fields[p.Name]); v != nil && !isUnset {
			has[p.Name] = v
		}
	}
	return &structpb.Struct{Fields: has}, errors.Join(unsent, checkDone(c.want.done, properties))
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
func withoutComputed(properties []Property, bag *structpb.Struct, request Bag, set bool) *structpb.Struct {
	left := bag
	for _, p := range properties {
		if p.Flags&Computed == 0 {
			continue
		}
		if v, _ := signed.Reveal(request.message.GetFields()[p.Name]); signed.IsNull(v) == set {
			continue
		}
		if left == bag {
			left = &structpb.Struct{Fields: maps.Clone(bag.GetFields())}
		}
		for _, name := range append(p.Was, p.Name) {
			delete(left.Fields, name)
		}
	}
	return left
}
