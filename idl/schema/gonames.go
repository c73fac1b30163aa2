package schema

import (
	"go/doc"
	"go/token"
	"slices"
)

// The names that generated Go code declares are part of the model, since the compiler reports on the IDL what would
// collide there and the generator must then use the very same names.

// stubImports are the names under which every stub may import packages of its own.
var stubImports = map[string]bool{"context": true, "lumi": true, "tokens": true, "urn": true}

// GoName is the name in generated Go of a declaration, or of an enum's constant, that has the given name in module m.
// Exported names stay. Others get a trailing underscore where they would hide a keyword, a predeclared name or a
// package that stubs of the module import, or where only a function may have the name.
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

// GoMarshalName is the name of the struct that generated Go code marshals a resource, struct, union or configuration with,
// or of the alias to it: the declaration's name, lowered like a property's.
func GoMarshalName(h *Header) string { return GoName(h.File.Module, PropertyName(h.Name)) }

// GoPropertyConst is the name of the generated Go constant that holds a property's name.
func GoPropertyConst(h *Header, p *Property) string { return h.Name + "_" + p.Field }

// GoProperties returns the properties with a constant in generated Go: all but the variants of unions of resources.
func GoProperties(d Decl) []*Property {
	if u, ok := d.(*Union); ok && u.Tokens() != nil {
		return nil
	}
	return Properties(d)
}

// GoNames returns every name that generated Go code declares at package level for d, the declaration's own among them.
func GoNames(d Decl) []string {
	h := d.Head()
	own := GoName(h.File.Module, h.Name)
	names := []string{own}
	switch d := d.(type) {
	case *Resource:
		names = append(names, GoMarshalName(h), h.Name+"Provider", h.Name+"ProviderOps", "New"+h.Name+"Provider")
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
