package tfserve

import (
	"encoding/json"
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

// resourceSchema returns the schema of a resource. Its version is the number of former names: of a state with the current version,
// engines pass only the current attributes to the provider.
func (b *shapes) resourceSchema(r *schema.Resource) *tfprotov6.Schema {
	s := b.resource(r)
	block := blockOf(r, s, input)
	block.Attributes = append(block.Attributes, &tfprotov6.SchemaAttribute{
		Name: idName, Type: tftypes.String, Computed: true, Description: "The id of the resource.",
		DescriptionKind: tfprotov6.StringKindMarkdown,
	})
	version := formerNames(r)
	for inner := range b.reachable(r) {
		version += formerNames(inner)
	}
	return &tfprotov6.Schema{Version: version, Block: block}
}

func formerNames(d schema.Decl) (n int64) {
	for _, p := range schema.Properties(d) {
		n += int64(len(p.Was))
	}
	return n
}

// blockOf returns the attributes and documentation of a resource or configuration, whose shape is s.
func blockOf(d schema.Decl, s *shape, u use) *tfprotov6.SchemaBlock {
	deprecated := d.Head().Deprecated
	return &tfprotov6.SchemaBlock{
		Attributes: schemaAttributes(s, u), Description: schema.TypeDoc(d), DescriptionKind: tfprotov6.StringKindMarkdown,
		Deprecated: deprecated != "", DeprecationMessage: deprecated,
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
	if p.Out && u == input {
		u = output
	}
	sa := &tfprotov6.SchemaAttribute{
		Name: a.name, Computed: u == output || u == input && p.Optional && !in.choice, Required: u != output && !p.Optional,
		Optional: u != output && p.Optional, Sensitive: p.Secret, Deprecated: p.Deprecated != "", DeprecationMessage: p.Deprecated,
		Description: a.describe(), DescriptionKind: tfprotov6.StringKindMarkdown,
	}
	if sa.NestedType = a.nested(u); sa.NestedType == nil {
		sa.Type = a.typ
		sa.Sensitive = sa.Sensitive || a.secret // Nothing inside can carry it.
	}
	return sa
}

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
	if !s.isObject() {
		return nil
	}
	return &tfprotov6.SchemaObject{Attributes: schemaAttributes(s, u), Nesting: nesting}
}

// describe returns the documentation of an attribute with what its schema in OpenTofu does not tell.
func (a *attribute) describe() string {
	p := a.property
	text := []string{schema.PropertyDoc(p)}
	add := func(format string, args ...any) { text = append(text, fmt.Sprintf(format, args...)) }
	if ref, ok := innermost(p.Type).(*schema.Ref); ok {
		inner := a.shape
		for inner.kind == list || inner.kind == mapping {
			inner = inner.elem
		}
		switch d := ref.Decl.(type) {
		case *schema.Enum:
			add("One of %s.", oneOf(d.Members, func(m *schema.Member) string { return m.Value }))
		case *schema.Resource:
			add("The id of the `%s`.", inner.names.name(d.Token))
		}
		switch inner.kind {
		case anyType:
			add("One of %s.", oneOf(schema.Properties(ref.Decl), func(p *schema.Property) string {
				return inner.names.name(p.Type.(*schema.Ref).Decl.(*schema.Resource).Token)
			}))
		case jsonText:
			add("Encode each `%s` with `jsonencode`.", ref.Decl.Head().Name)
		}
	}
	if p.Default != nil {
		literal, _ := json.Marshal(p.Default) // a bool, a number, or a string
		add("The default is `%s`.", literal)
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

// maxListed is the maximum number of alternatives listed in documentation. Some enums have hundreds.
const maxListed = 12

// oneOf lists alternatives.
func oneOf[T any](all []T, name func(T) string) string {
	var list []string
	for _, one := range all[:min(len(all), maxListed)] {
		list = append(list, "`"+name(one)+"`")
	}
	if more := len(all) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("%d others", more))
	}
	return strings.Join(list, ", ")
}
