package lumi

import (
	"slices"
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// NewSecret returns v wrapped as a secret, or v itself if it is already wrapped.
func NewSecret(v *structpb.Value) *structpb.Value {
	if v.GetStructValue().GetFields()[wire.Signature].GetStringValue() == wire.Secret {
		return v
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		wire.Signature: structpb.NewStringValue(wire.Secret), "value": v,
	}})
}

// SecretOf is [NewSecret] for other packages of this module, which need no messages.
func SecretOf(v property.Value) property.Value { return signed.Secret(v) }

// NewUnknown returns the placeholder for an unknown value.
func NewUnknown() *structpb.Value { return structpb.NewStringValue(wire.Unknown) }

// hasExtraFields reports whether v is a secret wrapper with fields other than the value.
func hasExtraFields(v *property.Value) bool {
	for signed.IsSecret(v) {
		for _, f := range v.Fields() {
			if f.Name != wire.Signature && f.Name != "value" && !f.Value.IsNull() {
				return true
			}
		}
		v = v.Get("value")
	}
	return false
}

// kindOf describes a value for a message, such as `a string "x"`. If hidden is set, it returns only the kind.
func kindOf(v *property.Value, hidden bool) string {
	var kind, value string
	switch v.Kind() {
	case property.Bool:
		kind, value = "a boolean", strconv.FormatBool(v.Bool())
	case property.Number:
		switch n := v.Plain().(type) {
		case string: // not finite
			return n
		case float64:
			kind, value = "a number", constraint.FormatNumber(n)
		}
	case property.String:
		if signed.IsUnknown(v) {
			return "a value that is not known yet"
		}
		kind, value = "a string", quote(v.Text())
	case property.List:
		return "a list"
	case property.Object:
		switch signed.Signature(v) {
		case "":
			return "an object"
		case wire.Asset:
			return "an asset"
		case wire.Archive:
			return "an archive"
		case wire.Secret:
			return "a secret"
		}
		return "an object with an unknown signature"
	default:
		return "null"
	}
	if hidden {
		return kind
	}
	return kind + " " + value
}

// quote shortens and quotes s.
func quote(s string) string { return constraint.Quote(constraint.Shorten(s)) }

// same reports whether a and b are equal, ignoring secret wrappers.
func same(a, b *property.Value) bool {
	a, _ = signed.Reveal(a)
	b, _ = signed.Reveal(b)
	switch {
	case a.IsNull() || b.IsNull():
		return a.IsNull() && b.IsNull()
	case !haveParts(a, b):
		return property.Equal(a, b)
	case a.Kind() == property.Object: // Null fields count as absent.
		for p := range property.Pairs(a, b) {
			if !same(p.A, p.B) {
				return false
			}
		}
		return true
	}
	return slices.EqualFunc(a.Elements(), b.Elements(), func(a, b property.Field) bool { return same(&a.Value, &b.Value) })
}

// haveParts reports whether both values are objects or both are lists.
func haveParts(a, b *property.Value) bool {
	return a.Kind() == b.Kind() && a.Kind() >= property.List
}
