package gostubs

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// emitter emits one stub. The statements of each method are in the order of the emitted code.
type emitter struct {
	*jen.File
	scope  *scope
	source *schema.File
	err    error // the first error, if any
}

// emit returns the stub for a file. The syntax tree is garbage once emit returns, which limits memory use.
func emit(source *schema.File, s *scope) ([]byte, error) {
	e := &emitter{File: s.file(source.Module), scope: s, source: source}
	e.HeaderComment(gen.Header(gen.Slashes, source.Path()))
	if doc := settled(source.Doc); doc != "" {
		e.PackageComment(commentLines(doc))
	}
	e.declarations()
	var content bytes.Buffer
	if e.err == nil {
		e.err = e.Render(&content)
	}
	if e.err != nil {
		return nil, fmt.Errorf("%s: %w", source.Path(), e.err)
	}
	return contextImport.ReplaceAll(content.Bytes(), []byte("\nimport (\n\t\"context\"\n\n$1")), nil
}

// contextImport matches the import of package context. Jennifer sorts all imports into one block; stubs separate this
// one because it is the only import from the standard library.
var contextImport = regexp.MustCompile(`\nimport \(\n((?:\t.*\n)*?)\t"context"\n`)

func (e *emitter) declarations() {
	if slices.ContainsFunc(e.source.Decls, needsRuntime) {
		e.doc("This stub works with every runtime that declares this constant.")
		e.Const().Id("_").Op("=").Add(lumi(e.version()))
	}
	for _, d := range e.source.Decls {
		switch d := d.(type) {
		case *schema.Resource:
			e.resource(d)
		case *schema.Function:
			e.function(d)
		case *schema.Struct, *schema.Config:
			e.structure(d, schema.Properties(d))
		case *schema.Union:
			e.union(d)
		case *schema.Enum:
			e.enum(d)
		case *schema.Alias:
			e.doc(described(schema.AliasDoc(d), d.Deprecated))
			e.Type().Add(e.name(d)).Op("=").Add(e.goType(d.Target))
		case *schema.Const:
			e.doc(described(d.Doc, d.Deprecated))
			e.Const().Add(e.name(d)).Op("=").Add(literal(d))
		}
	}
}

// version returns the name of the constant that identifies the oldest runtime able to run the stub.
func (e *emitter) version() string {
	for _, d := range e.source.Decls {
		if needsVersion3(d) || slices.ContainsFunc(schema.Properties(d), e.scope.constrained(d.Head())) {
			return "StubVersion3"
		}
	}
	return "StubVersion1"
}

func needsRuntime(d schema.Decl) bool {
	return slices.Contains([]string{"resource", "struct", "config", "union", "function"}, d.Head().Kind)
}

// doc emits a blank line and the documentation of the next declaration.
func (e *emitter) doc(text string) {
	e.Line()
	if text = settled(text); text != "" {
		e.Comment(commentLines(text))
	}
}

// method starts a method of a type.
func (e *emitter) method(receiver *jen.Statement, name string, params ...jen.Code) *jen.Statement {
	return e.Func().Params(receiver).Id(name).Params(params...)
}

// structure emits a struct, its lower-case alias, its property names, and the method that describes it.
func (e *emitter) structure(d schema.Decl, properties []*schema.Property) {
	h := d.Head()
	name := schema.GoName(e.source.Module, h.Name)
	e.doc(described(schema.TypeDoc(d), h.Deprecated))
	e.fields(name, properties)
	e.lowered(h, name)
	e.propertyNames(h, properties)
	e.walk(h, name, properties, schema.Rules(d))
}

// lowered emits the lower-case alias of a struct, which follows the naming of resource structs.
func (e *emitter) lowered(h *schema.Header, name string) {
	if lowered := schema.GoMarshalName(h); lowered != name {
		e.doc("")
		e.Type().Id(lowered).Op("=").Id(name)
	}
}

// fields emits the struct type.
func (e *emitter) fields(name string, properties []*schema.Property) {
	e.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, p := range properties {
			document(g, described(schema.PropertyDoc(p), p.Deprecated))
			g.Id(p.Field).Add(e.fieldType(p))
		}
	})
}

// propertyNames emits a constant for the name of each property.
func (e *emitter) propertyNames(h *schema.Header, properties []*schema.Property) {
	if len(properties) == 0 {
		return
	}
	e.doc("Property names of " + h.Name + ".")
	e.Const().DefsFunc(func(g *jen.Group) {
		for _, p := range properties {
			g.Id(schema.GoPropertyConst(h, p)).Op("=").Lit(p.Name)
		}
	})
}

// codecs emits variables for codecs that have options beyond their type, so that each codec is created only once.
func (e *emitter) codecs(h *schema.Header, properties []*schema.Property) {
	if !slices.ContainsFunc(properties, e.scope.constrained(h)) {
		return
	}
	e.doc("Property codecs of " + h.Name + ".")
	e.Var().DefsFunc(func(g *jen.Group) {
		for _, p := range properties {
			if name := e.scope.codec(h, p); name != "" {
				g.Id(name).Op("=").Add(e.codec(p.Type, optionsOf(p)...))
			}
		}
	})
}

