package lumi

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
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
func (d *Diff) ignoreEqual(properties []Property, old, want *property.Value) {
	for _, p := range properties {
		at := Path("").Key(p.Name)
		if p.Equality == nil || !d.Changed(at) {
			continue
		}
		p.Equality.Equal(plain(old.Get(p.Name)), plain(want.Get(p.Name)), nil, func(steps []any) {
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
func plain(v *property.Value) any {
	v, _ = signed.Reveal(v)
	if signed.IsUnknown(v) {
		return constraint.Unknown{}
	}
	switch v.Kind() {
	case property.List:
		list := make([]any, len(v.Elements()))
		for i := range list {
			list[i] = plain(v.Element(i))
		}
		return list
	case property.Object:
		fields := make(map[string]any, len(v.Fields()))
		for _, f := range v.Fields() {
			fields[f.Name] = plain(&f.Value)
		}
		return fields
	}
	return v.Plain()
}

// CompareAs is [Compare] without the differences between values that the properties' descriptions declare equal.
func CompareAs(properties []Property, old, want Bag) *Diff {
	d := Compare(old, want)
	d.ignoreEqual(properties, old.Object(), want.Object())
	return d
}
