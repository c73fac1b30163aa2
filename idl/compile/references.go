package compile

import (
	"go/ast"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// What a reference leads to is known only when every declaration has been filled in. This file judges that.

// reach is a use, in one folder, of a type whose parts another folder declares.
type reach struct {
	at   ast.Node
	from *schema.Module
	typ  schema.Type
}

// checkReaches holds that stubs can name what their properties hold: an alias, or a property that was promoted, may
// bring along a type that its own folder does not export.
func (c *checker) checkReaches() {
	for _, r := range c.reaches {
		if hidden := unexported(r.typ, r.from, map[*schema.Alias]bool{}); hidden != nil {
			c.report(diag.UnexportedType, r.at, "this needs the type %s, which the folder %s does not export",
				hidden.Name, hidden.File.Module.Token()).
				Suggestion = "export " + hidden.Name
		}
	}
}

// unexported finds a declaration that a type is made of and that the module cannot name.
func unexported(t schema.Type, from *schema.Module, seen map[*schema.Alias]bool) *schema.Header {
	var found *schema.Header
	schema.Walk(t, func(part schema.Type) {
		ref, ok := part.(*schema.Ref)
		if !ok || found != nil {
			return
		}
		h := ref.Decl.Head()
		_, capability := ref.Decl.(*schema.Resource)
		switch alias, isAlias := ref.Decl.(*schema.Alias); {
		case h.File.Module != from && !h.Exported() && !capability:
			found = h
		case isAlias && !seen[alias] && alias.Target != nil:
			seen[alias] = true
			found = unexported(alias.Target, from, seen)
		}
	})
	return found
}

// checkRecursion holds that no alias is a list or map of itself, which Go has no alias for.
func (c *checker) checkRecursion() {
	for _, d := range c.order {
		a, ok := d.model.(*schema.Alias)
		if ok && a.Target != nil && leadsTo(a.Target, a, map[*schema.Alias]bool{}) {
			c.report(diag.RecursiveAlias, d.spec.Name, "%s is made of itself", a.Name).
				Suggestion = "put a struct in between, or use any"
		}
	}
}

func leadsTo(t schema.Type, goal *schema.Alias, seen map[*schema.Alias]bool) bool {
	found := false
	schema.Walk(t, func(part schema.Type) {
		ref, ok := part.(*schema.Ref)
		if !ok || found {
			return
		}
		if alias, ok := ref.Decl.(*schema.Alias); ok && alias.Target != nil {
			found = alias == goal
			if !found && !seen[alias] {
				seen[alias] = true
				found = leadsTo(alias.Target, goal, seen)
			}
		}
	})
	return found
}
