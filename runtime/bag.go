package lumi

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// Decode sets the properties of o, which must be zero, from a bag that a program made: nothing may be missing, left
// over, of another kind than declared, or unknown. The error is a *[InvalidError] with all faults.
func Decode(bag *structpb.Struct, o Object) error {
	return DecodeContext(context.Background(), bag, o)
}

// DecodeContext does what [Decode] does for a call that package serve serves, whose errors and logs then mask what the
// properties of o declare secret.
func DecodeContext(ctx context.Context, bag *structpb.Struct, o Object) error {
	_, err := decodeBag(ctx, bag, o, decoding{})
	return err
}

// Encode makes the bag of an object's properties. The error is a *[OutputError] with all faults.
func Encode(o Object) (*structpb.Struct, error) { return encodeBag(context.Background(), o, nil, 0, 0) }

// decoding is how a bag is decoded.
type decoding struct {
	mode mode // strict or lenient
	// unknown says that values may be unknown.
	unknown bool
	// only, if it is not 0, decodes nothing but properties that have one of the flags.
	only Flags
	// marks has the marks so far, if any.
	marks *mark
	// found are faults of assets and archives that were found before.
	found []Fault
}

// decodeBag returns what the object cannot say. Its error is a *[InvalidError], or that of the context.
func decodeBag(ctx context.Context, bag *structpb.Struct, o Object, d decoding) (*mark, error) {
	p := d.walk(ctx, bag, o, false)
	if len(p.faults) > 0 {
		p = d.walk(ctx, bag, o, true)
	}
	if err := ctx.Err(); err != nil {
		return nil, err // The walk may have ended early.
	}
	if len(p.faults) > 0 {
		return nil, &InvalidError{Faults: p.reported()}
	}
	return p.marked[0], nil
}

func (d decoding) walk(ctx context.Context, bag *structpb.Struct, o Object, inOrder bool) *Props {
	p := newProps(ctx, d.mode, d.marks)
	p.inOrder, p.unknown, p.only, p.found = inOrder, d.unknown, d.only, slices.Clone(d.found)
	p.secrets = wire.SecretsOf(ctx)
	p.decodeObject(bag.GetFields(), o)
	p.faults = append(p.faults, p.found...) // which are about what the object does not have
	return p
}

// encodeBag encodes what neither skip nor only leaves out. Its error is a *[OutputError], or that of the context.
func encodeBag(ctx context.Context, o Object, m *mark, skip, only Flags) (*structpb.Struct, error) {
	p := newProps(ctx, encoding, m)
	p.skip, p.only = skip, only
	fields := p.encodeObject(o)
	if len(p.faults) > 0 {
		p.inOrder, p.faults = true, nil
		p.encodeObject(o)
	}
	if err := ctx.Err(); err != nil {
		return nil, err // The walk may have ended early.
	}
	if len(p.faults) > 0 {
		return nil, &OutputError{Faults: p.reported()}
	}
	return &structpb.Struct{Fields: fields}, nil
}
