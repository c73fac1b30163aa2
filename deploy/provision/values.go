package provision

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/internal/property"
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
	fields := fieldsOf(object)
	fields = slices.DeleteFunc(fields, func(f property.Field) bool { return f.Value.IsNull() })
	bag := property.ObjectOf(fields...)
	return lumi.BagFrom(&bag)
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
func wireOf(v lumigl.Value) property.Value {
	switch v.Kind() {
	case lumigl.Bool:
		b, _ := v.Bool()
		return property.BoolOf(b)
	case lumigl.Number:
		f, _ := v.Float() // infinity if too large, which providers reject
		return property.NumberOf(f)
	case lumigl.Text:
		s, _ := v.Text()
		return property.StringOf(s)
	case lumigl.List:
		elements := make([]property.Field, v.Len())
		for i, element := range v.Elements() {
			elements[i].Value = wireOf(element)
		}
		return property.ListOf(elements)
	case lumigl.Object:
		if v.IsExpression() {
			return unknown
		}
		return property.ObjectOf(fieldsOf(v)...)
	case lumigl.Reference:
		target, name, _ := v.Target()
		if name != "" {
			return unknown
		}
		return property.StringOf(target.Key())
	}
	return property.NullOf()
}

var unknown = property.StringOf(wire.Unknown)

func fieldsOf(object lumigl.Value) []property.Field {
	fields := make([]property.Field, 0, object.Len())
	for key, member := range object.Members() {
		fields = append(fields, property.Field{Name: key, Value: wireOf(member)})
	}
	return fields
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
func (t targets) value(v *property.Value) lumigl.Value {
	switch v.Kind() {
	case property.Bool:
		return lumigl.BoolOf(v.Bool())
	case property.Number:
		if number, ok := lumigl.FloatOf(v.Number()); ok {
			return number
		}
	case property.String:
		u := urn.URN(v.Text())
		if id, isByID := u.ID(); isByID && t.byID != nil {
			u = cmp.Or(t.byID(u.Type(), id), u)
		}
		if target := t.vertices[string(u)]; target != nil {
			return lumigl.ReferenceTo(target)
		}
		return lumigl.TextOf(string(u))
	case property.List:
		values := make([]lumigl.Value, len(v.Elements()))
		for i := range values {
			values[i] = t.value(v.Element(i))
		}
		return lumigl.ListOf(values...)
	case property.Object:
		if isContent(v) {
			t = targets{} // File contents are not references.
		}
		var object lumigl.ObjectBuilder
		for _, f := range v.Fields() {
			object.Set(f.Name, t.value(&f.Value))
		}
		return object.Object()
	}
	return lumigl.NullValue()
}

func isContent(v *property.Value) bool {
	s := v.Get(wire.Signature).Text()
	return s == wire.Asset || s == wire.Archive
}
