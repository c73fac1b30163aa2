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
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Validate checks a program's properties against the IDL, like Check but without calling the author's code. It returns an
// *[InvalidError] if they are invalid. found holds faults that the caller has found in assets and archives, which the
// error includes in property order.
func (r *Provider) Validate(ctx context.Context, properties Bag, found ...Fault) error {
	_, err := decodeBag(ctx, properties.Object(), r.alloc(), decoding{unknown: true, priorFaults: found})
	return err
}

// Check implements [ResourceProvider].
func (r *Provider) Check(ctx context.Context, req *CheckRequest) (*CheckResponse, error) {
	want, err := decodeState(ctx, r, req.URN, "", req.Properties, req.References, decoding{
		unknown: true, warn: logWarning(ctx),
	})
	if err != nil {
		return nil, err
	}
	want.Seed = req.Seed
	old := &state{}
	if !req.Old.IsZero() {
		if old, err = storedState(ctx, r, req.URN, "", req.Old, req.References); err != nil {
			return nil, err
		}
		want.Old = old.Properties
	}
	if err := run(ctx, r, &call{op: checkOp, want: want}); err != nil {
		return nil, err
	}
	bag, err := want.encode(ctx, Out, 0)
	if err != nil {
		return nil, err
	}
	if err := judge(ctx, r, bag); err != nil { // Fail now, not in Create during the deployment.
		return nil, err
	}
	// The author may have derived values from secrets in the old properties.
	return &CheckResponse{Properties: BagFrom(old.marks.concealFields(bag, req.Properties.Object()))}, nil
}

// Name implements [ResourceProvider]. If programs name the resources, it returns the name property.
func (r *Provider) Name(ctx context.Context, req *NameRequest) (*NameResponse, error) {
	want, err := decodeState(ctx, r, req.URN, "", req.Properties, req.References, decoding{unknown: true, checked: true})
	if err != nil {
		return nil, err
	}
	if r.named {
		return givenName(req.Properties.Object())
	}
	c := &call{op: nameOp, want: want}
	if err := run(ctx, r, c); err != nil {
		return nil, err
	}
	if urn.CheckName(c.name) != nil {
		return nil, &OutputError{Faults: []Fault{{Message: "the name is empty or contains control characters"}}}
	}
	return &NameResponse{Name: c.name}, nil
}

// Create implements [ResourceProvider].
func (r *Provider) Create(ctx context.Context, req *CreateRequest) (*CreateResponse, error) {
	want, err := decodeState(ctx, r, req.URN, "", req.Properties, req.References, decoding{checked: true})
	if err != nil {
		return nil, err
	}
	want.Token, want.done = req.Token, &sync.Map{}
	c := &call{op: createOp, want: want}
	err = run(ctx, r, c)
	partial, exists := Meaning(err).(*PartialError) //nolint:errorlint // A meaning is not wrapped.
	if exists {
		c.id = cmp.Or(c.id, partial.ID)
	}
	switch {
	case c.id != "":
		computed, err := resultOf(ctx, r, c, c.id, req.Properties, err)
		if err != nil {
			return nil, err
		}
		return &CreateResponse{ID: c.id, Properties: computed}, nil
	case err == nil:
		err, exists = &OutputError{Faults: []Fault{{Message: "the id is empty"}}}, true
	}
	if exists { // The resource may exist, but its id is unknown.
		err = Uncertain(err)
	}
	return nil, err
}

// Find implements [ResourceProvider].
func (r *Provider) Find(ctx context.Context, req *FindRequest) (*FindResponse, error) {
	if !r.can.find.IsValid() {
		return nil, fmt.Errorf("the provider cannot find resources of type %s: %w", r.token, errors.ErrUnsupported)
	}
	want, err := decodeState(ctx, r, req.URN, "", req.Properties, req.References, decoding{checked: true})
	if err != nil {
		return nil, err
	}
	want.Token = req.Token
	c := &call{op: findOp, want: want}
	if err := run(ctx, r, c); err != nil {
		return nil, err
	}
	if c.id == "" {
		return nil, &OutputError{Faults: []Fault{{Message: "the id is empty; return lumi.ErrNotFound if there is no resource"}}}
	}
	return &FindResponse{ID: c.id}, nil
}

// Get implements [ResourceProvider].
func (r *Provider) Get(ctx context.Context, req *GetRequest) (*GetResponse, error) {
	c := &call{op: getOp, id: req.ID}
	if req.Purpose == Refresh {
		old, err := storedState(ctx, r, req.URN, req.ID, req.Old, req.References)
		if err != nil {
			return nil, err
		}
		c.old = old
	}
	if err := run(ctx, r, c); err != nil {
		return nil, Invalid(fmt.Errorf("%s: %w", req.ID, err))
	}
	now := &state{Properties: c.got}
	if c.old != nil { // Values that were secret stay secret.
		now.marks, now.before = c.old.marks.complete(), c.old.bag
	}
	bag, err := now.encode(ctx, In, 0)
	if err != nil {
		return nil, err
	}
	return &GetResponse{Properties: BagFrom(bag)}, nil
}

// InspectChange implements [ResourceProvider].
func (r *Provider) InspectChange(
	ctx context.Context, req *InspectChangeRequest,
) (*InspectChangeResponse, error) {
	c, err := changeOf(ctx, r, inspectOp, req)
	if err != nil {
		return nil, err
	}
	if r.can.inspect.IsValid() {
		if err := run(ctx, r, c); err != nil {
			return nil, err
		}
	}
	kept := c.diff.kept(c.old.before, req.New.Object())
	if len(c.diff.ignored) > 0 { // Fail now, not in Update during the deployment.
		if err := judge(ctx, r, kept); err != nil {
			return nil, err
		}
	}
	return &InspectChangeResponse{
		Changes: c.diff.Changes(), Replaces: c.diff.Replaces(), DeleteBeforeReplace: c.diff.deleteFirst,
		Properties: BagFrom(kept),
	}, nil
}

