package gostubs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// fieldType returns the Go type of the field for a property.
func (e *emitter) fieldType(p *schema.Property) jen.Code {
	if isPointer(p) {
		return pointer(e.goType(p.Type))
	}
	return e.goType(p.Type)
}

func pointer(to jen.Code) *jen.Statement { return jen.Op("*").Add(to) }

// isPointer reports whether the field for a property is a pointer. Lists, maps, and any can themselves be nil.
func isPointer(p *schema.Property) bool { return (p.Pointer || p.Optional) && !p.Nilable() }

// goType returns the Go type for a type of the model.
func (e *emitter) goType(t schema.Type) *jen.Statement {
	switch t := t.(type) {
	case schema.Primitive:
		if p := primitives[t]; p.path != "" {
			return jen.Qual(p.path, p.name)
		}
		return jen.Id(primitives[t].name)
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
	panic(fmt.Sprintf("gostubs: unexpected type %T", t))
}

// codec returns the expression for the codec of a type with options. The constraints of aliases come first.
func (e *emitter) codec(t schema.Type, options ...jen.Code) *jen.Statement {
	if ref, ok := t.(*schema.Ref); ok {
		if alias, ok := ref.Decl.(*schema.Alias); ok {
			return e.codec(alias.Target, append(constraints(alias.Constraints), options...)...)
		}
	}
	if len(options) > 0 {
		return lumi("With").Call(append([]jen.Code{e.codec(t)}, options...)...)
	}
	switch t := t.(type) {
	case schema.Primitive:
		return lumi(primitives[t].codec)
	case *schema.List:
		return lumi("List").Call(e.codec(t.Elem))
	case *schema.Map:
		if key, ok := schema.Underlying(t.Key).(*schema.Ref); ok {
			return lumi("EnumMap").Call(e.codec(key), e.codec(t.Elem))
		}
		if schema.ConstraintsOf(t.Key) != nil {
			return lumi("KeyMap").Call(e.codec(t.Key), e.codec(t.Elem))
		}
		return lumi("Map").Call(e.codec(t.Elem))
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return lumi("Capability").Call(append([]jen.Code{jen.Lit(d.Token)}, literals(d.Was)...)...)
		case *schema.Enum:
			return lumi("Enum").Types(pointer(e.name(d))).Call()
		case *schema.Struct:
			return lumi("Struct").Types(pointer(e.name(d))).Call()
		case *schema.Union:
			codec := "Union"
			if d.Tokens() != nil {
				codec = "CapabilityUnion"
			}
			return lumi(codec).Types(pointer(e.name(d))).Call()
		}
	}
	panic(fmt.Sprintf("gostubs: unexpected type %T", t))
}

// constraints returns the options for constraints.
func constraints(of *schema.Constraints) []jen.Code {
	var options []jen.Code
	for name, arg := range of.All() {
		args := []jen.Code{jen.Lit(arg)}
		switch arg := arg.(type) {
		case bool:
			args = nil
		case float64:
			args[0] = jen.Id(number(arg)) // jen.Lit would add a decimal point
		case string:
			if strings.Contains(arg, `\`) && strconv.CanBackquote(arg) {
				args[0] = jen.Id("`" + arg + "`")
			}
		}
		options = append(options, lumi(strings.ToUpper(name[:1])+name[1:]).Call(args...))
	}
	return options
}

// number formats n in the shortest form.
func number(n float64) string {
	text, _ := json.Marshal(n) // numbers in the model are finite
	return string(text)
}

// primitives maps each primitive type to its Go import path, if any, its Go name, and the name of its runtime codec.
var primitives = map[schema.Primitive]struct{ path, name, codec string }{
	schema.Bool:        {"", "bool", "Bool"},
	schema.Number:      {"", "float64", "Number"},
	schema.Int:         {"", "int", "Int"},
	schema.String:      {"", "string", "String"},
	schema.Any:         {"", "any", "Any"},
	schema.Asset:       {lumiPath, "Asset", "AssetValue"},
	schema.Archive:     {lumiPath, "Archive", "ArchiveValue"},
	schema.AnyResource: {urnPath, "URN", "AnyResource"},
}

// lumi returns a qualified name from the runtime package.
func lumi(name string) *jen.Statement { return jen.Qual(lumiPath, name) }

// name returns a qualified reference to a declaration in this or another module.
func (e *emitter) name(d schema.Decl) *jen.Statement {
	h := d.Head()
	other := h.File.Module
	if other != e.source.Module && !h.Exported() && e.err == nil {
		e.err = fmt.Errorf("the type %s of module %s is not exported, so Go code here cannot name it",
			h.Name, other.Token())
	}
	return jen.Qual(e.scope.path(other), schema.GoName(other, h.Name))
}
