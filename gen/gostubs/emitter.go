package gostubs

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// emitter makes one stub. It reads from top to bottom like what it emits.
type emitter struct {
	*scope
	source *schema.File
	out    *jen.File
	// err is the first thing that went wrong.
	err error
}

func newEmitter(source *schema.File, s *scope) *emitter {
	out := jen.NewFile(source.Module.GoName)
	s.register(out)
	return &emitter{scope: s, source: source, out: out}
}

// file returns the whole file.
func (e *emitter) file() ([]byte, error) {
	e.out.HeaderComment(gen.Header(e.source.Path()))
	for _, line := range commentLines(e.source.Doc) {
		e.out.PackageComment(line)
	}
	if e.walks() {
		e.out.Comment("This stub works with runtimes that have this constant.")
		e.out.Const().Id("_").Op("=").Qual(lumiPath, "StubVersion1")
	}
	for _, d := range e.source.Decls {
		e.out.Line()
		switch d := d.(type) {
		case *schema.Resource:
			e.resource(d)
		case *schema.Struct:
			e.structure(&d.Header, d.Properties)
		case *schema.Config:
			e.structure(&d.Header, d.Properties)
		case *schema.Enum:
			e.enum(d)
		case *schema.Alias:
			e.doc(d.Doc)
			e.out.Type().Add(e.name(d)).Op("=").Add(e.goType(d.Target))
		case *schema.Const:
			e.doc(d.Doc)
			e.out.Const().Add(e.name(d)).Op("=").Op(literal(d.Value))
		}
	}
	if e.err != nil {
		return nil, e.err
	}
	var content bytes.Buffer
	if err := e.out.Render(&content); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// walks reports whether the file declares anything that the runtime walks over.
func (e *emitter) walks() bool {
	for _, d := range e.source.Decls {
		switch d.(type) {
		case *schema.Resource, *schema.Struct, *schema.Config:
			return true
		}
	}
	return false
}

// doc emits documentation.
func (e *emitter) doc(text string) {
	for _, line := range comment(text) {
		e.out.Add(line)
	}
}

// structure emits a struct under its own name, and under the one that the marshalling structs of resources have.
func (e *emitter) structure(h *schema.Header, properties []*schema.Property) {
	name, lowered := schema.GoName(e.source.Module, h.Name), schema.GoMarshalName(h)
	e.doc(h.Doc)
	e.fields(name, properties)
	if lowered != name {
		e.out.Line()
		e.out.Type().Id(lowered).Op("=").Id(name)
	}
	e.propertyNames(h, properties)
	e.walk(h, name, properties)
}

// fields emits the struct itself.
func (e *emitter) fields(name string, properties []*schema.Property) {
	e.out.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, p := range properties {
			for _, line := range comment(p.Doc) {
				g.Add(line)
			}
			g.Id(p.Field).Add(e.fieldType(p))
		}
	})
}

// propertyNames emits a constant for each property.
func (e *emitter) propertyNames(h *schema.Header, properties []*schema.Property) {
	if len(properties) == 0 {
		return
	}
	e.out.Line()
	e.out.Commentf("// The names of the properties of %s.", h.Name)
	e.out.Const().DefsFunc(func(g *jen.Group) {
		for _, p := range properties {
			g.Id(schema.GoPropertyConst(h, p)).Op("=").Lit(p.Name)
		}
	})
}

// walk emits the method that shows the properties to the runtime.
func (e *emitter) walk(h *schema.Header, name string, properties []*schema.Property) {
	self, props := e.locals.self, e.locals.props
	e.out.Line()
	e.out.Comment("// Lumi implements lumi.Object.")
	e.out.Func().Params(jen.Id(self).Op("*").Id(name)).Id("Lumi").Params(
		jen.Id(props).Op("*").Qual(lumiPath, "Props"),
	).BlockFunc(func(g *jen.Group) {
		for _, p := range properties {
			args := []jen.Code{
				jen.Id(props), jen.Id(schema.GoPropertyConst(h, p)),
				jen.Op("&").Id(self).Dot(p.Field), e.codec(p.Type),
			}
			g.Qual(lumiPath, verb(p)).Call(append(args, flags(p)...)...)
		}
	})
}

// verb is the function of the runtime that shows a property.
func verb(p *schema.Property) string {
	switch {
	case isPointer(p):
		return "Optional"
	case p.Optional:
		return "Nilable"
	}
	return "Required"
}

// flags are the names of a property's other options in the runtime.
func flags(p *schema.Property) []jen.Code {
	var set []jen.Code
	add := func(on bool, name string) {
		if on {
			set = append(set, jen.Qual(lumiPath, name))
		}
	}
	add(p.Replaces, "Replaces")
	add(p.Out, "Out")
	add(p.In, "In")
	add(p.Secret, "Secret")
	return set
}

// enum emits a string type, its values, and what the runtime asks of it.
func (e *emitter) enum(d *schema.Enum) {
	name, self := schema.GoName(e.source.Module, d.Name), e.locals.self
	members, values := make([]jen.Code, len(d.Members)), make([]jen.Code, len(d.Members))
	for i, m := range d.Members {
		values[i] = jen.Lit(m.Value)
		members[i] = jen.Id(schema.GoName(e.source.Module, m.Name))
	}
	e.doc(d.Doc)
	e.out.Type().Id(name).String()
	e.out.Line()
	e.out.Commentf("// The values of %s.", name)
	e.out.Const().DefsFunc(func(g *jen.Group) {
		for i, m := range d.Members {
			for _, line := range comment(m.Doc) {
				g.Add(line)
			}
			g.Add(members[i]).Id(name).Op("=").Lit(m.Value)
		}
	})
	e.out.Line()
	e.out.Comment("// Valid reports whether the value is one of the enum's.")
	e.out.Func().Params(jen.Id(self).Id(name)).Id("Valid").Params().Bool().Block(
		jen.Switch(jen.Id(self)).Block(
			jen.Case(members...).Block(jen.Return(jen.True())),
		),
		jen.Return(jen.False()),
	)
	e.out.Line()
	e.out.Comment("// Values returns the enum's values in the order of the IDL.")
	e.out.Func().Params(jen.Id(name)).Id("Values").Params().Index().String().Block(
		jen.Return(jen.Index().String().Values(values...)),
	)
	e.out.Line()
	e.out.Comment("// Lumi implements lumi.EnumValue.")
	e.out.Func().Params(jen.Id(self).Op("*").Id(name)).Id("Lumi").Params().Op("*").String().Block(
		jen.Return(jen.Parens(jen.Op("*").String()).Parens(jen.Id(self))),
	)
}

// literal is a constant's value in Go. All but bools and strings are untyped numbers.
func literal(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0" // so that it divides as a float64 does
		}
		return text
	}
	panic("gostubs: a constant is neither a bool, a string nor a number")
}
