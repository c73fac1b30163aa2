package lumi

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// AnyResource is the codec of a reference to a resource of any type, encoded as its URN.
var AnyResource = Codec[*urn.URN]{codec: &capabilityCodec{}}

// Capability returns the codec of a reference to a resource of one type, encoded as its URN. was lists former tokens of
// the type, which URNs may still contain.
func Capability(t tokens.Type, was ...tokens.Type) Codec[*urn.URN] {
	return Codec[*urn.URN]{codec: &capabilityCodec{append(was, t)}}
}

type capabilityCodec struct{ types []tokens.Type }

func (c *capabilityCodec) decode(p *Props, v *property.Value, into any) bool {
	expected := "a resource"
	if len(c.types) > 0 {
		expected += " of type " + string(c.types[len(c.types)-1])
	}
	u, t, ok := p.urn(v, expected)
	if ok && len(c.types) > 0 && !slices.Contains(c.types, t) && p.mode == strict {
		ok = p.otherType(expected, u)
	}
	return set(into, u, ok)
}

// urn decodes a URN and returns it with its type. If v is not a URN, it reports a fault and returns false.
func (p *Props) urn(v *property.Value, expected string) (urn.URN, tokens.Type, bool) {
	u := urn.URN(v.Text())
	parts, err := u.Parts()
	if err != nil {
		p.mismatch(expected, v)
	}
	return u, parts.Type, err == nil
}

// otherType reports a fault for a resource of the wrong type and returns false.
func (p *Props) otherType(expected string, u urn.URN) bool {
	found := "a resource"
	if parts, err := u.Parts(); err == nil && !p.isHidden() {
		found += " " + constraint.Shorten(string(parts.Type)) + " " + quote(parts.Name)
	}
	p.wrong("expected %s, found %s", expected, found)
	return false
}

func (*capabilityCodec) kind() Kind { return KindCapability }

func (c *capabilityCodec) encode(p *Props, from any) property.Value {
	u := *from.(*urn.URN)
	if u == "" {
		return property.Value{}
	}
	parts, err := u.Parts()
	if err != nil {
		p.fault("is not the URN of a resource")
		return property.Value{}
	}
	if _, isByID := u.ID(); isByID && len(c.types) > 0 && !slices.Contains(c.types, parts.Type) {
		p.fault("is not the URN of a resource of type %s", c.types[len(c.types)-1])
		return property.Value{}
	}
	return property.StringOf(string(u))
}

// Decode decodes the resource's properties into o, the generated struct of its type. Missing and mistyped properties stay
// zero. Decode returns an *[InvalidError] if a value is unknown.
func (r Reference) Decode(o Object) error {
	_, err := decodeBag(context.Background(), r.Properties.Object(), o, decoding{mode: lenient})
	return err
}

// String returns the id. It omits the properties to keep secrets out of logs.
func (r Reference) String() string { return string(r.ID) }

// Resolve returns the reference to the resource with URN u and reports whether the resource exists. For a URN from
// [urn.ByID], only the id is known.
func (r References) Resolve(u urn.URN) (Reference, bool) {
	ref := r[u]
	if id, ok := u.ID(); ok {
		ref.ID = ID(id)
	}
	return ref, ref.ID != ""
}
