package compile

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// related returns the [tagWords] entry of a relation to other properties. Field returns a pointer to the names stored
// in the property.
func related(name, doc string, field func(*schema.Property) *[]string) tagWord {
	return tagWord{
		name: name, relates: field, doc: doc + " `<names>` is `a`, or `'a,b'`.",
		value: "<names>", valid: validNames(diag.Relation), excludes: []string{"out", "default"},
		set: func(p *schema.Property, value string) { *field(p) = namesIn(value) },
	}
}

// namesIn splits a comma-separated list of names.
func namesIn(value string) []string {
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// tokenForm matches type tokens, as package:module:Name.
var tokenForm = regexp.MustCompile(`^[^:\s]+:[^:\s]+:[\pL_][\pL\pN_]*$`)

// validNames returns a function that validates a list of names and reports errors with the given code.
func validNames(code diag.Code) func(*checker, ast.Node, string) bool {
	return func(c *checker, at ast.Node, value string) bool {
		names := namesIn(value)
		for i, name := range names {
			isToken := code == diag.FormerName && strings.Contains(name, ":")
			switch {
			case isToken && !tokenForm.MatchString(name):
				c.report(code, at, "invalid type token %q", name).Suggestion = "use a token as in the state, such as 'aws:network:VPC'"
				return false
			case !isToken && !isIdentifier(name):
				c.report(code, at, "invalid name %q", name).
					Suggestion = "use letters, digits, _ and $; separate several names with commas and quote them, as in 'a,b'"
				return false
			case slices.Contains(names[:i], name):
				c.report(code, at, "%s is listed twice", name).Suggestion = "list it once"
				return false
			}
		}
		return true
	}
}

// checkRelations checks the relations of each property at its declaration, and sorts the members of groups in source
// order.
func (c *checker) checkRelations() {
	for _, d := range c.order {
		for _, f := range d.fields {
			if f.owner != d || d.kind == union {
				continue // promoted properties are checked at their struct; relations in unions are rejected
			}
			for i := range f.tag.list {
				if o := &f.tag.list[i]; o.relates != nil {
					c.checkRelation(d, f, o)
				}
			}
		}
		for _, f := range d.fields {
			if f.ExactlyOneOf != nil {
				f.ExactlyOneOf = groupOf(d, f)
			}
		}
		if d.kind != union {
			c.checkSettable(d)
		}
	}
}

// groupOf returns the names in the exactlyOneOf group of f, including f itself, in source order.
func groupOf(d *decl, f *field) []string {
	var group []string
	for _, other := range d.fields {
		if other == f || slices.Contains(f.ExactlyOneOf, other.Name) {
			group = append(group, other.Name)
		}
	}
	return group
}

// checkRelation checks a single relation of a property of d.
func (c *checker) checkRelation(d *decl, f *field, o *setOption) {
	if problem := whyPresent(f.Property); problem != "" {
		c.report(diag.Relation, o, "%s applies only to properties that may be absent, but %s %s", o.name, f.Name, problem).
			Suggestion = "remove it, or change the property"
		return
	}
	for _, name := range *o.relates(f.Property) {
		i := slices.IndexFunc(d.fields, func(other *field) bool { return other.Name == name })
		if i < 0 {
			d.rejectUnknown(c.report(diag.Relation, o, "%s has no optional property %s", d.spec.Name.Name, name), name)
			continue
		}
		switch other, problem := d.fields[i], whyPresent(d.fields[i].Property); {
		case other == f:
			c.report(diag.Relation, o, "%s is the property itself", name).Suggestion = "name another property"
		case problem != "":
			report := c.report(diag.Relation, o, "%s applies only to properties that may be absent, but %s %s", o.name, name, problem)
			report.Suggestion = "name another property"
			c.note(report, other.at, "%s is declared here", name)
		case o.name == "exactlyOneOf" && !slices.Equal(groupOf(d, f), groupOf(d, other)):
			report := c.report(diag.Relation, o, "%s and %s have different exactlyOneOf groups", name, f.Name)
			report.Suggestion = "list all properties of the group in each of them"
			if other.owner != d {
				report.Suggestion = "declare all properties of the group in one struct"
			}
			c.note(report, other.at, "%s is declared here", name)
		case o.name == "requiredWith" && slices.Contains(slices.Concat(f.ConflictsWith, f.ExactlyOneOf), name),
			o.name == "requiredWith" && slices.Contains(other.ConflictsWith, f.Name):
			c.report(diag.Relation, o, "%s and %s conflict", f.Name, name).Suggestion = "remove one of the options"
		}
	}
}

// whyPresent returns the reason why programs never omit a property, or "" if they may omit it.
func whyPresent(p *schema.Property) string {
	switch {
	case p.Out:
		return "is set by the provider"
	case p.Default != nil:
		return "has a default"
	case !p.Optional:
		return "is required"
	}
	return ""
}

// rejectUnknown sets the suggestion of a report about the unknown property name.
func (d *decl) rejectUnknown(report *diag.Diagnostic, name string) {
	var names []string
	for _, f := range d.fields {
		names = append(names, f.Name)
	}
	report.Suggestion = "use property names as programs spell them"
	near := suggest.Name(name, names)
	if i := slices.IndexFunc(d.fields, func(f *field) bool { return f.Field == name }); i >= 0 {
		near = names[i]
	}
	if near != "" {
		report.Suggestion = "the property is named " + near
	}
}
