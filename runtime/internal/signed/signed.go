// Package signed distinguishes special values in property bags from plain ones.
package signed

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// Signature returns an object's signature: "" if it has none, "?" if it is empty or not a string.
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

// IsNull reports whether a value is null or absent, which are equivalent.
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

// Reveal unwraps a secret and reports whether it was one. A wrapper without a value is null.
func Reveal(v *structpb.Value) (inner *structpb.Value, secret bool) {
	for IsSecret(v) {
		v, secret = v.GetStructValue().GetFields()["value"], true
	}
	return v, secret
}
