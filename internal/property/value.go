// Package property represents values of property bags, which are google.protobuf.Struct messages on the wire. Its values
// take a fraction of the memory of those messages, and are decoded and encoded several times as fast.
package property

import (
	"iter"

	"math"
	"slices"
	"strings"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Absent is the kind of the zero Value and of a nil *Value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	List
	Object
)

// Value is a JSON value. Values are immutable. Methods of a nil *Value return the results for an absent value.
type Value struct {
	kind   Kind
	number float64 // or 1 for true
	text   string
	parts  []Field // of a list or an object
}

// Field is a field of an object, or an element of a list, which has no name.
type Field struct {
	Name  string
	Value Value
}

// NullOf returns null.
func NullOf() Value { return Value{kind: Null} }

// BoolOf returns a boolean.
func BoolOf(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.number = 1
	}
	return v
}

// NumberOf returns a number.
func NumberOf(n float64) Value { return Value{kind: Number, number: n} }

// StringOf returns a string.
func StringOf(s string) Value { return Value{kind: String, text: s} }

// ListOf returns a list. Its elements must have no names, and must not be modified afterward.
func ListOf(elements []Field) Value { return Value{kind: List, parts: elements} }

// ObjectOf returns an object. It sorts its fields, which must not be modified afterward. If several fields have the same
// name, the object has the last one.
func ObjectOf(fields ...Field) Value {
	for i := 1; i < len(fields); i++ {
		if fields[i-1].Name >= fields[i].Name {
			return Value{kind: Object, parts: sorted(fields)}
		}
	}
	return Value{kind: Object, parts: fields}
}

func sorted(fields []Field) []Field {
	slices.Reverse(fields) // The first of equal names remains.
	slices.SortStableFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(fields, func(a, b Field) bool { return a.Name == b.Name })
}

// Kind returns the kind of the value.
func (v *Value) Kind() Kind {
	if v == nil {
		return Absent
	}
	return v.kind
}

// OrAbsent returns the value, or an absent one for nil.
func (v *Value) OrAbsent() Value {
	if v == nil {
		return Value{}
	}
	return *v
}

// IsNull reports whether the value is null or absent. The two are equivalent.
func (v *Value) IsNull() bool { return v.Kind() <= Null }

// Bool returns a boolean, or false if the value is not one.
func (v *Value) Bool() bool { return v.Kind() == Bool && v.number == 1 }

// Number returns a number, or 0 if the value is not one.
func (v *Value) Number() float64 {
	if v.Kind() != Number {
		return 0
	}
	return v.number
}

// Text returns a string, or "" if the value is not one.
func (v *Value) Text() string {
	if v == nil {
		return ""
	}
	return v.text
}

// Elements returns the elements of a list, or nil if the value is not one. They must not be modified.
func (v *Value) Elements() []Field {
	if v.Kind() != List {
		return nil
	}
	return v.parts
}

// Fields returns the fields of an object, sorted by name, or nil if the value is not one. They must not be modified.
func (v *Value) Fields() []Field {
	if v.Kind() != Object {
		return nil
	}
	return v.parts
}

// Get returns a field of an object, or nil if there is none.
func (v *Value) Get(name string) *Value {
	fields := v.Fields()
	if i, ok := Find(fields, name); ok {
		return &fields[i].Value
	}
	return nil
}

// Element returns an element of a list, or nil if there is none.
func (v *Value) Element(i int) *Value {
	if elements := v.Elements(); i < len(elements) {
		return &elements[i].Value
	}
	return nil
}

// Find returns the position of a name in the fields of an object, and whether it is there.
func Find(fields []Field, name string) (int, bool) {
	return slices.BinarySearchFunc(fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
}

// With returns a copy of an object with a field set, or without the field if to is absent.
func (v *Value) With(name string, to Value) Value {
	fields := v.Fields()
	i, ok := Find(fields, name)
	switch {
	case to.kind == Absent && !ok:
		return Value{kind: Object, parts: fields}
	case to.kind == Absent:
		fields = slices.Delete(slices.Clone(fields), i, i+1)
	case ok:
		fields = slices.Clone(fields)
		fields[i].Value = to
	default:
		fields = slices.Insert(slices.Clip(fields), i, Field{name, to})
	}
	return Value{kind: Object, parts: fields}
}

// Equal reports whether a and b are equal. Absent values and null are different, and NaN equals itself.
func Equal(a, b *Value) bool {
	if a.Kind() != b.Kind() || a == nil || b == nil {
		return a.Kind() == b.Kind()
	}
	return a.text == b.text && (a.number == b.number || math.IsNaN(a.number) && math.IsNaN(b.number)) &&
		slices.EqualFunc(a.parts, b.parts, func(a, b Field) bool { return a.Name == b.Name && Equal(&a.Value, &b.Value) })
}

// Plain returns the value as encoding/json decodes it. Numbers that are not finite are strings, and absent values are nil.
func (v *Value) Plain() any {
	switch v.Kind() {
	case Bool:
		return v.Bool()
	case Number:
		switch {
		case math.IsNaN(v.number):
			return "NaN"
		case math.IsInf(v.number, 1):
			return "Infinity"
		case math.IsInf(v.number, -1):
			return "-Infinity"
		}
		return v.number
	case String:
		return v.text
	case List:
		list := make([]any, len(v.parts))
		for i := range v.parts {
			list[i] = v.parts[i].Value.Plain()
		}
		return list
	case Object:
		fields := make(map[string]any, len(v.parts))
		for i := range v.parts {
			fields[v.parts[i].Name] = v.parts[i].Value.Plain()
		}
		return fields
	}
	return nil
}

// Pair holds the values that two objects have under the same name. One of them may be nil.
type Pair struct {
	Name string
	A, B *Value
}

// Pairs returns the fields of two objects, sorted by name.
func Pairs(a, b *Value) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		as, bs := a.Fields(), b.Fields()
		for len(as) > 0 || len(bs) > 0 {
			var p Pair
			if len(bs) == 0 || len(as) > 0 && as[0].Name <= bs[0].Name {
				p.Name, p.A, as = as[0].Name, &as[0].Value, as[1:]
			}
			if len(bs) > 0 && (p.A == nil || bs[0].Name == p.Name) {
				p.Name, p.B, bs = bs[0].Name, &bs[0].Value, bs[1:]
			}
			if !yield(p) {
				return
			}
		}
	}
}
