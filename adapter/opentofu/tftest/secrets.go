package tftest

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/lumi-idl/lumi/idl/schema"
)

// secrets checks that each property has an attribute, and that each secret is in a sensitive one.
func (r *rules) secrets(at string, properties []*schema.Property, attrs attributes) {
	byName := map[string]*tfprotov6.SchemaAttribute{}
	for _, a := range attrs {
		byName[a.Name] = a
	}
	for _, p := range properties {
		name, ok := match(maps.Keys(byName), p.Field)
		if !ok {
			r.add(at, "no attribute for the property %s", p.Field)
			continue
		}
		a, inner := byName[name], structOf(p.Type)
		switch {
		case a.Sensitive:
		case p.Secret:
			r.add(at+"."+a.Name, "not sensitive, but the property is secret")
		case a.NestedType != nil && inner != nil:
			r.secrets(at+"."+a.Name, inner, a.NestedType.Attributes)
		case hasSecret(p.Type, nil):
			r.add(at+"."+a.Name, "not sensitive, but there are secrets in the property")
		}
	}
}

// structOf returns the properties of a struct, or of the elements of a list or map of structs.
func structOf(t schema.Type) []*schema.Property {
	switch t := schema.Underlying(t).(type) {
	case *schema.List:
		return structOf(t.Elem)
	case *schema.Map:
		return structOf(t.Elem)
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Struct:
			return d.Properties
		case *schema.Union:
			if d.Tokens() == nil {
				return d.Variants
			}
		}
	}
	return nil
}

// hasSecret reports whether a value of a type can contain a property that is secret. seen lists the structs on the way.
func hasSecret(t schema.Type, seen []*schema.Property) bool {
	return slices.ContainsFunc(structOf(t), func(p *schema.Property) bool {
		return p.Secret || !slices.Contains(seen, p) && hasSecret(p.Type, append(seen, p))
	})
}
