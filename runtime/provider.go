package lumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/special"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Provider is a [ResourceProvider] over the author's operations on one type of resource. Generated providers embed it,
// so that an author can override one of its methods.
type Provider struct {
	token tokens.Type
	alloc func() Object
	named bool
	ops   operations
}

// NewNamedProvider serves a type of resource that programs name. Empty makes an object without properties. It panics if
// ops is nil.
func NewNamedProvider[P Object](token tokens.Type, empty func() P, ops Ops[P]) Provider {
	return Provider{token: token, alloc: allocator(empty), named: true, ops: dispatcher(token, ops, nil)}
}

// NewProvider serves a type of resource that programs do not name. Empty makes an object without properties. It panics
// if ops is nil.
func NewProvider[P Object](token tokens.Type, empty func() P, ops NamingOps[P]) Provider {
	return Provider{token: token, alloc: allocator(empty), ops: dispatcher[P](token, ops, ops)}
}

func allocator[P Object](empty func() P) func() Object { return func() Object { return empty() } }

// nameProperty is what a program's name for a resource is called on the wire.
const nameProperty = "name"

// Token is the token of the type that the provider serves.
func (r *Provider) Token() tokens.Type { return r.token }

// Properties lists the properties of the type that the provider serves, as [Describe] does.
func (r *Provider) Properties() []Property {
	if r.alloc == nil {
		return nil // It was not made by a constructor, and serves nothing.
	}
	return Describe(r.alloc())
}

// Validate says what is wrong with the properties that a program wants, as far as the IDL says it. Check does so too,
// before it asks the provider's author. Found are faults of assets and archives that the caller knows of; they are
// reported too, in the order of the properties.
func (r *Provider) Validate(ctx context.Context, properties *structpb.Struct, found ...Fault) error {
	_, err := decodeBag(ctx, properties, r.alloc(), decoding{unknown: true, found: found})
	return err
}

// Check implements [ResourceProvider].
func (r *Provider) Check(ctx context.Context, req *CheckRequest) (*CheckResponse, error) {
	want, err := r.decode(ctx, req.URN, "", req.Properties, req.References, decoding{unknown: true})
	if err != nil {
		return nil, err
	}
	if err := r.run(ctx, &call{op: checkOp, want: want}); err != nil {
		return nil, Invalid(err)
	}
	bag, err := want.encode(ctx, Out, 0)
	if err != nil {
		return nil, err
	}
	return &CheckResponse{Properties: bag}, nil
}

// Name implements [ResourceProvider]. Resources that programs name have the name that the program gave.
func (r *Provider) Name(ctx context.Context, req *NameRequest) (*NameResponse, error) {
	want, err := r.decode(ctx, req.URN, "", req.Properties, req.References, decoding{unknown: true})
	if err != nil {
		return nil, err
	}
	if r.named {
		return givenName(req.Properties)
	}
	c := &call{op: nameOp, want: want}
	if err := r.run(ctx, c); err != nil {
		return nil, Invalid(err)
	}
	if urn.CheckName(c.name) != nil {
		return nil, &OutputError{Faults: []Fault{{Message: "the name is empty or holds control characters"}}}
	}
	return &NameResponse{Name: c.name}, nil
}

// givenName finds the name in properties that were decoded without fault.
func givenName(bag *structpb.Struct) (*NameResponse, error) {
	value := bag.GetFields()[nameProperty]
	plain, secret := special.Reveal(value)
	switch {
	case special.IsUnknown(plain):
		return nil, nameFault("must be known here, and is not known yet")
	case secret:
		return nil, nameFault("becomes a part of the resource's URN, so it cannot be a secret")
	case plain.GetStringValue() == "":
		return nil, nameFault("is empty")
	case urn.CheckName(plain.GetStringValue()) != nil:
		return nil, nameFault("holds control characters")
	}
	return &NameResponse{Name: plain.GetStringValue()}, nil
}

// Create implements [ResourceProvider].
func (r *Provider) Create(ctx context.Context, req *CreateRequest) (*CreateResponse, error) {
	want, err := r.decode(ctx, req.URN, "", req.Properties, req.References, decoding{})
	if err != nil {
		return nil, err
	}
	c := &call{op: createOp, want: want}
	err = r.run(ctx, c)
	if partial, ok := Meaning(err).(*PartialError); ok { //nolint:errorlint // A meaning is not wrapped.
		c.id = cmp.Or(c.id, partial.ID)
	}
	switch {
	case err != nil && c.id != "":
		return nil, partly(ctx, c.id, want, err)
	case err != nil:
		return nil, Invalid(err)
	case c.id == "":
		return nil, &OutputError{Faults: []Fault{{Message: "the id is empty"}}}
	}
	computed, err := want.encode(context.WithoutCancel(ctx), 0, Out) // since the engine must learn what exists
	if err != nil {
		return nil, partly(ctx, c.id, want, nil)
	}
	return &CreateResponse{ID: c.id, Properties: computed}, nil
}

// Get implements [ResourceProvider].
func (r *Provider) Get(ctx context.Context, req *GetRequest) (*GetResponse, error) {
	c := &call{op: getOp, id: req.ID}
	if err := r.run(ctx, c); err != nil {
		return nil, Invalid(fmt.Errorf("%s: %w", req.ID, err))
	}
	bag, err := encodeBag(ctx, c.got, nil, In, 0)
	if err != nil {
		return nil, err
	}
	return &GetResponse{Properties: bag}, nil
}

