package compile

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// fillUnion checks the variants of a union and completes its model.
func (c *checker) fillUnion(d *decl) {
	u := d.model.(*schema.Union)
	same := map[schema.Decl]*field{}
	var first *field
	var names []string
	mixed := false
	for _, f := range c.flatten(d) {
		u.Variants, names = append(u.Variants, f.Property), append(names, f.Name)
		ref, ok := f.Type.(*schema.Ref)
		if !ok {
			continue // already reported
		}
		if first == nil {
			first = f
		}
		if other := same[ref.Decl]; other != nil {
			report := c.report(diag.UnionVariant, f.at, "%s has two variants of type %s", u.Name, ref.Decl.Head().Name)
			report.Suggestion = "remove one of them, or declare a struct for each"
			c.note(report, other.at, "the other is here")
		} else if !mixed && isCapability(f.Type) != isCapability(first.Type) {
			mixed = true
			report := c.report(diag.UnionVariant, f.at, "%s mixes resources and structs as variants", u.Name)
			report.Suggestion = "wrap each resource in a struct"
			c.note(report, first.at, "a variant of the other kind is here")
		}
		same[ref.Decl] = f
	}
	written := -1 // -1 accounts for the marker
	for _, f := range d.struc.Fields.List {
		written += max(1, len(f.Names))
	}
	if written < 2 {
		c.report(diag.UnionVariant, d.spec.Name, "%s needs at least two variants", u.Name).
			Suggestion = "add one, or use the variant's type directly"
	}
	for _, v := range u.Variants {
		if !isCapability(v.Type) {
			v.Pointer, v.Optional, v.ExactlyOneOf = true, true, names
		}
	}
}

// refersTo reports whether t refers to a declaration of type D.
func refersTo[D schema.Decl](t schema.Type) bool {
	ref, ok := t.(*schema.Ref)
	if ok {
		_, ok = ref.Decl.(D)
	}
	return ok
}

func isCapability(t schema.Type) bool { return refersTo[*schema.Resource](t) }

// variantOptions lists the options that are valid on struct variants.
var variantOptions = []string{"name", "secret", "deprecated", "was"}

// variant checks the type and options of a variant, and sets *p to its property.
func (c *checker) variant(d *decl, p *schema.Property, expr ast.Expr, tag options) {
	*p = schema.Property{
		Field: p.Field, Name: p.Name, Secret: p.Secret, Was: p.Was, Deprecated: p.Deprecated, Doc: p.Doc, Pos: p.Pos,
		Type: invalidType,
	}
	target, pointer := ast.Unparen(expr), false
	if star, ok := target.(*ast.StarExpr); ok {
		target, pointer = ast.Unparen(star.X), true
		if _, double := target.(*ast.StarExpr); double {
			c.convertPointer(d.file, star, byItself)
			return
		}
	}
	t := c.convert(d.file, target, behindPointer)
	if t == nil {
		return
	}
	switch name := types.ExprString(target); {
	case !isCapability(t) && !refersTo[*schema.Struct](t):
		c.report(diag.UnionVariant, expr, "a variant must be a pointer to a resource or a struct, got %s", name).
			Suggestion = "wrap it in a struct"
		return
	case !pointer:
		c.report(diag.UnionVariant, expr, "a variant must be a pointer").Suggestion = "change its type to *" + name
		return
	}
	p.Type = t
	for _, o := range tag.list {
		switch {
		case !slices.Contains(variantOptions, o.name):
			c.report(diag.OptionPlace, o, "%s has no effect on a variant of a union", o.text).Suggestion = "remove it"
		case isCapability(t):
			c.report(diag.OptionPlace, o, "%s has no effect on a resource variant, whose value is only a URN", o.text).
				Suggestion = "remove it"
		}
	}
}
