package lumi

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// NewSecret returns v wrapped as a secret, or v itself if it is already wrapped.
func NewSecret(v *structpb.Value) *structpb.Value {
	if signed.IsSecret(v) {
		return v
	}
	return signedObject(wire.Secret, "value", v)
}

// NewUnknown returns the placeholder for an unknown value.
func NewUnknown() *structpb.Value { return structpb.NewStringValue(wire.Unknown) }

func signedObject(signature, key string, v *structpb.Value) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		wire.Signature: structpb.NewStringValue(signature), key: v,
	}})
}

// hasExtraFields reports whether v is a secret wrapper with fields other than the value.
func hasExtraFields(v *structpb.Value) bool {
	for signed.IsSecret(v) {
		fields := v.GetStructValue().GetFields()
		for key, field := range fields {
			if key != wire.Signature && key != "value" && !signed.IsNull(field) {
				return true
			}
		}
		v = fields["value"]
	}
	return false
}

// kindOf describes a value for a message, such as `a string "x"`. If hidden is set, it returns only the kind.
func kindOf(v *structpb.Value, hidden bool) string {
	var kind, value string
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		kind, value = "a boolean", strconv.FormatBool(k.BoolValue)
	case *structpb.Value_NumberValue:
		switch {
		case math.IsNaN(k.NumberValue):
			return "NaN"
		case math.IsInf(k.NumberValue, 0):
			return strings.TrimPrefix(strconv.FormatFloat(k.NumberValue, 'g', -1, 64), "+") + "inity"
		}
		kind, value = "a number", constraint.FormatNumber(k.NumberValue)
	case *structpb.Value_StringValue:
		if k.StringValue == wire.Unknown {
			return "a value that is not known yet"
		}
		kind, value = "a string", quote(k.StringValue)
	case *structpb.Value_ListValue:
		return "a list"
	case *structpb.Value_StructValue:
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
func same(a, b *structpb.Value) bool {
	a, _ = signed.Reveal(a)
	b, _ = signed.Reveal(b)
	switch {
	case signed.IsNull(a) || signed.IsNull(b):
		return signed.IsNull(a) && signed.IsNull(b)
	case !haveParts(a, b):
		return proto.Equal(a, b)
	case a.GetStructValue() != nil:
		return sameFields(a.GetStructValue().GetFields(), b.GetStructValue().GetFields())
	}
	return slices.EqualFunc(a.GetListValue().GetValues(), b.GetListValue().GetValues(), same)
}

// sameFields is like same, for the fields of two objects. Null fields count as absent.
func sameFields(a, b map[string]*structpb.Value) bool {
	for key, v := range a {
		if !same(v, b[key]) {
			return false
		}
	}
	for key, v := range b {
		if _, both := a[key]; !both && !same(nil, v) {
			return false
		}
	}
	return true
}

// haveParts reports whether both values are objects or both are lists.
func haveParts(a, b *structpb.Value) bool {
	return a.GetStructValue() != nil && b.GetStructValue() != nil || a.GetListValue() != nil && b.GetListValue() != nil
}