// InspectChange implements [ResourceProvider].
func (r *Provider) InspectChange(
	ctx context.Context, req *InspectChangeRequest,
) (*InspectChangeResponse, error) {
	old, want, diff, err := r.change(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if err := r.run(ctx, &call{op: inspectOp, old: old, want: want, diff: diff}); err != nil {
		return nil, Invalid(err)
	}
	return &InspectChangeResponse{Changes: diff.Changes(), Replaces: diff.Replaces()}, nil
}

// Update implements [ResourceProvider].
func (r *Provider) Update(ctx context.Context, req *UpdateRequest) (*UpdateResponse, error) {
	old, want, diff, err := r.change(ctx, (*InspectChangeRequest)(req), false)
	if err != nil {
		return nil, err
	}
	if replaces := diff.Replaces(); len(replaces) > 0 {
		return nil, &ReplaceError{Paths: replaces}
	}
	err = r.run(ctx, &call{op: updateOp, old: old, want: want, diff: diff})
	_, partial := Meaning(err).(*PartialError) //nolint:errorlint // A meaning is not wrapped.
	switch {
	case partial || errors.As(err, new(*partialError)):
		return nil, partly(ctx, req.ID, want, err)
	case err != nil:
		return nil, Invalid(err)
	}
	computed, err := want.encode(context.WithoutCancel(ctx), 0, Out) // since the engine must learn what exists
	if err != nil {
		return nil, partly(ctx, req.ID, want, nil)
	}
	return &UpdateResponse{Properties: computed}, nil
}

// Delete implements [ResourceProvider].
func (r *Provider) Delete(ctx context.Context, req *DeleteRequest) (*DeleteResponse, error) {
	old, err := r.decode(ctx, req.URN, req.ID, req.Properties, req.References, decoding{mode: lenient})
	if err != nil {
		return nil, err
	}
	err = r.run(ctx, &call{op: deleteOp, old: old})
	if err == nil || Meaning(err) == ErrNotFound { //nolint:errorlint // A meaning is not wrapped.
		return &DeleteResponse{}, nil
	}
	return nil, Invalid(err)
}

// run calls the author's code, unless nobody waits for it any more.
func (r *Provider) run(ctx context.Context, c *call) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.want != nil {
		c.want.remember(ctx)
	}
	ended := false
	defer func() {
		if !ended || err != nil {
			noteResult(ctx, c)
		}
	}()
	err = r.ops(ctx, c)
	ended = true
	return err
}

// decode makes a state of properties, and notes what these cannot say.
func (r *Provider) decode(
	ctx context.Context, u urn.URN, id ID, bag *structpb.Struct, refs References, d decoding,
) (*state, error) {
	s := &state{URN: u, ID: id, Properties: r.alloc(), Refs: refs}
	var err error
	s.marks, err = decodeBag(ctx, bag, s.Properties, d)
	s.Unknown = s.marks.unknowns(ctx, nil, nil)
	return s, cmp.Or(err, ctx.Err())
}

// change decodes both sides of a change and compares them. Both are encoded again for that, so that what the IDL says
// now decides about what is compared and what is a secret.
func (r *Provider) change(
	ctx context.Context, req *InspectChangeRequest, unknown bool,
) (old, want *state, diff *Diff, err error) {
	if old, err = r.decode(ctx, req.URN, req.ID, req.Old, req.References, decoding{mode: lenient}); err != nil {
		return nil, nil, nil, err
	}
	if want, err = r.decode(ctx, req.URN, req.ID, req.New, req.References, decoding{unknown: unknown}); err != nil {
		return nil, nil, nil, err
	}
	if diff, err = compareStates(ctx, old, want); err != nil {
		return nil, nil, nil, err
	}
	// The properties that the provider computed are those of the existing resource.
	computed := decoding{mode: lenient, only: Out, marks: want.marks}
	want.marks, err = decodeBag(ctx, req.Old, want.Properties, computed)
	return old, want, diff, err
}

func compareStates(ctx context.Context, old, want *state) (*Diff, error) {
	oldBag, err := encodeBag(ctx, old.Properties, old.marks, Out, 0)
	if err != nil {
		return nil, err
	}
	wantBag, err := encodeBag(ctx, want.Properties, want.marks, Out, 0)
	if err != nil {
		return nil, err
	}
	diff := compare(ctx, oldBag, wantBag)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, property := range Describe(want.Properties) {
		if property.Flags&Replaces != 0 {
			diff.Replace(Path(property.Name))
		}
	}
	return diff, nil
}

// partly reports what exists after a failure: all properties, or else, if what was computed cannot be encoded, those
// that were asked for. The failure may be just that; then err is nil.
func partly(ctx context.Context, id ID, s *state, err error) error {
	ctx = context.WithoutCancel(ctx) // since the engine must learn what exists
	bag, encodeErr := s.encode(ctx, 0, 0)
	if encodeErr != nil {
		bag, _ = s.encode(ctx, Out, 0)
		err = errors.Join(err, encodeErr)
	}
	if m, ok := Meaning(err).(*PartialError); ok { //nolint:errorlint // A meaning is not wrapped.
		bag, err = cmp.Or(m.Properties, bag), m.Err
	}
	return &PartialError{ID: id, Properties: bag, Err: Invalid(err)}
}

func nameFault(message string) error {
	return &InvalidError{Faults: []Fault{{Path: nameProperty, Message: message}}}
}
