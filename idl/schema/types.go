package schema

import "iter"

// Type is the type of a property, alias, or element: a [Primitive], *[List], *[Map], or *[Ref].
type Type interface{ isType() }

// Primitive is a type without component types.
type Primitive string

// The primitive types of the IDL.
const (
	Bool    Primitive = "bool"
	Number  Primitive = "number" // a 64-bit floating-point number
	Int     Primitive = "int"    // a whole number from -(2^53-1) to 2^53-1
	String  Primitive = "string"
	Any     Primitive = "any"     // any JSON value
	Asset   Primitive = "asset"   // a file or text
	Archive Primitive = "archive" // a collection of files
	// AnyResource is a resource reference of any type. A reference of a known type is a [Ref] to a [Resource].
	AnyResource Primitive = "resource"
)

// List is an ordered sequence. Its elements are never null.
type List struct {
	Elem Type
}

// Map is an object with arbitrary keys. Its elements are never null.
type Map struct {
	// Key is [String], or a [Ref] to an enum or a string alias.
	Key  Type
	Elem Type
}

// Ref is a reference to a declared type. A reference to a [Resource] is a resource reference, sent as a URN.
type Ref struct {
	// Decl is a declaration of type *[Enum], *[Alias], *[Struct], *[Union], or *[Resource], possibly in another module.
	Decl Decl
}

func (Primitive) isType() {}
func (*List) isType()     {}
func (*Map) isType()      {}
func (*Ref) isType()      {}

// Underlying resolves aliases. It returns the final target if t refers to an [Alias], or else t itself.
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

// Refs yields all references in t and in the targets of its aliases. It follows each alias only once, so it terminates
// on cycles.
func Refs(t Type) iter.Seq[*Ref] {
	return func(yield func(*Ref) bool) { refs(t, map[*Alias]bool{}, yield) }
}

// refs is the recursion of [Refs]. It returns false if yield does. Followed records the aliases already visited.
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

// Properties returns the properties of a resource, struct, or configuration, the arguments and results of a function, or
// the variants of a union. It returns nil for other declarations.
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
	case *Function:
		return d.Properties
	}
	return nil
}
