package content

import (
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// stringOf returns the string in v. It returns false if v is unknown or not a string.
func stringOf(v *property.Value) (string, bool) {
	return v.Text(), v.Kind() == property.String && !signed.IsUnknown(v)
}

// rewrap returns v in copies of the secret wrappers of wrapped, if any.
func rewrap(wrapped, v *property.Value) *property.Value {
	if signed.IsSecret(wrapped) {
		return with(wrapped, "value", rewrap(wrapped.Get("value"), v))
	}
	return v
}

// locationOf returns the key and value of the field that contains or locates the content of an asset or archive. The value
// is nil unless exactly one such field is set.
func locationOf(fields []property.Field) (key string, location *property.Value) {
	for i := range fields {
		name, v := fields[i].Name, &fields[i].Value
		if name == wire.Signature || name == hashKey || v.IsNull() {
			continue
		}
		if location != nil {
			return "", nil
		}
		key, location = name, v
	}
	return key, location
}

// with returns a copy of object v with key set to a value, or without key if the value is nil. It returns v if nothing
// changes.
func with(v *property.Value, key string, to *property.Value) *property.Value {
	if v.Get(key) == to {
		return v
	}
	object := v.With(key, to.OrAbsent())
	return &object
}
