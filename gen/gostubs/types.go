package gostubs

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// fieldType is the type of a property's field in Go.
func (e *emitter) fieldType(p *schema.Property) jen.Code {
	if isPointer(p) {
		return jen.Op("*").Add(e.goType(p.Type))
	}
	return e.goType(p.Type)
}

// isPointer reports whether a property's field is a pointer. Lists, maps and anys say themselves that they are absent.
func isPointer(p *schema.Property) bool { return (p.Pointer || p.Optional) && !p.Nilable() }

// goType is the Go type that a type of the model is in stubs.
func (e *emitter) goType(t schema.Type) *jen.Statement {
	switch t := t.(type) {
	case schema.Primitive:
		return goPrimitive(t)
	case *schema.List:
		return jen.Index().Add(e.goType(t.Elem))
	case *schema.Map:
		return jen.Map(e.goType(t.Key)).Add(e.goType(t.Elem))
	case *schema.Ref:
		if _, capability := t.Decl.(*schema.Resource); capability {
			return jen.Qual(urnPath, "URN")
		}
		return e.name(t.Decl)
	}
	panic(fmt.Sprintf("gostubs: no such type: %T", t))
}

func goPrimitive(t schema.Primitive) *jen.Statement {
	switch t {
	case schema.Bool:
		return jen.Bool()
	case schema.Number:
		return jen.Float64()
	case schema.String:
		return jen.String()
	case schema.Any:
		return jen.Any()
	case schema.Asset:
		return jen.Qual(lumiPath, "Asset")
	case schema.Archive:
		return jen.Qual(lumiPath, "Archive")
	case schema.AnyResource:
		return jen.Qual(urnPath, "URN")
	}
	panic("gostubs: no such primitive type: " + string(t))
}

// codec is the expression that makes the codec of a type.
func (e *emitter) codec(t schema.Type) *jen.Statement {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		return jen.Qual(lumiPath, primitiveCodecs[t])
	case *schema.List:
		return jen.Qual(lumiPath, "List").Call(e.codec(t.Elem))
	case *schema.Map:
		if key, ok := schema.Underlying(t.Key).(*schema.Ref); ok {
			return jen.Qual(lumiPath, "EnumMap").Call(e.codec(key), e.codec(t.Elem))
		}
		return jen.Qual(lumiPath, "Map").Call(e.codec(t.Elem))
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return jen.Qual(lumiPath, "Capability").Call(jen.Lit(d.Token))
		case *schema.Enum:
			return jen.Qual(lumiPath, "Enum").Types(jen.Op("*").Add(e.name(d))).Call()
		case *schema.Struct:
			return jen.Qual(lumiPath, "Struct").Types(jen.Op("*").Add(e.name(d))).Call()
		}
	}
	panic(fmt.Sprintf("gostubs: no such type: %T", t))
}

var primitiveCodecs = map[schema.Primitive]string{
	schema.Bool:        "Bool",
	schema.Number:      "Number",
	schema.String:      "String",
	schema.Any:         "Any",
	schema.Asset:       "AssetValue",
	schema.Archive:     "ArchiveValue",
	schema.AnyResource: "AnyResource",
}

// name refers to a declaration, of this module or of another.
func (e *emitter) name(d schema.Decl) *jen.Statement {
	h := d.Head()
	other := h.File.Module
	name := schema.GoName(other, h.Name)
	if other == e.source.Module {
		return jen.Id(name)
	}
	if !h.Exported() && e.err == nil {
		e.err = fmt.Errorf("the type %s of module %s is not exported, so that Go code here cannot name it",
			h.Name, other.Token())
	}
	return jen.Qual(e.scope.paths[other], name)
}
