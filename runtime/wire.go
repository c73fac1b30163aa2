package lumi

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// NewSecret wraps a value so that nobody prints it. A value that is wrapped already stays as it is.
func NewSecret(v *structpb.Value) *structpb.Value {
	if signatureOf(v) == wire.Secret {
		return v
	}
	return signed(wire.Secret, "value", v)
}

// NewUnknown returns the value that stands for one which is not known yet.
func NewUnknown() *structpb.Value { return structpb.NewStringValue(wire.Unknown) }

func signed(signature, key string, v *structpb.Value) *structpb.Value {
	return object(map[string]*structpb.Value{wire.Signature: structpb.NewStringValue(signature), key: v})
}

func object(fields map[string]*structpb.Value) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

// signatureOf returns what stands behind the signature key: "" where there is none, "?" where it is not even a string.
func signatureOf(v *structpb.Value) string {
	obj, ok := v.GetKind().(*structpb.Value_StructValue)
	if !ok {
		return ""
	}
	signature, ok := obj.StructValue.GetFields()[wire.Signature]
	if !ok {
		return ""
	}
	if s, ok := signature.GetKind().(*structpb.Value_StringValue); ok && s.StringValue != "" {
		return s.StringValue
	}
	return "?"
}

func isNull(v *structpb.Value) bool {
	switch v.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return true
	}
	return false
}

func isUnknown(v *structpb.Value) bool {
	s, ok := v.GetKind().(*structpb.Value_StringValue)
	return ok && s.StringValue == wire.Unknown
}

// reveal takes away the wrappers of a secret and reports whether there were any. A wrapper without a value is null.
func reveal(v *structpb.Value) (inner *structpb.Value, secret bool) {
	for signatureOf(v) == wire.Secret {
		v, secret = v.GetStructValue().GetFields()["value"], true
	}
	return v, secret
}

// holdsMore reports whether a wrapper of a secret has anything beside the value in it.
func holdsMore(v *structpb.Value) bool {
	for signatureOf(v) == wire.Secret {
		fields := v.GetStructValue().GetFields()
		for key, field := range fields {
			if key != wire.Signature && key != "value" && !isNull(field) {
				return true
			}
		}
		v = fields["value"]
	}
	return false
}

// kindOf names the kind of a value in a message.
func kindOf(v *structpb.Value) string {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return "a boolean"
	case *structpb.Value_NumberValue:
		return "a number"
	case *structpb.Value_StringValue:
		if k.StringValue == wire.Unknown {
			return "a value that is not known yet"
		}
		return "a string"
	case *structpb.Value_ListValue:
		return "a list"
	case *structpb.Value_StructValue:
		switch signatureOf(v) {
		case "":
			return "an object"
		case wire.Asset:
			return "an asset"
		case wire.Archive:
			return "an archive"
		case wire.Secret:
			return "a secret"
		}
		return "an object with a signature that is not known"
	}
	return "null"
}
