// Package signed recognizes special values in property bags.
package signed

import (
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Signature returns an object's signature. It returns "" if v has none, and "?" if the signature is empty or not a string.
func Signature(v *property.Value) string {
	signature := v.Get(wire.Signature)
	switch {
	case signature == nil:
		return ""
	case signature.Text() == "":
		return "?"
	}
	return signature.Text()
}

// IsUnknown reports whether a value is unknown.
func IsUnknown(v *property.Value) bool { return v.Text() == wire.Unknown }

// IsSecret reports whether a value is wrapped as a secret.
func IsSecret(v *property.Value) bool { return Signature(v) == wire.Secret }

// IsContent reports whether a value is an asset or an archive.
func IsContent(v *property.Value) bool {
	s := Signature(v)
	return s == wire.Asset || s == wire.Archive
}

// Reveal returns v without its secret wrappers, and reports whether it had any. The value of an empty wrapper is null.
func Reveal(v *property.Value) (inner *property.Value, secret bool) {
	for IsSecret(v) {
		v, secret = v.Get("value"), true
	}
	return v, secret
}

// Secret returns v wrapped as a secret, or v itself if it is already wrapped.
func Secret(v property.Value) property.Value {
	if IsSecret(&v) {
		return v
	}
	return Object(wire.Secret, "value", v)
}

// Object returns an object with a signature and a field.
func Object(signature, key string, v property.Value) property.Value {
	return property.ObjectOf(property.Field{Name: wire.Signature, Value: property.StringOf(signature)}, property.Field{Name: key, Value: v})
}
