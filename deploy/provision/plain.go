package provision

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/provisioner"
)

// plainOf converts a value to the form used by provisioners. It returns nil for an absent value.
func plainOf(v lumigl.Value) any {
	return v.Plain(func(part lumigl.Value) (any, bool) {
		if target, property, ok := part.Target(); ok {
			return provisioner.Reference{URN: target.URN(), Property: property}, true
		}
		if content, ok := part.Secret(); ok {
			return provisioner.Secret{Value: plainOf(content)}, true
		}
		if !part.IsExpression() {
			return nil, false
		}
		get := plainOf(part.Get("get"))
		path, _ := part.Get("path").Text()
		switch parts, ok := plainOf(part.Get("interpolate")).([]any); {
		case ok:
			return provisioner.Interpolation{Parts: parts}, true
		case get != nil:
			return provisioner.Part{Of: get, Path: path}, true
		}
		return provisioner.JSON{Value: plainOf(part.Get("jsonStringify"))}, true
	})
}

// valueOf converts a value returned by a provisioner to LumiGL.
func valueOf(plain any) lumigl.Value {
	switch plain := plain.(type) {
	case bool:
		return lumigl.BoolOf(plain)
	case float64:
		if number, ok := lumigl.FloatOf(plain); ok {
			return number
		}
	case string:
		return lumigl.TextOf(plain)
	case []any:
		list := make([]lumigl.Value, len(plain))
		for i, element := range plain {
			list[i] = valueOf(element)
		}
		return lumigl.ListOf(list...)
	case map[string]any:
		var object lumigl.ObjectBuilder
		for _, name := range slices.Sorted(maps.Keys(plain)) {
			object.Set(name, valueOf(plain[name]))
		}
		return object.Object()
	case provisioner.Secret:
		return lumigl.SecretOf(valueOf(plain.Value))
	case provisioner.Reference:
		return lumigl.TextOf(string(plain.URN))
	}
	return lumigl.NullValue()
}
