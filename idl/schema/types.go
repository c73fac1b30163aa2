package schema

import "iter"

// Type is the type of a property, of an alias, or of an element: a [Primitive], *[List], *[Map] or *[Ref].
type Type interface{ isType() }

// Primitive is a type without parts.
type Primitive string

// The primitive types.
const (
	Bool    Primitive = "bool"
	Number  Primitive = "number" // a 64-bit floating-point number
	String  Primitive = "string"
	Any     Primitive = "any"     // any value that JSON can express
	Asset   Primitive = "asset"   // a file or a text
	Archive Primitive = "archive" // a collection of files
	// AnyResource is a capability of any type. A capability of a known type is a [Ref] to a [Resource].
	AnyResource Primitive = "resource"
)

// List is an ordered sequence. No element is null.
type List struct {
	Elem Type
}

// Map is an object with arbitrary keys. No element is null.
type Map struct {
	// Key is [String], or a [Ref] to an enum or to an alias of a string.
	Key  Type
	Elem Type
}

// Ref is a use of a declared type. A reference to a [Resource] is a capability: the resource's URN on the wire.
type Ref struct {
	// Decl is an *[Enum], *[Alias], *[Struct], *[Union] or *[Resource], perhaps of another module.
	Decl Decl
}

func (Primitive) isType() {}
func (*List) isType()     {}
func (*Map) isType()      {}
func (*Ref) isType()      {}

// Underlying follows aliases: it returns t, or what t stands for if it is a reference to an [Alias].
func Underlying(t Type) Type {
	for {
		ref, ok := t.(*Ref)
		if !ok {
			return t
		}
		alias, ok := ref.Decl.(*Alias)
		if !ok {
			return t
		}
		t = alias.Target
	}
}

// Refs yields every reference in t and in what its aliases stand for. Each alias is followed once, so that circles end.
func Refs(t Type) iter.Seq[*Ref] {
	return func(yield func(*Ref) bool) { refs(t, map[*Alias]bool{}, yield) }
}

// refs calls yield for the references in t, up to the first that it returns false for, and notes which aliases it
// followed.
func refs(t Type, followed map[*Alias]bool, yield func(*Ref) bool) bool {
	switch t := t.(type) {
	case *List:
		return refs(t.Elem, followed, yield)
	case *Map:
		return refs(t.Key, followed, yield) && refs(t.Elem, followed, yield)
	case *Ref:
		if !yield(t) {
			return false
		}
		if a, ok := t.Decl.(*Alias); ok && !followed[a] {
			followed[a] = true
			return refs(a.Target, followed, yield)
		}
	}
	return true
}

// Properties returns the properties of a resource, struct or configuration, the variants of a union, and nil for other
// declarations.
func Properties(d Decl) []*Property {
	switch d := d.(type) {
	case *Resource:
		return d.Properties
	case *Struct:
		return d.Properties
	case *Config:
		return d.Properties
	case *Union:
		return d.Variants
	}
	return nil
}
