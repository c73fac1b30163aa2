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

// Bag is a set of properties in wire form: JSON values by name, where null means absent, and [wire.Signature] marks special
// values. Bags are immutable. The zero Bag represents no bag and reads as an empty one.
type Bag struct{ message *structpb.Struct }

// BagOf returns a Bag for s, which must not be modified afterward. BagOf(nil) is the zero Bag.
func BagOf(s *structpb.Struct) Bag { return Bag{s} }

// Struct returns the properties as a message, or nil for the zero Bag. The message must not be modified.
func (b Bag) Struct() *structpb.Struct { return b.message }

// IsZero reports whether b is the zero Bag.
func (b Bag) IsZero() bool { return b.message == nil }

// Get returns the value of a property as decoded by encoding/json, with secrets unwrapped, or nil if it is absent.
func (b Bag) Get(name string) any {
	v := reveal(b.message.GetFields()[name])
	return v.AsInterface()
}

// reveal returns a deep copy of v without secret wrappers.
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

// Decode decodes a bag written by a program into o, which must be zero. Missing, undeclared, mistyped, and unknown
// properties are faults, and the error is an *[InvalidError] that lists all of them.
func Decode(bag Bag, o Object) error {
	_, err := decodeBag(context.Background(), bag.message, o, decoding{})
	return err
}

// DecodeContext is like [Decode], but for calls served by package serve: it registers the values that o declares secret,
// which are then masked in errors and logs, and logs a warning for each deprecated property.
func DecodeContext(ctx context.Context, bag Bag, o Object) error {
	_, err := decodeBag(ctx, bag.message, o, decoding{warn: logWarning(ctx)})
	return err
}

// Encode returns the properties of o as a bag. If some cannot be encoded, it returns an *[OutputError].
func Encode(o Object) (Bag, error) {
	bag, err := encodeBag(context.Background(), o, nil, 0, 0)
	if err != nil {
		return Bag{}, err
	}
	return Bag{bag}, nil
}

// decoding holds the options of a decode.
type decoding struct {
	mode mode // strict or lenient
	// unknown is set if unknown values are allowed.
	unknown bool
	// checked is set for bags returned by Check.
	checked bool
	// only, if not 0, restricts decoding to properties with any of these flags.
	only Flags
	// marks holds the marks of an earlier decode into the same object, or nil.
	marks *mark
	// fits, if not nil, is set to false by a lenient decode if the bag does not fit the IDL.
	fits *bool
	// priorFaults are faults that the caller has already found in assets and archives.
	priorFaults []Fault
	// warn, if not nil, receives deprecation warnings.
	warn func(Fault)
}

// decodeBag decodes a bag into o and returns marks for secret, unknown, and missing values, which o cannot represent. The
// error is an *[InvalidError] or ctx.Err().
func decodeBag(ctx context.Context, bag *structpb.Struct, o Object, d decoding) (*mark, error) {
	p := d.walk(ctx, bag, o, false)
	if len(p.faults) > 0 {
		p = d.walk(ctx, bag, o, true)
	}
	if err := ctx.Err(); err != nil {
		return nil, err // The walk may have been cut short.
	}
	if len(p.faults) > 0 {
		return nil, &InvalidError{Faults: p.reported()}
	}
	slices.SortStableFunc(p.warnings, func(a, b Fault) int { return cmp.Compare(a.Path, b.Path) }) // maps have no order
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
	p.faults = append(p.faults, p.priorFaults...) // for parts that the object lacks
	return p
}

// encodeBag encodes the properties selected by skip and only. If some cannot be encoded, it returns the others and an
// *[OutputError]. If ctx is done, it returns nil and ctx.Err().
func encodeBag(ctx context.Context, o Object, m *mark, skip, only Flags) (*structpb.Struct, error) {
	p := newProps(ctx, encoding, m)
	p.skip, p.only = skip, only
	return p.encodeBag(o)
}

// encodeBag is like the function encodeBag, with the options set in p.
func (p *Props) encodeBag(o Object) (*structpb.Struct, error) {
	fields := p.encodeObject(o)
	for _, name := range p.invalid {
		delete(fields, name)
	}
	if len(p.faults) > 0 {
		p.inOrder, p.faults = true, nil
		p.encodeObject(o)
	}
	if err := p.ctx.Err(); err != nil {
		return nil, err // The walk may have been cut short.
	}
	bag := &structpb.Struct{Fields: fields}
	if len(p.faults) > 0 {
		return bag, &OutputError{Faults: p.reported()}
	}
	return bag, nil
}
