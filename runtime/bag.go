package lumi

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Bag holds a resource's properties as they travel: JSON values by name, in which null means absent and [wire.Signature]
// marks special values. A Bag must not be modified. The zero Bag means that there is no bag at all; as a bag, it is empty.
type Bag struct{ message *structpb.Struct }

// BagOf returns a bag over s, which must not be modified afterward. BagOf(nil) is the zero Bag.
func BagOf(s *structpb.Struct) Bag { return Bag{s} }

// Struct returns the bag's properties as a message, which must not be modified. It is nil for the zero Bag.
func (b Bag) Struct() *structpb.Struct { return b.message }

// IsZero reports whether b is the zero Bag.
func (b Bag) IsZero() bool { return b.message == nil }

// Get returns a property as encoding/json would decode it, with secrets unwrapped. It is nil if the property is absent.
func (b Bag) Get(name string) any {
	v := reveal(b.message.GetFields()[name])
	return v.AsInterface()
}

// reveal copies v without the wrappers of secrets.
func reveal(v *structpb.Value) *structpb.Value {
	v, _ = signed.Reveal(v)
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		list := make([]*structpb.Value, len(k.ListValue.GetValues()))
		for i, elem := range k.ListValue.GetValues() {
			list[i] = reveal(elem)
		}
		return structpb.NewListValue(&structpb.ListValue{Values: list})
	case *structpb.Value_StructValue:
		fields := make(map[string]*structpb.Value, len(k.StructValue.GetFields()))
		for name, field := range k.StructValue.GetFields() {
			fields[name] = reveal(field)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	}
	return v
}

// String returns the bag as JSON, with secrets masked.
func (b Bag) String() string { return readable.JSON(structpb.NewStructValue(b.message), "") }

// Decode sets the properties of o, which must be zero, from a bag that a program made: nothing may be missing, left
// over, of another kind than declared, or unknown. The error is a *[InvalidError] with all faults.
func Decode(bag Bag, o Object) error {
	_, err := decodeBag(context.Background(), bag.message, o, decoding{})
	return err
}

// DecodeContext does what [Decode] does for a call that package serve serves, whose errors and logs then mask what the
// properties of o declare secret. What is deprecated gives warnings in the log.
func DecodeContext(ctx context.Context, bag Bag, o Object) error {
	_, err := decodeBag(ctx, bag.message, o, decoding{warn: logWarning(ctx)})
	return err
}

// Encode makes the bag of an object's properties. The error is a *[OutputError] with all faults.
func Encode(o Object) (Bag, error) {
	bag, err := encodeBag(context.Background(), o, nil, 0, 0)
	if err != nil {
		return Bag{}, err
	}
	return Bag{bag}, nil
}

// decoding is how a bag is decoded.
type decoding struct {
	mode mode // strict or lenient
	// unknown says that values may be unknown.
	unknown bool
	// checked says that the bag is what Check returned.
	checked bool
	// only, if it is not 0, decodes nothing but properties that have one of the flags.
	only Flags
	// marks has the marks so far, if any.
	marks *mark
	// fits, if it is not nil, is set to false if the bag does not fit the IDL, where the mode is lenient.
	fits *bool
	// priorFaults are faults of assets and archives that were found before.
	priorFaults []Fault
	// warn, if it is not nil, receives warnings about what is deprecated.
	warn func(Fault)
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
	slices.SortStableFunc(p.warnings, func(a, b Fault) int { return cmp.Compare(a.Path, b.Path) }) // Maps have no order.
	for _, w := range p.warnings {
		d.warn(w)
	}
	if p.misfit && d.fits != nil {
		*d.fits = false
	}
	return p.marked[0], nil
}

func (d decoding) walk(ctx context.Context, bag *structpb.Struct, o Object, inOrder bool) *Props {
	p := newProps(ctx, d.mode, d.marks)
	p.inOrder, p.unknown, p.checked, p.only, p.priorFaults = inOrder, d.unknown, d.checked, d.only, slices.Clone(d.priorFaults)
	p.secrets, p.warns = wire.SecretsOf(ctx), d.warn != nil
	p.decodeObject(bag.GetFields(), o)
	p.faults = append(p.faults, p.priorFaults...) // which are about what the object does not have
	return p
}

// encodeBag encodes what neither skip nor only leaves out. Its error is a *[OutputError], with the bag of all properties
// that can be encoded, or that of the context.
func encodeBag(ctx context.Context, o Object, m *mark, skip, only Flags) (*structpb.Struct, error) {
	p := newProps(ctx, encoding, m)
	p.skip, p.only = skip, only
	fields := p.encodeObject(o)
	for _, name := range p.invalid {
		delete(fields, name)
	}
	if len(p.faults) > 0 {
		p.inOrder, p.faults = true, nil
		p.encodeObject(o)
	}
	if err := ctx.Err(); err != nil {
		return nil, err // The walk may have ended early.
	}
	bag := &structpb.Struct{Fields: fields}
	if len(p.faults) > 0 {
		return bag, &OutputError{Faults: p.reported()}
	}
	return bag, nil
}
