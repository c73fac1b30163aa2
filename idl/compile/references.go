package compile

import (
	"go/ast"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// The checks in this file need the targets of references, so they run once all declarations are filled in.

// reach is a use of a type that may refer to declarations of other folders.
type reach struct {
	at   ast.Node
	from *schema.Module
	typ  schema.Type
}

// checkReaches checks that stubs can name the types of their properties. An alias or a promoted property may refer to a
// type that its own folder does not export.
func (c *checker) checkReaches() {
	for _, r := range c.reaches {
		for ref := range schema.Refs(r.typ) {
			h := ref.Decl.Head()
			if _, capability := ref.Decl.(*schema.Resource); h.File.Module == r.from || h.Exported() || capability {
				continue
			}
			c.report(diag.UnexportedType, r.at, "type %s is not exported by folder %s",
				h.Name, h.File.Module.Token()).
				Suggestion = "export " + h.Name
			break
		}
	}
}

// checkRecursion rejects aliases that contain themselves, which Go does not support.
func (c *checker) checkRecursion() {
	for _, d := range c.order {
		a, ok := d.model.(*schema.Alias)
		if !ok {
			continue
		}
		for ref := range schema.Refs(a.Target) {
			if ref.Decl == a {
				c.report(diag.RecursiveAlias, d.spec.Name, "alias %s refers to itself", a.Name).
					Suggestion = "put a struct in between, or use any"
				break
			}
		}
	}
}

// maxNesting is the maximum depth of nested lists and maps. The wire format rejects values nested more than a hundred
// levels deep, and compilers fail on deeply nested generic types much earlier.
const maxNesting = 32

// checkNesting rejects types nested deeper than maxNesting, directly or through aliases.
func (c *checker) checkNesting() {
	depths := map[*schema.Alias]int{}
	reject := func(at ast.Node, t schema.Type) {
		if depth := nesting(t, depths); depth > maxNesting {
			c.report(diag.UnsupportedType, at, "lists and maps are nested more than %d levels deep", maxNesting).
				Suggestion = "put a struct in between, or use any"
		}
	}
	for _, d := range c.order {
		for _, f := range d.fields {
			if f.owner == d {
				reject(f.at, f.Type)
			}
		}
		if a, ok := d.model.(*schema.Alias); ok && a.Target != nil {
			reject(d.spec.Name, a.Target)
		}
	}
}

// nesting returns the nesting depth of a type. An alias that is too deep counts as 0, since it is reported itself.
func nesting(t schema.Type, known map[*schema.Alias]int) int {
	switch t := t.(type) {
	case *schema.List:
		return 1 + nesting(t.Elem, known)
	case *schema.Map:
		return 1 + nesting(t.Elem, known)
	case *schema.Ref:
		a, ok := t.Decl.(*schema.Alias)
		if !ok || a.Target == nil {
			return 0
		}
		depth, done := known[a]
		if !done {
			known[a] = 0 // recursive aliases are reported elsewhere
			if depth = nesting(a.Target, known); depth > maxNesting {
				depth = 0
			}
			known[a] = depth
		}
		return depth
	}
	return 0
}
