package provisioning

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// encodeObject encodes an object, which may be nil. If a value cannot be sent, the error starts with its path.
func encodeObject(object provisioner.Properties) (*structpb.Struct, error) {
	if object == nil {
		return nil, nil
	}
	v, err := encode("", object)
	return v.GetStructValue(), err
}

// encode encodes the value at a path, which is used in errors.
func encode(path lumi.Path, v any) (*structpb.Value, error) {
	switch v := v.(type) {
	case nil:
		return structpb.NewNullValue(), nil
	case bool:
		return structpb.NewBoolValue(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: %v is not a JSON number", path, v)
		}
		return structpb.NewNumberValue(v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("%s: the string is not UTF-8", path)
		}
		return structpb.NewStringValue(v), nil
	case []any:
		list := &structpb.ListValue{Values: make([]*structpb.Value, len(v))}
		for i, element := range v {
			var err error
			if list.Values[i], err = encode(path.Index(i), element); err != nil {
				return nil, err
			}
		}
		return structpb.NewListValue(list), nil
	case map[string]any:
		object := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(v))}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !utf8.ValidString(name) {
				return nil, fmt.Errorf("%s: the key is not UTF-8", path.Key(name))
			}
			var err error
			if object.Fields[name], err = encode(path.Key(name), v[name]); err != nil {
				return nil, err
			}
		}
		return structpb.NewStructValue(object), nil
	case provisioner.Secret:
		return encodeMarked(path, wire.Secret, map[string]any{"value": v.Value})
	case provisioner.Reference:
		object := map[string]any{"urn": string(v.URN)}
		if v.Property != "" {
			object["property"] = v.Property
		}
		return encodeMarked(path, wire.Reference, object)
	case provisioner.Interpolation:
		return encodeMarked(path, wire.Expression, map[string]any{"interpolate": v.Parts})
	case provisioner.JSON:
		return encodeMarked(path, wire.Expression, map[string]any{"jsonStringify": v.Value})
	case provisioner.Part:
		return encodeMarked(path, wire.Expression, map[string]any{"get": v.Of, "path": v.Path})
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return encode(path, plain)
}

// encodeMarked encodes a special value with the given signature and fields. It adds the signature to object.
func encodeMarked(path lumi.Path, signature string, object map[string]any) (*structpb.Value, error) {
	object[wire.Signature] = signature
	return encode(path, object)
}

// decodeObject decodes an object without its null fields. It returns nil if object is nil.
func decodeObject(object *structpb.Struct) provisioner.Properties {
	if object == nil {
		return nil
	}
	v := property.FromStruct(object)
	return decodeFields(&v)
}

func decodeFields(v *property.Value) provisioner.Properties {
	all := make(provisioner.Properties, len(v.Fields()))
	for _, f := range v.Fields() {
		if !f.Value.IsNull() {
			all[f.Name] = decode(&f.Value)
		}
	}
	return all
}

func decode(v *property.Value) any {
	switch v.Kind() {
	case property.Number:
		return v.Number() // even if it is not finite
	case property.List:
		list := make([]any, len(v.Elements()))
		for i := range list {
			list[i] = decode(v.Element(i))
		}
		return list
	case property.Object:
		return decodeSpecial(v)
	}
	return v.Plain()
}

// decodeSpecial decodes an object, which may be a special value.
func decodeSpecial(v *property.Value) any {
	switch signed.Signature(v) {
	case wire.Secret:
		return provisioner.Secret{Value: decode(v.Get("value"))}
	case wire.Reference:
		return provisioner.Reference{URN: urn.URN(v.Get("urn").Text()), Property: v.Get("property").Text()}
	case wire.Expression:
		switch {
		case v.Get("interpolate") != nil:
			parts, _ := decode(v.Get("interpolate")).([]any)
			return provisioner.Interpolation{Parts: parts}
		case v.Get("jsonStringify") != nil:
			return provisioner.JSON{Value: decode(v.Get("jsonStringify"))}
		case v.Get("get") != nil:
			return provisioner.Part{Of: decode(v.Get("get")), Path: v.Get("path").Text()}
		}
	}
	return decodeFields(v)
}
