package content

import (
	"maps"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// stringOf returns a string, unless it is the placeholder for unknown values.
func stringOf(v *structpb.Value) (string, bool) {
	s, ok := v.GetKind().(*structpb.Value_StringValue)
	if !ok || s.StringValue == wire.Unknown {
		return "", false
	}
	return s.StringValue, true
}

// rewrap replaces the value inside the secret wrappers of wrapped, if any.
func rewrap(wrapped, v *structpb.Value) *structpb.Value {
	if signed.IsSecret(wrapped) {
		return with(wrapped, "value", rewrap(wrapped.GetStructValue().GetFields()["value"], v))
	}
	return v
}

// locationOf returns the field of an asset or archive that locates its content, or nil unless exactly one is set.
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

// with returns the object with key set to a value, or removed for nil. It returns the same object if nothing changes.
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
