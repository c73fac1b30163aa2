package schema

import (
	"iter"
	"reflect"
	"strings"
)

// Constraints limit the values of a property or of an [Alias]. Where both have some, a value must satisfy all of them.
// What each means for a value is in docs/idl.md; both runtimes check it. The key "of" names the values that it is for, as
// [ValuesOf] does.
type Constraints struct {
	// Min, Max, ExclusiveMin and ExclusiveMax bound a number, and MultipleOf divides it.
	Min          *float64 `json:"min,omitempty" of:"numbers"`
	ExclusiveMin *float64 `json:"exclusiveMin,omitempty" of:"numbers"`
	Max          *float64 `json:"max,omitempty" of:"numbers"`
	ExclusiveMax *float64 `json:"exclusiveMax,omitempty" of:"numbers"`
	MultipleOf   *float64 `json:"multipleOf,omitempty" of:"numbers"`
	// MinLength and MaxLength bound the number of Unicode characters in a string.
	MinLength *int `json:"minLength,omitempty" of:"strings"`
	MaxLength *int `json:"maxLength,omitempty" of:"strings"`
	// Pattern is a regular expression that a string must contain a match of. It means the same in RE2 and in JavaScript
	// with the flag u.
	Pattern string `json:"pattern,omitempty" of:"strings"`
	// Format names a format of strings, such as "uri".
	Format string `json:"format,omitempty" of:"strings"`
	// MinItems and MaxItems bound the number of elements of a list, and Unique lists have no two equal ones.
	MinItems *int `json:"minItems,omitempty" of:"lists"`
	MaxItems *int `json:"maxItems,omitempty" of:"lists"`
	Unique   bool `json:"unique,omitempty" of:"lists"`
	// MinProperties and MaxProperties bound the number of elements of a map, and KeyPattern is the pattern of its keys.
	MinProperties *int   `json:"minProperties,omitempty" of:"maps"`
	MaxProperties *int   `json:"maxProperties,omitempty" of:"maps"`
	KeyPattern    string `json:"keyPattern,omitempty" of:"maps"`
}

// All yields the constraints that are set, by their names in the JSON form, in the order of the fields. The values are
// of type float64, int, string or bool.
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

// Set sets the constraint of a name to a value of the type that [Constraints.All] yields.
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

// ConstraintType returns the kind of a constraint's argument: Float64, Int, String or Bool.
func ConstraintType(name string) reflect.Kind {
	if t := fieldOf(name).Type; t.Kind() == reflect.Pointer {
		return t.Elem().Kind()
	}
	return fieldOf(name).Type.Kind()
}

// ConstraintValues returns which values a constraint is for, as [ValuesOf] calls them.
func ConstraintValues(name string) string { return fieldOf(name).Tag.Get("of") }

// ValuesOf is what messages call the values of a type, such as "numbers" or "lists".
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
		case Any:
			return "values of any type"
		}
		return string(t) + "s"
	}
	return ""
}

// ConstraintsOf returns the constraints of a type, which are those of the alias that it refers to, or nil.
func ConstraintsOf(t Type) *Constraints {
	if ref, ok := t.(*Ref); ok {
		if a, ok := ref.Decl.(*Alias); ok {
			return a.Constraints
		}
	}
	return nil
}

// Constrained reports whether a constraint applies to the property's value or to a part of it outside of structs.
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
