package lumi

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// equalities caches how objects are compared, by type.
var equalities sync.Map

// equalityOf returns the equality of a codec's values. It is never nil.
func equalityOf(c codec) *Equality { return equalityIn(c, map[reflect.Type]*Equality{}) }

// equalityIn is equalityOf inside objects of the types in around, which may be recursive.
func equalityIn(c codec, around map[reflect.Type]*Equality) *Equality {
	switch c := c.(type) {
	case *annotated:
		return equalityIn(c.codec, around)
	case interface{ compared() (codec, string) }:
		inner, as := c.compared()
		e := *equalityIn(inner, around)
		e.As = cmp.Or(as, e.As)
		return &e
	case interface{ element() codec }:
		return &Equality{Elements: equalityIn(c.element(), around)}
	case interface{ typ() reflect.Type }:
		t := c.typ()
		if e := around[t]; e != nil {
			return e
		}
		o := reflect.New(t.Elem()).Interface().(Object)
		p := newProps(context.Background(), describe, nil)
		o.Lumi(p)
		return objectEquality(t, p, around)
	}
	return &Equality{}
}

// equalityOfObject returns the equality of an object, given the walk that described it.
func equalityOfObject(o Object, described *Props) *Equality {
	return objectEquality(reflect.TypeOf(o), described, map[reflect.Type]*Equality{})
}

func objectEquality(t reflect.Type, described *Props, around map[reflect.Type]*Equality) *Equality {
	if e, ok := equalities.Load(t); ok {
		return e.(*Equality)
	}
	isOutermost := len(around) == 0 // Others may be incomplete when done.
	e := &Equality{Properties: make(map[string]*Equality, len(described.properties))}
	around[t] = e
	for i, p := range described.properties {
		e.Properties[p.Name] = equalityIn(described.codecs[i], around)
	}
	if isOutermost {
		for name, part := range e.Properties {
			if !part.Any() {
				e.Properties[name] = nil
			}
		}
		equalities.Store(t, e)
	}
	return e
}

// ignoreEqual drops changes between values that the IDL declares equal.
func (d *Diff) ignoreEqual(properties []Property, old, want *structpb.Struct) {
	for _, p := range properties {
		at := Path("").Key(p.Name)
		if p.Equality == nil || !d.Changed(at) {
			continue
		}
		p.Equality.Equal(plain(old.GetFields()[p.Name]), plain(want.GetFields()[p.Name]), nil, func(steps []any) {
			path := at
			for _, s := range steps {
				if key, ok := s.(string); ok {
					path = path.Key(key)
				} else {
					path = path.Index(s.(int))
				}
			}
			d.Ignore(path)
		})
	}
}

// plain returns a value without secret wrappers, as package constraint compares it.
func plain(v *structpb.Value) any {
	v, _ = signed.Reveal(v)
	if signed.IsUnknown(v) {
		return constraint.Unknown{}
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		list := make([]any, len(k.ListValue.GetValues()))
		for i, elem := range k.ListValue.GetValues() {
			list[i] = plain(elem)
		}
		return list
	case *structpb.Value_StructValue:
		fields := make(map[string]any, len(k.StructValue.GetFields()))
		for name, field := range k.StructValue.GetFields() {
			fields[name] = plain(field)
		}
		return fields
	}
	return v.AsInterface()
}

// CompareAs is [Compare] without the differences between values that the properties' descriptions declare equal.
func CompareAs(properties []Property, old, want Bag) *Diff {
	d := Compare(old, want)
	d.ignoreEqual(properties, old.message, want.message)
	return d
}
