// Package signed recognizes special values in property bags.
package signed

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// Signature returns an object's signature. It returns "" if v has none, and "?" if the signature is empty or not a string.
func Signature(v *structpb.Value) string {
	signature, ok := v.GetStructValue().GetFields()[wire.Signature]
	switch s := signature.GetStringValue(); {
	case !ok:
		return ""
	case s == "":
		return "?"
	default:
		return s
	}
}

// IsNull reports whether a value is null or absent. The two are equivalent.
func IsNull(v *structpb.Value) bool {
	switch v.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return true
	}
	return false
}

// IsUnknown reports whether a value is unknown.
func IsUnknown(v *structpb.Value) bool { return v.GetStringValue() == wire.Unknown }

// IsSecret reports whether a value is wrapped as a secret.
func IsSecret(v *structpb.Value) bool { return Signature(v) == wire.Secret }

// IsContent reports whether a value is an asset or an archive.
func IsContent(v *structpb.Value) bool {
	s := Signature(v)
	return s == wire.Asset || s == wire.Archive
}

// Reveal returns v without its secret wrappers, and reports whether it had any. The value of an empty wrapper is null.
func Reveal(v *structpb.Value) (inner *structpb.Value, secret bool) {
	for IsSecret(v) {
		v, secret = v.GetStructValue().GetFields()["value"], true
	}
	return v, secret
}
