package gostubs

import (
	"fmt"
	"strconv"

	"github.com/lumi-idl/lumi/idl/schema"
)

// fieldType is the type of a property's field in Go.
func (e *emitter) fieldType(p *schema.Property) string {
	if isPointer(p) {
		return "*" + e.goType(p.Type)
	}
	return e.goType(p.Type)
}

// isPointer reports whether a property's field is a pointer. Lists, maps and anys say themselves that they are absent.
func isPointer(p *schema.Property) bool { return (p.Pointer || p.Optional) && !p.Nilable() }

// goType is what a type of the model is in stubs.
func (e *emitter) goType(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		if p := primitives[t]; p.path != "" {
			return e.use(p.path, p.name)
		}
		return primitives[t].name
	case *schema.List:
		return "[]" + e.goType(t.Elem)
	case *schema.Map:
		return "map[" + e.goType(t.Key) + "]" + e.goType(t.Elem)
	case *schema.Ref:
		if _, capability := t.Decl.(*schema.Resource); capability {
			return e.use(urnPath, "URN")
		}
		return e.name(t.Decl)
	}
	panic(fmt.Sprintf("gostubs: no such type: %T", t))
}

// codec is the expression that makes the codec of a type.
func (e *emitter) codec(t schema.Type) string {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		return e.lumi(primitives[t].codec)
	case *schema.List:
		return e.lumi("List") + "(" + e.codec(t.Elem) + ")"
	case *schema.Map:
		if key, ok := schema.Underlying(t.Key).(*schema.Ref); ok {
			return e.lumi("EnumMap") + "(" + e.codec(key) + ", " + e.codec(t.Elem) + ")"
		}
		return e.lumi("Map") + "(" + e.codec(t.Elem) + ")"
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return e.lumi("Capability") + "(" + strconv.Quote(d.Token) + ")"
		case *schema.Enum:
			return e.lumi("Enum") + "[*" + e.name(d) + "]()"
		case *schema.Struct:
			return e.lumi("Struct") + "[*" + e.name(d) + "]()"
		}
	}
	panic(fmt.Sprintf("gostubs: no such type: %T", t))
}

// primitives are the primitive types in Go: the package, if there is one, and the name of each, and the name of its codec
// in the runtime.
var primitives = map[schema.Primitive]struct{ path, name, codec string }{
	schema.Bool:        {"", "bool", "Bool"},
	schema.Number:      {"", "float64", "Number"},
	schema.String:      {"", "string", "String"},
	schema.Any:         {"", "any", "Any"},
	schema.Asset:       {lumiPath, "Asset", "AssetValue"},
	schema.Archive:     {lumiPath, "Archive", "ArchiveValue"},
	schema.AnyResource: {urnPath, "URN", "AnyResource"},
}

// lumi names something of the runtime, which imports it.
func (e *emitter) lumi(name string) string { return e.use(lumiPath, name) }

// use names something of another package, which imports it.
func (e *emitter) use(path, name string) string {
	alias := e.scope.aliases[path]
	e.imports[path] = alias
	return alias + "." + name
}

// name refers to a declaration, of this module or of another.
func (e *emitter) name(d schema.Decl) string {
	h := d.Head()
	other := h.File.Module
	name := schema.GoName(other, h.Name)
	if other == e.source.Module {
		return name
	}
	if !h.Exported() && e.err == nil {
		e.err = fmt.Errorf("the type %s of module %s is not exported, so that Go code here cannot name it",
			h.Name, other.Token())
	}
	return e.use(e.scope.paths[other], name)
}
