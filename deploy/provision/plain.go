package provision

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// plainOf returns a value as provisioners get it: nil for an absent one.
func plainOf(v lumigl.Value) any {
	switch v.Kind() {
	case lumigl.Bool:
		b, _ := v.Bool()
		return b
	case lumigl.Number:
		f, _ := v.Float() // infinite if it is too large, which cannot be sent
		return f
	case lumigl.Text:
		s, _ := v.Text()
		return s
	case lumigl.List:
		list := make([]any, 0, v.Len())
		for _, element := range v.Elements() {
			list = append(list, plainOf(element))
		}
		return list
	case lumigl.Reference:
		target, property, _ := v.Target()
		return provisioner.Reference{URN: target.URN(), Property: property}
	case lumigl.Object:
		object := make(map[string]any, v.Len())
		for name, member := range v.Members() {
			object[name] = plainOf(member)
		}
		return specialOf(v, object)
	}
	return nil
}

// specialOf returns the special value that an object stands for, or the object.
func specialOf(v lumigl.Value, object map[string]any) any {
	if v.IsSecret() {
		return provisioner.Secret{Value: object["value"]}
	}
	if v.IsExpression() {
		path, _ := object["path"].(string)
		switch parts, ok := object["interpolate"].([]any); {
		case ok:
			return provisioner.Interpolation{Parts: parts}
		case object["get"] != nil:
			return provisioner.Part{Of: object["get"], Path: path}
		}
		return provisioner.JSON{Value: object["jsonStringify"]}
	}
	return object
}

// valueOf returns a value that a provisioner returned.
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
		return lumigl.ObjectOf(
			lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: valueOf(plain.Value)})
	case provisioner.Reference:
		return lumigl.TextOf(string(plain.URN))
	}
	return lumigl.NullValue()
}
