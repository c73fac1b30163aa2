package provision

import (
	"cmp"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// bagOf converts an object to a Bag. It returns the zero Bag for an absent value.
func bagOf(object lumigl.Value) lumi.Bag {
	if !object.Exists() {
		return lumi.Bag{}
	}
	bag := wireOf(object).GetStructValue()
	maps.DeleteFunc(bag.GetFields(), func(_ string, v *structpb.Value) bool { return isNull(v) })
	return lumi.BagOf(bag)
}

// orEmpty returns object, or an empty object if it is absent.
func orEmpty(object lumigl.Value) lumigl.Value {
	if object.Exists() {
		return object
	}
	return lumigl.ObjectOf()
}

// wireOf converts a value to the form sent to providers. Values that are not computed yet become unknown, which a
// provider may reject.
func wireOf(v lumigl.Value) *structpb.Value {
	switch v.Kind() {
	case lumigl.Bool:
		b, _ := v.Bool()
		return structpb.NewBoolValue(b)
	case lumigl.Number:
		f, _ := v.Float() // infinity if too large, which providers reject
		return structpb.NewNumberValue(f)
	case lumigl.Text:
		s, _ := v.Text()
		return structpb.NewStringValue(s)
	case lumigl.List:
		values := make([]*structpb.Value, v.Len())
		for i, element := range v.Elements() {
			values[i] = wireOf(element)
		}
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	case lumigl.Object:
		if v.IsExpression() {
			return lumi.NewUnknown()
		}
		fields := make(map[string]*structpb.Value, v.Len())
		for key, member := range v.Members() {
			fields[key] = wireOf(member)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	case lumigl.Reference:
		target, property, _ := v.Target()
		if property != "" {
			return lumi.NewUnknown()
		}
		return structpb.NewStringValue(target.Key())
	}
	return structpb.NewNullValue()
}

// targets are the resources that a value returned by a provider may refer to.
type targets struct {
	// vertices maps URNs to the resources referenced in the request.
	vertices map[string]*lumigl.Vertex
	// byID returns the URN of the resource with a type and an ID, or "" if there is none. It may be nil.
	byID func(t tokens.Type, id string) urn.URN
}

// targetsOf returns the resources referenced in values. If several resources have the same URN, it returns the first
// one.
func targetsOf(all ...lumigl.Value) targets {
	found := map[string]*lumigl.Vertex{}
	for _, v := range all {
		for target := range v.References() {
			if found[target.Key()] == nil {
				found[target.Key()] = target
			}
		}
	}
	return targets{vertices: found}
}

// value converts a value returned by a provider. URNs in t become references, and references by ID become URNs.
func (t targets) value(v *structpb.Value) lumigl.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return lumigl.BoolOf(k.BoolValue)
	case *structpb.Value_NumberValue:
		if number, ok := lumigl.FloatOf(k.NumberValue); ok {
			return number
		}
	case *structpb.Value_StringValue:
		u := urn.URN(k.StringValue)
		if id, isByID := u.ID(); isByID && t.byID != nil {
			u = cmp.Or(t.byID(u.Type(), id), u)
		}
		if target := t.vertices[string(u)]; target != nil {
			return lumigl.ReferenceTo(target)
		}
		return lumigl.TextOf(string(u))
	case *structpb.Value_ListValue:
		values := make([]lumigl.Value, len(k.ListValue.GetValues()))
		for i, element := range k.ListValue.GetValues() {
			values[i] = t.value(element)
		}
		return lumigl.ListOf(values...)
	case *structpb.Value_StructValue:
		if s := k.StructValue.GetFields()[wire.Signature].GetStringValue(); s == wire.Asset || s == wire.Archive {
			t = targets{} // File contents are not references.
		}
		var object lumigl.ObjectBuilder
		for _, key := range slices.Sorted(maps.Keys(k.StructValue.GetFields())) {
			object.Set(key, t.value(k.StructValue.GetFields()[key]))
		}
		return object.Object()
	}
	return lumigl.NullValue()
}

func isNull(v *structpb.Value) bool {
	_, is := v.GetKind().(*structpb.Value_NullValue)
	return is || v.GetKind() == nil
}
