package tfserve

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
)

// use is how an attribute is used, which decides who may set it.
type use int

const (
	input    use = iota // in a resource: programs set it, and the provider may set what they leave out
	output              // in an output: the provider sets it
	settings            // in the configuration of the provider, which has no outputs
)

// resourceSchema returns the schema of a resource, whose shape is s.
func resourceSchema(r *schema.Resource, s *shape) *tfprotov6.Schema {
	block := blockOf(&r.Header, s, input)
	block.Attributes = append(block.Attributes, &tfprotov6.SchemaAttribute{
		Name: idName, Type: tftypes.String, Computed: true, Description: "The id of the resource.",
		DescriptionKind: tfprotov6.StringKindMarkdown,
	})
	return &tfprotov6.Schema{Block: block}
}

// configSchema returns the schema of the provider's configuration, which has no attributes if c is nil.
func configSchema(c *schema.Config, s *shape) *tfprotov6.Schema {
	if c == nil {
		return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{}}
	}
	return &tfprotov6.Schema{Block: blockOf(&c.Header, s, settings)}
}

func blockOf(h *schema.Header, s *shape, u use) *tfprotov6.SchemaBlock {
	return &tfprotov6.SchemaBlock{
		Attributes: schemaAttributes(s, u), Description: h.Doc, DescriptionKind: tfprotov6.StringKindMarkdown,
		Deprecated: h.Deprecated != "", DeprecationMessage: deprecation(h.Deprecated),
	}
}

func schemaAttributes(s *shape, u use) []*tfprotov6.SchemaAttribute {
	all := make([]*tfprotov6.SchemaAttribute, len(s.attributes))
	for i, a := range s.attributes {
		all[i] = a.schema(s, u)
	}
	return all
}

// schema returns the schema of an attribute of an object with the shape in.
func (a *attribute) schema(in *shape, u use) *tfprotov6.SchemaAttribute {
	p := a.property
	if p == nil { // in an asset or archive
		p = &schema.Property{Name: a.name, Field: a.name, Optional: true, Out: a.name == hashName, Doc: contentDocs[a.name]}
	}
	if p.Out && u == input {
		u = output
	}
	sa := &tfprotov6.SchemaAttribute{
		Name: a.name, Computed: u == output || u == input && p.Optional && !in.isChoice(), Required: u != output && !p.Optional,
		Optional: u != output && p.Optional, Sensitive: p.Secret, Deprecated: p.Deprecated != "", DeprecationMessage: deprecation(p.Deprecated),
		Description: a.describe(p), DescriptionKind: tfprotov6.StringKindMarkdown,
	}
	if sa.NestedType = a.nested(u); sa.NestedType == nil {
		sa.Type = a.typ
		sa.Sensitive = sa.Sensitive || a.secret // Nothing inside can carry it.
	}
	return sa
}

// isChoice reports whether the attributes of an object exclude each other, so that the provider never sets those that a program
// leaves out.
func (s *shape) isChoice() bool { return s.union || s.signature != "" }

// nested returns the attributes of an object, or of the objects in a list or map, or nil for other types.
func (a *attribute) nested(u use) *tfprotov6.SchemaObject {
	s, nesting := a.shape, tfprotov6.SchemaObjectNestingModeSingle
	switch {
	case s.typ.Is(tftypes.DynamicPseudoType):
		return nil
	case s.kind == list:
		s, nesting = s.elem, tfprotov6.SchemaObjectNestingModeList
	case s.kind == mapping:
		s, nesting = s.elem, tfprotov6.SchemaObjectNestingModeMap
	}
	switch s.kind {
	case object:
		return &tfprotov6.SchemaObject{Attributes: schemaAttributes(s, u), Nesting: nesting}
	case anyType:
		parts := []*tfprotov6.SchemaAttribute{
			{Name: typeName, Type: tftypes.String, Description: "The resource's type, or for another package its type token."},
			{Name: idName, Type: tftypes.String, Description: "The resource's id."},
		}
		for _, part := range parts {
			part.DescriptionKind = tfprotov6.StringKindMarkdown
			part.Required, part.Computed = u != output, u == output
		}
		return &tfprotov6.SchemaObject{Attributes: parts, Nesting: nesting}
	}
	return nil
}

var contentDocs = map[string]string{
	"text":   "The content as text.",
	"path":   "The path of a file or, for an archive, a folder or an archive file.",
	"uri":    "The URI of the content.",
	"assets": "The files of the archive by their names.",
	hashName: "The hash of the content at `path`.",
}

func deprecation(replacement string) string {
	if replacement == "" {
		return ""
	}
	return "Use " + replacement + "."
}

// describe returns the documentation of a property with what its schema in OpenTofu does not tell.
func (a *attribute) describe(p *schema.Property) string {
	text := []string{p.Doc}
	add := func(format string, args ...any) { text = append(text, fmt.Sprintf(format, args...)) }
	inner := a.shape
	for inner.kind == list || inner.kind == mapping {
		inner = inner.elem
	}
	switch t := innermost(p.Type).(type) {
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Enum:
			add("One of %s.", valuesOf(d))
		case *schema.Resource:
			add("The id of a `%s`.", d.Token)
		case *schema.Union:
			if all := d.Tokens(); all != nil {
				add("One of `%s`.", strings.Join(all, "`, `"))
			}
		}
		if inner.kind == jsonText {
			add("Encode each `%s` with `jsonencode`, with the names of the IDL.", t.Decl.Head().Name)
		}
	}
	if p.Default != nil {
		add("The default is `%v`.", p.Default)
	}
	switch {
	case a.name == snake(p.Field)+"_":
		add("In the IDL, its name is `%s`, which OpenTofu reserves.", p.Name)
	case a.name != p.Name:
		add("In the IDL, its name is `%s`.", p.Name)
	}
	return strings.TrimSpace(strings.Join(text, "\n\n"))
}

// innermost returns the type of the elements of lists and maps.
func innermost(t schema.Type) schema.Type {
	switch u := schema.Underlying(t).(type) {
	case *schema.List:
		return innermost(u.Elem)
	case *schema.Map:
		return innermost(u.Elem)
	default:
		return u
	}
}

// valuesOf lists the values of an enum.
func valuesOf(e *schema.Enum) string {
	values := make([]string, len(e.Members))
	for i, m := range e.Members {
		values[i] = "`" + m.Value + "`"
	}
	return strings.Join(values, ", ")
}
