package schema

import (
	"iter"
	"reflect"
	"strings"
)

// Constraints limits the values of a property or an [Alias]. If a property and its alias both have constraints, values
// must satisfy all of them. The constraints are defined in docs/idl.md and checked by both runtimes. The field tag "of"
// is the kind of value to which a constraint applies, as returned by [ValuesOf].
type Constraints struct {
	// Min, Max, ExclusiveMin, and ExclusiveMax bound a number. The number must be a multiple of MultipleOf.
	Min          *float64 `json:"min,omitempty" of:"numbers"`
	ExclusiveMin *float64 `json:"exclusiveMin,omitempty" of:"numbers"`
	Max          *float64 `json:"max,omitempty" of:"numbers"`
	ExclusiveMax *float64 `json:"exclusiveMax,omitempty" of:"numbers"`
	MultipleOf   *float64 `json:"multipleOf,omitempty" of:"numbers"`
	// MinLength and MaxLength bound the number of Unicode characters in a string.
	MinLength *int `json:"minLength,omitempty" of:"strings"`
	MaxLength *int `json:"maxLength,omitempty" of:"strings"`
	// Pattern is a regular expression that must match part of the string. It has the same meaning in RE2 and in
	// JavaScript with the flag u.
	Pattern string `json:"pattern,omitempty" of:"strings"`
	// Says describes the strings that match Pattern, such as "a bucket name". Messages use it instead of the pattern.
	Says string `json:"says,omitempty" of:"strings"`
	// Format is a string format such as "uri".
	Format string `json:"format,omitempty" of:"strings"`
	// MinItems and MaxItems bound the number of list elements. Unique requires the elements to be distinct.
	MinItems *int `json:"minItems,omitempty" of:"lists"`
	MaxItems *int `json:"maxItems,omitempty" of:"lists"`
	Unique   bool `json:"unique,omitempty" of:"lists"`
	// MinProperties and MaxProperties bound the number of map entries. KeyPattern is a pattern that every key must
	// match.
	MinProperties *int   `json:"minProperties,omitempty" of:"maps"`
	MaxProperties *int   `json:"maxProperties,omitempty" of:"maps"`
	KeyPattern    string `json:"keyPattern,omitempty" of:"maps"`
	// Equal is how values are compared: "caseless", "decimal", "duration", "instant", or "json" for strings, or "set" for
	// lists. It restricts no values.
	Equal string `json:"equal,omitempty" of:"strings"`
}

// All yields the name and value of each constraint that is set, in field order. Values have type float64, int, string,
// or bool.
func (c *Constraints) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if c == nil {
			return
		}
		v := reflect.ValueOf(*c)
		for i := range v.NumField() {
			field := v.Field(i)
			if field.IsZero() {
				continue
			}
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if !yield(name, reflect.Indirect(field).Interface()) {
				return
			}
		}
	}
}

// Set sets the constraint with the given name. The value must have the type that [Constraints.All] yields for it.
func (c *Constraints) Set(name string, value any) {
	field := reflect.ValueOf(c).Elem().FieldByIndex(fieldOf(name).Index)
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(value))
}

func fieldOf(name string) reflect.StructField {
	field, _ := reflect.TypeFor[Constraints]().FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
	return field
}

// ConstraintType returns the kind of value that a constraint takes: Float64, Int, String, or Bool.
func ConstraintType(name string) reflect.Kind {
	if t := fieldOf(name).Type; t.Kind() == reflect.Pointer {
		return t.Elem().Kind()
	}
	return fieldOf(name).Type.Kind()
}

// ConstraintValues returns the kind of value to which a constraint applies, as returned by [ValuesOf].
func ConstraintValues(name string, value any) string {
	if name == "equal" && value == "set" {
		return "lists"
	}
	return fieldOf(name).Tag.Get("of")
}

// ValuesOf returns a plural noun for the values of a type, such as "numbers" or "lists".
func ValuesOf(t Type) string {
	switch t := Underlying(t).(type) {
	case *List:
		return "lists"
	case *Map:
		return "maps"
	case *Ref:
		switch t.Decl.(type) {
		case *Enum:
			return "enums"
		case *Resource:
			return "resources"
		case *Union:
			return "unions"
		}
		return "structs"
	case Primitive:
		switch t {
		case Bool:
			return "booleans"
		case Int:
			return "numbers"
		case Any:
			return "values of any type"
		}
		return string(t) + "s"
	}
	return ""
}

// ConstraintsOf returns the constraints of the alias that t refers to, or nil if t is not an alias.
func ConstraintsOf(t Type) *Constraints {
	if ref, ok := t.(*Ref); ok {
		if a, ok := ref.Decl.(*Alias); ok {
			return a.Constraints
		}
	}
	return nil
}

// Constrained reports whether the property's value has constraints, including those on list elements and map entries
// but not on the properties of structs.
func (p *Property) Constrained() bool {
	if p.Constraints != nil {
		return true
	}
	if _, ok := p.Type.(Primitive); ok {
		return false
	}
	for ref := range Refs(p.Type) {
		if ConstraintsOf(ref) != nil {
			return true
		}
	}
	return false
}
