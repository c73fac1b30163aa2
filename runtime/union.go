package lumi

import (
	"reflect"
	"slices"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Union returns the codec of a generated union of structs, which is encoded as an object with exactly one property. P is a
// pointer to the union.
func Union[P Object]() Codec[P] { return Codec[P]{codec: unionOf[P]{}} }

type unionOf[P Object] struct{ unionCodec }

func (unionOf[P]) typ() reflect.Type { return reflect.TypeFor[P]() }

type unionCodec struct{ structCodec }

func (c unionCodec) decode(p *Props, v *property.Value, into any) bool {
	return c.structCodec.decode(p, v, into) && !p.came().missing
}

func (unionCodec) encode(p *Props, from any) property.Value {
	faults := len(p.faults)
	v := p.encodeObject(from.(Object))
	if len(p.faults) == faults && !p.isOne(len(v.Fields())) {
		return property.Value{}
	}
	return v
}

// isOne reports whether count, the number of variants set in the union being encoded, is 1. If not, it reports a fault,
// except for a computed union with no variant, which is absent.
func (p *Props) isOne(count int) bool {
	if count != 1 && (count > 0 || p.flags&Out == 0) {
		p.fault("exactly one variant must be set, not %d", count)
	}
	return count == 1
}

// OneOf declares that the named properties are the variants of a union, exactly one of which must be set. A stored union
// counts as absent if it violates this or has an undeclared variant.
func (p *Props) OneOf(names ...string) {
	if p.mode == strict && p.only == 0 {
		p.exactlyOneOf(names)
	}
	if p.mode != lenient {
		return
	}
	count := 0
	fields := p.object.Fields()
	for i := range fields {
		if v, _ := signed.Reveal(&fields[i].Value); !v.IsNull() {
			count++
		}
	}
	wrong := count != 1 || p.seen != len(fields)
	for _, part := range p.came().parts {
		wrong = wrong || part.missing
	}
	if wrong {
		p.leaveOut()
	}
}

// Variant is one of the resource types that a [CapabilityUnion] may refer to.
type Variant struct {
	Type tokens.Type
	// URN points to the field for a resource of this type. The field is empty if the resource has another type.
	URN *urn.URN
	// Was lists former tokens of the type, which URNs may still contain.
	Was []tokens.Type
}

// Variants is implemented by pointers to generated unions of resource types.
type Variants interface {
	// Lumi returns the variants in declaration order.
	Lumi() []Variant
}

// CapabilityUnion returns the codec of a reference to a resource of one of several types. A reference is encoded as the
// resource's URN. P is a pointer to the generated union.
func CapabilityUnion[P Variants]() Codec[P] { return Codec[P]{codec: capabilityUnionCodec{}} }

type capabilityUnionCodec struct{}

func (capabilityUnionCodec) kind() Kind { return KindCapability }

func (capabilityUnionCodec) decode(p *Props, v *property.Value, into any) bool {
	variants := into.(Variants).Lumi()
	types := make([]string, len(variants))
	for i, variant := range variants {
		types[i] = string(variant.Type)
	}
	expected := "a resource of type " + alternatives(types)
	u, t, ok := p.urn(v, expected)
	if !ok {
		return false
	}
	found := false
	for _, variant := range variants {
		*variant.URN = ""
		if variant.Type == t || slices.Contains(variant.Was, t) {
			*variant.URN, found = u, true
		}
	}
	return found || p.otherType(expected, u)
}

func (capabilityUnionCodec) encode(p *Props, from any) property.Value {
	var one Variant
	count := 0
	for _, variant := range from.(Variants).Lumi() {
		if *variant.URN != "" {
			one = variant
			count++
		}
	}
	if !p.isOne(count) {
		return property.Value{}
	}
	if parts, err := one.URN.Parts(); err != nil || parts.Type != one.Type && !slices.Contains(one.Was, parts.Type) {
		p.fault("is not the URN of a resource of type %s", one.Type)
		return property.Value{}
	}
	return property.StringOf(string(*one.URN))
}
