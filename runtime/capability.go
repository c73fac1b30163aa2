package lumi

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// AnyResource is the codec of a capability of any type: the URN of a resource.
var AnyResource = Codec[*urn.URN]{codec: &capabilityCodec{}}

// Capability is the codec of a capability of one type: the URN of a resource of that type, which may have a former token.
func Capability(t tokens.Type, was ...tokens.Type) Codec[*urn.URN] {
	return Codec[*urn.URN]{codec: &capabilityCodec{append(was, t)}}
}

type capabilityCodec struct{ types []tokens.Type }

func (c *capabilityCodec) decode(p *Props, v *structpb.Value, into any) bool {
	u, t, ok := p.urn(v)
	if ok && len(c.types) > 0 && !slices.Contains(c.types, t) && p.mode == strict {
		ok = p.otherType(string(c.types[len(c.types)-1]), t)
	}
	return set(into, u, ok)
}

// urn decodes the URN of a resource.
func (p *Props) urn(v *structpb.Value) (urn.URN, tokens.Type, bool) {
	s, ok := v.GetKind().(*structpb.Value_StringValue)
	if !ok {
		p.mismatch("the URN of a resource", v)
		return "", "", false
	}
	u := urn.URN(s.StringValue)
	parts, err := u.Parts()
	if err != nil {
		found := "another string"
		if !p.isHidden() && len(s.StringValue) <= maxShown {
			found = err.Error()
		}
		p.wrong("expected the URN of a resource, found %s", found)
	}
	return u, parts.Type, err == nil
}

// otherType reports a resource of the wrong type. It returns false.
func (p *Props) otherType(expected string, t tokens.Type) bool {
	found := "another type"
	if !p.isHidden() {
		found = "type " + constraint.Shorten(string(t))
	}
	p.wrong("expected a resource of type %s, found one of %s", expected, found)
	return false
}

func (*capabilityCodec) kind() Kind { return KindCapability }

func (*capabilityCodec) encode(p *Props, from any) *structpb.Value {
	u := *from.(*urn.URN)
	if u == "" {
		return nil
	}
	if _, err := u.Parts(); err != nil {
		p.fault("is not the URN of a resource")
		return nil
	}
	return p.make.string(string(u))
}

// maxShown is how long a string may be that a message shows as a whole.
const maxShown = 200

// Reference is what is known of a resource that a capability refers to.
type Reference struct {
	// ID is the resource's id, empty while it does not exist.
	ID ID
	// Properties are all that is known of the resource's properties. Secrets are wrapped. It may be zero.
	Properties Bag
}

// Decode sets the properties of o, the struct that is generated for the resource's type. It ignores what is missing
// or not as it should be. The error is a *[InvalidError].
func (r Reference) Decode(o Object) error {
	_, err := decodeBag(context.Background(), r.Properties.message, o, decoding{mode: lenient})
	return err
}

// String returns only the id, to keep secrets out of logs.
func (r Reference) String() string { return string(r.ID) }

// References are the resources that the capabilities in a request refer to. One that does not exist yet may be missing.
type References map[urn.URN]Reference

// Resolve returns what is known of a resource, and reports whether it exists.
func (r References) Resolve(u urn.URN) (Reference, bool) {
	ref := r[u]
	return ref, ref.ID != ""
}
