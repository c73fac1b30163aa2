package schema

import (
	"go/doc"
	"go/token"
	"slices"
)

// The names used in generated Go are part of the model so that the compiler can report collisions.

// GoSchema is the name of the generated Go package that contains the schema, and of its folder.
const GoSchema = "lumischema"

// stubImports is the set of package names that any stub may import.
var stubImports = map[string]bool{"context": true, "lumi": true, "tokens": true, "urn": true}

// GoName returns the Go name of a declaration or enum constant in module m. Exported names are unchanged. An unexported
// name gets a trailing underscore if it is a keyword, a predeclared name, the name of an imported package, or init.
func GoName(m *Module, name string) string {
	if IsExported(name) {
		return name
	}
	if token.IsKeyword(name) || doc.IsPredeclared(name) || stubImports[name] || name == "init" {
		return name + "_"
	}
	for _, other := range m.Imports {
		if other.GoName == name {
			return name + "_"
		}
	}
	return name
}

// GoMarshalName returns the Go name of the struct that holds the properties of a resource, struct, union,
// configuration, or function, or of its alias. It is the declaration's name with leading capitals lowered, as in [PropertyName].
func GoMarshalName(h *Header) string { return GoName(h.File.Module, PropertyName(h.Name)) }

// GoPropertyConst returns the name of the Go constant that holds the name of a property.
func GoPropertyConst(h *Header, p *Property) string { return h.Name + "_" + p.Field }

// GoProperties returns the properties that have a Go constant: all except the variants of unions of resources.
func GoProperties(d Decl) []*Property {
	if u, ok := d.(*Union); ok && u.Tokens() != nil {
		return nil
	}
	return Properties(d)
}

// GoNames returns all package-level names that generated Go code declares for d, starting with its own.
func GoNames(d Decl) []string {
	h := d.Head()
	own := GoName(h.File.Module, h.Name)
	names := []string{own}
	switch d := d.(type) {
	case *Resource:
		names = append(names, GoMarshalName(h), h.Name+"Provider", h.Name+"ProviderOps", "New"+h.Name+"Provider")
	case *Function:
		names = append(names, GoMarshalName(h), h.Name+"Func")
	case *Struct, *Config, *Union:
		names = append(names, GoMarshalName(h))
	case *Enum:
		for _, m := range d.Members {
			names = append(names, GoName(h.File.Module, m.Name))
		}
	}
	for _, p := range GoProperties(d) {
		names = append(names, GoPropertyConst(h, p))
	}
	return append(names[:1], slices.DeleteFunc(names[1:], func(name string) bool { return name == own })...)
}