// rules emits a variable for the rules of a declaration.
func (e *emitter) rules(h *schema.Header, rules []*schema.Rule) {
	if len(rules) == 0 {
		return
	}
	e.doc("Rules of " + h.Name + ".")
	var texts []jen.Code
	for _, r := range rules {
		expr := jen.Lit(r.JSON())
		if strconv.CanBackquote(r.JSON()) {
			expr = jen.Id("`" + r.JSON() + "`")
		}
		texts = append(texts, jen.Lit(r.Message).Op(",").Add(expr))
	}
	call := jen.Options{Open: "(\n", Separator: ",\n", Close: ",\n)"}
	e.Var().Id(e.scope.rules[h.Name]).Op("=").Add(lumi("Rules")).Custom(call, texts...)
}

// codecOf returns the expression for the codec of a property.
func (e *emitter) codecOf(h *schema.Header, p *schema.Property) jen.Code {
	if name := e.scope.codec(h, p); name != "" {
		return jen.Id(name)
	}
	return e.codec(p.Type)
}

// walk emits the method that describes the properties to the runtime.
func (e *emitter) walk(h *schema.Header, name string, properties []*schema.Property, rules []*schema.Rule) {
	e.codecs(h, properties)
	e.rules(h, rules)
	self, props := jen.Id(e.scope.self), jen.Id(e.scope.props)
	if len(properties) == 0 {
		self = jen.Null()
	}
	if len(properties) == 0 && h.Deprecated == "" && len(rules) == 0 {
		props = jen.Null()
	}
	receiver, param := jen.Add(self).Op("*").Id(name), jen.Add(props).Op("*").Add(lumi("Props"))
	e.doc("Lumi implements lumi.Object.")
	e.method(receiver, "Lumi", param).BlockFunc(func(g *jen.Group) {
		if h.Deprecated != "" {
			g.Add(props).Dot("Deprecated").Call(jen.Lit(h.Deprecated))
		}
		if len(rules) > 0 {
			g.Add(props).Dot("Rules").Call(jen.Id(e.scope.rules[h.Name]))
		}
		for _, p := range properties {
			g.Add(lumi(verb(p))).CallFunc(func(g *jen.Group) {
				g.Add(props)
				g.Id(schema.GoPropertyConst(h, p))
				g.Op("&").Add(self).Dot(p.Field)
				g.Add(e.codecOf(h, p))
				for _, flag := range p.Flags() {
					g.Add(lumi(strings.ToUpper(flag[:1]) + flag[1:]))
				}
			})
		}
		for _, r := range schema.Relations(properties) {
			rule := strings.ToUpper(r.Rule[:1]) + r.Rule[1:]
			if h.Kind == "union" {
				rule = "OneOf"
			}
			g.Add(props).Dot(rule).CallFunc(func(g *jen.Group) {
				for _, p := range r.Properties {
					g.Id(schema.GoPropertyConst(h, p))
				}
			})
		}
	})
}

// verb returns the name of the runtime function that describes a property.
func verb(p *schema.Property) string {
	switch {
	case isPointer(p):
		return "Optional"
	case p.Optional:
		return "Nilable"
	}
	return "Required"
}

// enum emits a string type, its constants, and the methods that the runtime requires.
func (e *emitter) enum(d *schema.Enum) {
	name, self := schema.GoName(e.source.Module, d.Name), e.scope.self
	var members, values []string
	for _, m := range d.Members {
		members = append(members, schema.GoName(e.source.Module, m.Name))
		values = append(values, strconv.Quote(m.Value))
	}
	e.doc(described(d.Doc, d.Deprecated))
	e.Type().Id(name).String()
	e.doc("The values of " + name + ".")
	e.Const().DefsFunc(func(g *jen.Group) {
		for i, m := range d.Members {
			document(g, described(m.Doc, m.Deprecated))
			g.Id(members[i]).Id(name).Op("=").Id(values[i])
		}
	})
	e.doc("Valid reports whether the value is declared by the enum.")
	e.method(jen.Id(self).Id(name), "Valid").Bool().Block(
		jen.Switch(jen.Id(self)).Block(
			jen.Case(wrap(members)...).Block(jen.Return(jen.True())),
		),
		jen.Return(jen.False()),
	)
	e.doc("Values returns the enum's values in declaration order.")
	e.method(jen.Id(name), "Values").Index().String().Block(
		jen.Return(jen.Index().String().Custom(jen.Options{Open: "{\n", Separator: ",", Close: ",\n}"}, wrap(values)...)),
	)
	e.deprecatedValues(d, name, members)
	e.doc("Lumi implements lumi.EnumValue.")
	e.method(jen.Id(self).Op("*").Id(name), "Lumi").Op("*").String().Add(inBraces(
		jen.Return(jen.Parens(jen.Op("*").String()).Parens(jen.Id(self))),
	))
}

// wrap breaks a list of items into lines of about 100 columns. Gofmt preserves these line breaks.
func wrap(items []string) []jen.Code {
	var codes []jen.Code
	width := -2 // the first item has no separator
	for i, item := range items {
		code := jen.Id(item)
		if width += len(item) + 2; width > 100 && i > 0 {
			code, width = jen.Line().Id(item), len(item)
		}
		codes = append(codes, code)
	}
	return codes
}

// inBraces emits code as a block or struct body on a single line.
func inBraces(code ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}"}, code...)
}

// literal returns the value of a constant as a Go literal. For integers, jen.Lit would add a type conversion.
func literal(c *schema.Const) jen.Code {
	switch c.Value.(type) {
	case int64, uint64:
		return jen.Id(fmt.Sprint(c.Value))
	}
	return jen.Lit(c.Value)
}
