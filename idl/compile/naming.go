package compile

import (
	"go/ast"
	"slices"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

const (
	markerTag   = "marker tag"
	nameOptions = "the marker accepts nameScope=<name>, and constraints of strings such as maxLength=<count>"
)

// parseNaming parses the tag of the marker NamedResource, which describes the names that programs choose.
func (c *checker) parseNaming(tag *ast.BasicLit) options {
	elements, _ := c.tagElements(tag)
	o := c.parseOptions(markerTag, elements, nil)
	o.list = slices.DeleteFunc(o.list, func(s setOption) bool {
		foreign := s.set != nil && s.constrains == ""
		if foreign {
			c.report(diag.NameOption, s, "%s does not apply to the names of resources", s.text).Suggestion = "remove it; " + nameOptions
		}
		return foreign
	})
	name := schema.Type(schema.String)
	c.constrained = append(c.constrained, constrainedType{&name, constraintsIn(o.list)})
	return o
}

// rejectNameScope reports the option nameScope outside of a marker's tag.
func (c *checker) rejectNameScope(o setOption) bool {
	if o.set == nil {
		c.report(diag.NameOption, o, "%s applies to the marker of a named resource", o.name).
			Suggestion = "move it to the tag of the embedded idl.NamedResource"
	}
	return o.set == nil
}

// nameProperty returns the property added by the marker NamedResource.
func (c *checker) nameProperty(d *decl) *schema.Property {
	p := &schema.Property{
		Field: "Name", Name: "name", Type: schema.String, Replaces: true,
		Doc: "The resource's name.", Pos: c.schemaPos(d.spec.Name.Pos()),
	}
	for _, o := range constraintsIn(d.naming.list) {
		o.set(p, o.value)
	}
	return p
}

// checkNameScopes sets the property within which the names of each resource are unique. A mixin may leave the property
// to the resources that embed it.
func (c *checker) checkNameScopes() {
	for _, d := range c.order {
		r, ok := d.model.(*schema.Resource)
		o := d.naming.find("nameScope")
		if !ok || o == nil {
			continue
		}
		i := slices.IndexFunc(d.fields, func(f *field) bool { return f.Name == o.value })
		if i < 0 {
			d.rejectUnknown(c.report(diag.NameOption, o, "%s has no property %s", d.spec.Name.Name, o.value), o.value)
			continue
		}
		r.NameScope = o.value
		r.Properties[0].Doc += " Unique within the same " + o.value + "."
		if problem := whyNoScope(d.fields[i].Property); problem != "" {
			report := c.report(diag.NameOption, o, "names cannot be unique within %s, which %s", o.value, problem)
			report.Suggestion = "name a property that programs set: a string, an enum, or a reference to a resource"
			c.note(report, d.fields[i].at, "%s is declared here", o.value)
		}
	}
}

// whyNoScope returns the reason why names cannot be unique within the values of a property, or "".
func whyNoScope(p *schema.Property) string {
	kind, isReference := schema.ValuesOf(p.Type), isCapability(p.Type) || p.Type == schema.AnyResource
	switch {
	case p.Out:
		return "is set by the provider"
	case p.Secret:
		return "is secret"
	case kind != "strings" && kind != "enums" && !isReference && p.Type != invalidType:
		return "is neither a string, an enum, nor a reference to a resource"
	}
	return ""
}
