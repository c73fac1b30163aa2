package gostubs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// emitter makes one stub. Each of its methods reads from top to bottom like what it emits.
type emitter struct {
	printer
	scope   *scope
	source  *schema.File
	imports map[string]string // the names of what was used, by path
	err     error             // the first thing that went wrong
}

// emit returns the whole stub of a file.
func emit(source *schema.File, s *scope) ([]byte, error) {
	e := &emitter{scope: s, source: source, imports: map[string]string{}}
	e.declarations()
	if e.err != nil {
		return nil, e.err
	}
	var file printer
	file.line(gen.Header(gen.Slashes, source.Path()))
	file.line()
	for _, line := range docComment(source.Doc) {
		file.line(line)
	}
	file.line("package ", source.Module.GoName)
	file.buf.WriteString(importClause(e.imports))
	file.buf.Write(e.buf.Bytes())
	return file.buf.Bytes(), nil
}

func (e *emitter) declarations() {
	if slices.ContainsFunc(e.source.Decls, needsRuntime) {
		e.line()
		e.line("// This stub works with every runtime that has this constant.")
		e.line("const _ = ", e.lumi("StubVersion1"))
	}
	for _, d := range e.source.Decls {
		e.line()
		switch d := d.(type) {
		case *schema.Resource:
			e.resource(d)
		case *schema.Struct, *schema.Config:
			e.structure(d.Head(), schema.Properties(d))
		case *schema.Enum:
			e.enum(d)
		case *schema.Alias:
			e.doc(d.Doc)
			e.line("type ", e.name(d), " = ", e.goType(d.Target))
		case *schema.Const:
			e.doc(d.Doc)
			e.line("const ", e.name(d), " = ", literal(d))
		}
	}
}

func needsRuntime(d schema.Decl) bool {
	switch d.(type) {
	case *schema.Resource, *schema.Struct, *schema.Config:
		return true
	}
	return false
}

// doc emits the documentation of a declaration.
func (e *emitter) doc(text string) {
	for _, line := range docComment(text) {
		e.line(line)
	}
}

// structure emits a struct under its own name, and under the one that the marshalling structs of resources have.
func (e *emitter) structure(h *schema.Header, properties []*schema.Property) {
	name, lowered := schema.GoName(e.source.Module, h.Name), schema.GoMarshalName(h)
	e.doc(h.Doc)
	e.fields(name, properties)
	if lowered != name {
		e.line()
		e.line("type ", lowered, " = ", name)
	}
	e.propertyNames(h, properties)
	e.walk(h, name, properties)
}

// fields emits the struct itself.
func (e *emitter) fields(name string, properties []*schema.Property) {
	if len(properties) == 0 {
		e.line("type ", name, " struct{}")
		return
	}
	var rows []row
	for _, p := range properties {
		rows = append(rows, row{doc: innerComment(p.Doc), cells: []string{p.Field, e.fieldType(p)}})
	}
	e.line("type ", name, " struct {")
	e.table(rows)
	e.line("}")
}

// propertyNames emits a constant for each property.
func (e *emitter) propertyNames(h *schema.Header, properties []*schema.Property) {
	if len(properties) == 0 {
		return
	}
	var rows []row
	for _, p := range properties {
		rows = append(rows, row{cells: []string{schema.GoPropertyConst(h, p), "= " + strconv.Quote(p.Name)}})
	}
	e.line()
	e.line("// The names of the properties of ", h.Name, ".")
	e.line("const (")
	e.table(rows)
	e.line(")")
}

// walk emits the method that shows the properties to the runtime.
func (e *emitter) walk(h *schema.Header, name string, properties []*schema.Property) {
	self, props := e.scope.self, e.scope.props
	e.line()
	e.line("// Lumi implements lumi.Object.")
	if len(properties) == 0 {
		e.line("func (*", name, ") Lumi(*", e.lumi("Props"), ") {}")
		return
	}
	e.line("func (", self, " *", name, ") Lumi(", props, " *", e.lumi("Props"), ") {")
	for _, p := range properties {
		e.line("\t", e.lumi(verb(p)), "(", props, ", ", schema.GoPropertyConst(h, p), ", &", self, ".", p.Field, ", ",
			e.codec(p.Type), e.flags(p), ")")
	}
	e.line("}")
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

// flags are the further arguments that say the rest of a property's options.
func (e *emitter) flags(p *schema.Property) string {
	args := ""
	for _, flag := range p.Flags() {
		args += ", " + e.lumi(strings.ToUpper(flag[:1])+flag[1:])
	}
	return args
}

// enum emits a string type, its values, and what the runtime asks of it.
func (e *emitter) enum(d *schema.Enum) {
	name, self := schema.GoName(e.source.Module, d.Name), e.scope.self
	var rows []row
	var members, values []string
	for _, m := range d.Members {
		member, value := schema.GoName(e.source.Module, m.Name), strconv.Quote(m.Value)
		rows = append(rows, row{doc: innerComment(m.Doc), cells: []string{member, name, "= " + value}})
		members, values = append(members, member), append(values, value)
	}
	e.doc(d.Doc)
	e.line("type ", name, " string")
	e.line()
	e.line("// The values of ", name, ".")
	e.line("const (")
	e.table(rows)
	e.line(")")
	e.line()
	e.line("// Valid reports whether the value is one of the enum's.")
	e.line("func (", self, " ", name, ") Valid() bool {")
	e.line("\tswitch ", self, " {")
	e.line("\tcase ", list(members, "\t\t"), ":")
	e.line("\t\treturn true")
	e.line("\t}")
	e.line("\treturn false")
	e.line("}")
	e.line()
	e.line("// Values returns the enum's values in the order of the IDL.")
	e.line("func (", name, ") Values() []string {")
	e.line("\treturn []string{")
	e.line("\t\t", list(values, "\t\t"), ",")
	e.line("\t}")
	e.line("}")
	e.line()
	e.line("// Lumi implements lumi.EnumValue.")
	e.line("func (", self, " *", name, ") Lumi() *string { return (*string)(", self, ") }")
}

// literal is a constant's value in Go. Numbers stay untyped.
func literal(c *schema.Const) string {
	text := c.Literal(strconv.Quote)
	if _, float := c.Value.(float64); float && !strings.ContainsAny(text, ".e") {
		text += ".0" // so that it divides as a float64 does
	}
	return text
}
