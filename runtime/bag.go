package lumi

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Bag is a set of properties in wire form: JSON values by name, where null means absent, and [wire.Signature] marks special
// values. Bags are immutable. The zero Bag represents no bag and reads as an empty one.
type Bag struct{ hidden *hidden }

// hidden keeps package fmt from printing properties, which may be secret, where it cannot call [Bag.String]: for a pointer
// inside another, it prints an address.
type hidden struct{ object *property.Value }

// BagOf returns a Bag with the properties in s. BagOf(nil) is the zero Bag.
func BagOf(s *structpb.Struct) Bag {
	if s == nil {
		return Bag{}
	}
	object := property.FromStruct(s)
	return BagFrom(&object)
}

// Struct returns the properties as a new message, or nil for the zero Bag.
func (b Bag) Struct() *structpb.Struct {
	if b.IsZero() {
		return nil
	}
	return b.Object().Struct()
}

// BagFrom returns a Bag with the properties in object, or the zero Bag for nil. It is for other packages of this module.
func BagFrom(object *property.Value) Bag {
	if object == nil {
		return Bag{}
	}
	return Bag{&hidden{object}}
}

// Object returns the properties, or nil for the zero Bag. It is for other packages of this module.
func (b Bag) Object() *property.Value {
	if b.IsZero() {
		return nil
	}
	return b.hidden.object
}

// IsZero reports whether b is the zero Bag.
func (b Bag) IsZero() bool { return b.hidden == nil }

// Equal reports whether two bags have the same properties. A property that is null and one that is absent are different.
// Package reflect cannot compare bags.
func (b Bag) Equal(other Bag) bool { return property.Equal(b.Object(), other.Object()) }

// Get returns the value of a property as decoded by encoding/json, with secrets unwrapped, or nil if it is absent.
func (b Bag) Get(name string) any {
	return revealed(b.Object().Get(name))
}

// revealed returns v as decoded by encoding/json, without secret wrappers.
func revealed(v *property.Value) any {
	v, _ = signed.Reveal(v)
	switch v.Kind() {
	case property.List:
		list := make([]any, len(v.Elements()))
		for i := range list {
			list[i] = revealed(v.Element(i))
		}
		return list
	case property.Object:
		fields := make(map[string]any, len(v.Fields()))
		for _, f := range v.Fields() {
			fields[f.Name] = revealed(&f.Value)
		}
		return fields
	}
	return v.Plain()
}

// String returns the bag as JSON, with secrets masked.
func (b Bag) String() string {
	object := property.ObjectOf(b.Object().Fields()...)
	return readable.JSON(&object, "")
}

// Decode decodes a bag written by a program into o, which must be zero. Missing, undeclared, mistyped, and unknown
// properties are faults, and the error is an *[InvalidError] that lists all of them.
func Decode(bag Bag, o Object) error {
	_, err := decodeBag(context.Background(), bag.Object(), o, decoding{})
	return err
}

// DecodeContext is like [Decode], but for calls served by package serve: it registers the values that o declares secret,
// which are then masked in errors and logs, and logs a warning for each deprecated property.
func DecodeContext(ctx context.Context, bag Bag, o Object) error {
	_, err := decodeBag(ctx, bag.Object(), o, decoding{warn: logWarning(ctx)})
	return err
}

// Encode returns the properties of o as a bag. If some cannot be encoded, it returns an *[OutputError].
func Encode(o Object) (Bag, error) {
	bag, err := encodeBag(context.Background(), o, nil, 0, 0)
	if err != nil {
		return Bag{}, err
	}
	return BagFrom(bag), nil
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
func decodeBag(ctx context.Context, bag *property.Value, o Object, d decoding) (*mark, error) {
	p := newProps(ctx, d.mode, d.marks)
	defer p.release()
	p.unknown, p.checked, p.only, p.priorFaults = d.unknown, d.checked, d.only, slices.Clone(d.priorFaults)
	p.secrets, p.warns = wire.SecretsOf(ctx), d.warn != nil
	p.decodeObject(bag, o)
	p.faults = append(p.faults, p.priorFaults...) // for parts that the object lacks
	if err := ctx.Err(); err != nil {
		return nil, err // The walk may have been cut short.
	}
	if len(p.faults) > 0 {
		return nil, &InvalidError{Faults: p.reported()}
	}
	slices.SortStableFunc(p.warnings, func(a, b Fault) int { return cmp.Compare(a.Path, b.Path) })
	for _, w := range p.warnings {
		d.warn(w)
	}
	if p.misfit && d.fits != nil {
		*d.fits = false
	}
	return p.marked[0], nil
}

// encodeBag encodes the properties selected by skip and only. If some cannot be encoded, it returns the others and an
// *[OutputError]. If ctx is done, it returns nil and ctx.Err().
func encodeBag(ctx context.Context, o Object, m *mark, skip, only Flags) (*property.Value, error) {
	p := newProps(ctx, encoding, m)
	defer p.release()
	p.skip, p.only = skip, only
	return p.encodeBag(o)
}

// encodeBag is like the function encodeBag, with the options set in p.
func (p *Props) encodeBag(o Object) (*property.Value, error) {
	bag := p.encodeObject(o)
	for _, name := range p.invalid {
		bag = bag.With(name, property.Value{})
	}
	if err := p.ctx.Err(); err != nil {
		return nil, err // The walk may have been cut short.
	}
	if len(p.faults) > 0 {
		return &bag, &OutputError{Faults: p.reported()}
	}
	return &bag, nil
}
