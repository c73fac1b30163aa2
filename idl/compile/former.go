package compile

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// checkFormerNames checks the former names of properties and resources. It converts former names of resources to type tokens.
func (c *checker) checkFormerNames() {
	tokens := map[string]*decl{}
	for _, d := range c.order {
		if r, ok := d.model.(*schema.Resource); ok {
			tokens[r.Token] = d
		}
	}
	for _, d := range c.order {
		for _, f := range d.fields {
			if len(f.Was) == 0 {
				continue
			}
			if o := c.formerNames(f); o != nil {
				c.checkFormerProperty(d, f, o)
			}
		}
		if d.was == nil {
			continue
		}
		r, ok := d.model.(*schema.Resource)
		if !ok {
			problem := " is not a resource and has no type token"
			if d.kind == function {
				problem = " is a function, which leaves no state under its name"
			}
			if d.kind != broken && d.kind != unknownStruct {
				c.report(diag.FormerName, d.was, "%s", d.spec.Name.Name+problem).Suggestion = "remove it"
			}
			continue
		}
		for _, name := range namesIn(d.was.value) {
			token := c.token(d, name)
			if pkg, _, isToken := strings.Cut(name, ":"); isToken && pkg != c.pkg.Name {
				c.report(diag.FormerName, d.was, "%s is a type of another package, not of %s", name, c.pkg.Name).
					Suggestion = "remove it; the package of a resource cannot change"
				continue
			} else if isToken {
				token = name
			}
			if other := tokens[token]; other != nil {
				report := c.report(diag.FormerName, d.was, "%s is or was the name of another resource", name)
				switch {
				case token == r.Token:
					report.Message = name + " is still the resource's name"
				case other == d:
					report.Message = name + " is listed twice"
				}
				report.Suggestion = "remove it"
				c.note(report, other.spec.Name, "%s is declared here", other.spec.Name.Name)
				continue
			}
			tokens[token] = d
			r.Was = append(r.Was, token)
		}
	}
}

// formerNames returns the option was= from the declaration of a property, or nil if it has none.
func (c *checker) formerNames(f *field) *setOption {
	for _, own := range f.owner.fields {
		if own.Field == f.Field {
			return own.tag.find("was")
		}
	}
	return nil
}

// checkFormerProperty checks the former names of a property of d. Conflicts within the struct that declares a promoted
// property are reported at that struct.
func (c *checker) checkFormerProperty(d *decl, f *field, o *setOption) {
	for _, name := range f.Was {
		if strings.Contains(name, ":") {
			if f.owner == d {
				c.report(diag.FormerName, o, "%s is a type token, not the name of a property", name).
					Suggestion = "use the former name as programs spelled it"
			}
			continue
		}
		if name == "name" && d.marker == markerNamedResource && (f.owner == d || f.owner.marker == noMarker) {
			c.report(diag.FormerName, o, "%s is the name of another property", name).Suggestion = "remove it"
			continue
		}
		i := slices.IndexFunc(d.fields, func(other *field) bool {
			return (other.owner != f.owner || f.owner == d) && (other.Name == name || other != f && slices.Contains(other.Was, name))
		})
		if i < 0 {
			continue
		}
		report := c.report(diag.FormerName, o, "%s is or was the name of another property", name)
		if d.fields[i] == f {
			report.Message = name + " is still the property's name"
		}
		report.Suggestion = "remove it"
		c.note(report, d.fields[i].at, "%s is declared here", d.fields[i].Name)
	}
}
