package content

import (
	"maps"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// stringOf returns the string in v. It returns false if v is unknown or not a string.
func stringOf(v *structpb.Value) (string, bool) {
	s, ok := v.GetKind().(*structpb.Value_StringValue)
	if !ok || s.StringValue == wire.Unknown {
		return "", false
	}
	return s.StringValue, true
}

// rewrap returns v in copies of the secret wrappers of wrapped, if any.
func rewrap(wrapped, v *structpb.Value) *structpb.Value {
	if signed.IsSecret(wrapped) {
		return with(wrapped, "value", rewrap(wrapped.GetStructValue().GetFields()["value"], v))
	}
	return v
}

// locationOf returns the key and value of the field that contains or locates the content of an asset or archive. The value
// is nil unless exactly one such field is set.
func locationOf(fields map[string]*structpb.Value) (key string, location *structpb.Value) {
	for name, v := range fields {
		if name == wire.Signature || name == hashKey || signed.IsNull(v) {
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
func with(v *structpb.Value, key string, to *structpb.Value) *structpb.Value {
	fields := v.GetStructValue().GetFields()
	if fields[key] == to {
		return v
	}
	fields = maps.Clone(fields)
	if to == nil {
		delete(fields, key)
	} else {
		fields[key] = to
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}
