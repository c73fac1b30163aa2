// Package equality derives from a model how values are compared, for code without generated stubs.
package equality

import (
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
)

// Of returns the equality of the values of a property or element, or nil if they are compared exactly.
func Of(t schema.Type, own *schema.Constraints) *constraint.Equality {
	if e := equality(t, own, map[schema.Decl]*constraint.Equality{}); e.Any() {
		return e
	}
	return nil
}

// equality is Of inside the objects in around, which may be recursive.
func equality(t schema.Type, own *schema.Constraints, around map[schema.Decl]*constraint.Equality) *constraint.Equality {
	e := &constraint.Equality{}
	switch t := t.(type) {
	case *schema.List:
		e.Elements = equality(t.Elem, nil, around)
	case *schema.Map:
		e.Elements = equality(t.Elem, nil, around)
	case *schema.Ref:
		if a, ok := t.Decl.(*schema.Alias); ok {
			e = equality(a.Target, a.Constraints, around)
		} else if t.Decl.Head().Kind == "struct" || t.Decl.Head().Kind == "union" {
			if known := around[t.Decl]; known != nil {
				return known
			}
			e.Properties = map[string]*constraint.Equality{}
			around[t.Decl] = e
			for _, p := range schema.Properties(t.Decl) {
				e.Properties[p.Name] = equality(p.Type, p.Constraints, around)
			}
		}
	}
	if own != nil && own.Equal != "" {
		e.As = own.Equal
	}
	return e
}