// Update implements [ResourceProvider].
func (r *Provider) Update(ctx context.Context, req *UpdateRequest) (*UpdateResponse, error) {
	c, err := changeOf(ctx, r, updateOp, &InspectChangeRequest{
		URN: req.URN, ID: req.ID, Old: req.Old, New: req.New, References: req.References,
	})
	if err != nil {
		return nil, err
	}
	if replaces := c.diff.Replaces(); len(replaces) > 0 {
		return nil, &ReplaceError{Paths: replaces}
	}
	if c.fixed, err = fixedIn(ctx, r, c.old); err != nil {
		return nil, err
	}
	c.want.Token, c.want.done = req.Token, &sync.Map{}
	err = run(ctx, r, c)
	_, partial := Meaning(err).(*PartialError) //nolint:errorlint // A meaning is not wrapped.
	for range c.want.done.Range {
		partial = true
	}
	if err != nil && !partial {
		return nil, err
	}
	computed, err := resultOf(ctx, r, c, req.ID, req.New, err)
	if err != nil {
		return nil, err
	}
	return &UpdateResponse{Properties: computed}, nil
}

// Delete implements [ResourceProvider].
func (r *Provider) Delete(ctx context.Context, req *DeleteRequest) (*DeleteResponse, error) {
	old, err := storedState(ctx, r, req.URN, req.ID, req.Properties, req.References)
	if err != nil {
		return nil, err
	}
	old.Token = req.Token
	err = run(ctx, r, &call{op: deleteOp, old: old})
	if err == nil || Meaning(err) == ErrNotFound { //nolint:errorlint // A meaning is not wrapped.
		return &DeleteResponse{}, nil
	}
	return nil, err
}

// judge returns an *[OutputError] if bag, which the author's code produced, would be rejected by the next operation. It
// returns ctx.Err() if ctx is done.
func judge(ctx context.Context, r *Provider, bag *property.Value) error {
	var invalid *InvalidError
	_, err := decodeBag(ctx, bag, r.alloc(), decoding{unknown: true, checked: true})
	if errors.As(err, &invalid) {
		return &OutputError{Faults: invalid.Faults}
	}
	return err
}

// givenName returns the value of the name property in a valid bag. It returns an *[InvalidError] if the name is unknown,
// secret, empty, or contains control characters.
func givenName(bag *property.Value) (*NameResponse, error) {
	value := bag.Get(nameProperty)
	plain, secret := signed.Reveal(value)
	switch {
	case signed.IsUnknown(plain):
		return nil, nameFault("must be known here, but is not known yet")
	case secret:
		return nil, nameFault("is part of the resource's URN and must not be a secret")
	case plain.Text() == "":
		return nil, nameFault("is empty")
	case urn.CheckName(plain.Text()) != nil:
		return nil, nameFault("contains control characters")
	}
	return &NameResponse{Name: plain.Text()}, nil
}

// withoutFaults returns the properties whose old values satisfy the current IDL, given the error that others caused. If
// the faults are not in properties, such as a violated rule, it returns none.
func withoutFaults(properties []Property, err error) []Property {
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(properties), func(p Property) bool {
		at := Path("").Key(p.Name)
		return slices.ContainsFunc(invalid.Faults, func(f Fault) bool { return at.Holds(f.Path) })
	})
	if len(left) == len(properties) {
		return nil
	}
	return left
}

// changeOf decodes and compares the old and new properties in req. Before the comparison, it encodes them again, so that
// the current IDL determines which properties are compared and which are secret.
func changeOf(ctx context.Context, r *Provider, op operation, req *InspectChangeRequest) (*call, error) {
	old, err := storedState(ctx, r, req.URN, req.ID, req.Old, req.References)
	if err != nil {
		return nil, err
	}
	wanted := decoding{unknown: op == inspectOp, checked: true}
	want, err := decodeState(ctx, r, req.URN, req.ID, req.New, req.References, wanted)
	if err != nil {
		return nil, err
	}
	if old.before, err = encodeBag(ctx, old.Properties, old.marks, Out, 0); err != nil {
		return nil, err
	}
	after, err := encodeBag(ctx, want.Properties, want.marks, Out, 0)
	if err != nil {
		return nil, err
	}
	properties := r.properties()
	before := withoutComputed(properties, old.before, req.New, false)
	var diff *Diff
	for keeping := properties; ; {
		diff = compare(ctx, before, after)
		if diff.ignoreEqual(keeping, before, after); len(diff.ignored) == 0 {
			break
		}
		kept := BagFrom(diff.kept(old.before, req.New.Object()))
		equal, err := decodeState(ctx, r, req.URN, req.ID, kept, req.References, wanted)
		if err == nil {
			want = equal
			break
		}
		keeping = withoutFaults(keeping, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, property := range properties {
		if property.Flags&Replaces != 0 {
			diff.Replace(Path(property.Name))
		}
	}
	// Properties that the provider computes start with the existing resource's values.
	computed := decoding{mode: lenient, only: Out | Computed, marks: want.marks}
	want.marks, err = decodeBag(ctx, withoutComputed(properties, old.bag, req.New, true), want.Properties, computed)
	return &call{op: op, old: old, want: want, diff: diff}, err
}
