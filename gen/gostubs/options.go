package gostubs

import (
	"math"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// hasCodec reports whether the codec of a property has options beyond its type, and so needs its own variable.
func hasCodec(p *schema.Property) bool {
	return p.Constrained() || p.Default != nil || len(p.Was) > 0 || p.Deprecated != "" && !p.Out
}

// needsVersion3 reports whether a declaration needs version 3 of stubs for something other than the options of its codecs.
func needsVersion3(d schema.Decl) bool {
	r, _ := d.(*schema.Resource)
	properties := schema.Properties(d)
	return d.Head().Deprecated != "" && needsRuntime(d) || r != nil && len(r.Was) > 0 ||
		d.Head().Kind == "union" || d.Head().Kind == "function" ||
		len(schema.Relations(properties)) > 0 || slices.ContainsFunc(properties, holdsVersion3)
}

// holdsVersion3 reports whether a property's type contains a union or a resource with former names.
func holdsVersion3(p *schema.Property) bool {
	for ref := range schema.Refs(p.Type) {
		if r, ok := ref.Decl.(*schema.Resource); ok && len(r.Was) > 0 || ref.Decl.Head().Kind == "union" {
			return true
		}
	}
	return false
}

// optionsOf returns the options of a property's codec.
func optionsOf(p *schema.Property) []jen.Code {
	all := constraints(p.Constraints)
	if p.Default != nil {
		all = append(all, lumi("Default").Call(defaultOf(p)))
	}
	if len(p.Was) > 0 {
		all = append(all, lumi("Was").Call(literals(p.Was)...))
	}
	if p.Deprecated != "" && !p.Out {
		all = append(all, lumi("Deprecated").Call(jen.Lit(p.Deprecated)))
	}
	return all
}

// defaultOf returns a property's default as Go. The default of an int that overflows on some hosts stays a float64.
func defaultOf(p *schema.Property) jen.Code {
	n, ok := p.Default.(float64)
	switch {
	case !ok || schema.Underlying(p.Type) != schema.Int:
		return jen.Lit(p.Default)
	case math.Abs(n) > math.MaxInt32:
		return jen.Float64().Parens(jen.Id(number(n)))
	default:
		return jen.Lit(int(n))
	}
}

// described returns documentation followed by a deprecation paragraph if deprecated is not empty.
func described(doc, deprecated string) string {
	if deprecated == "" {
		return doc
	}
	return doc + "\n\nDeprecated: " + deprecated
}

// deprecatedValues emits the method by which the runtime recognizes deprecated values of an enum, if there are any.
func (e *emitter) deprecatedValues(d *schema.Enum, name string, members []string) {
	isDeprecated := func(m *schema.Member) bool { return d.ValueDeprecated(m) != "" }
	if !slices.ContainsFunc(d.Members, isDeprecated) {
		return
	}
	e.doc("Deprecated returns what to use instead of a deprecated value, or \"\".")
	e.method(jen.Id(e.scope.self).Id(name), "Deprecated").String().Block(
		jen.Switch(jen.Id(e.scope.self)).BlockFunc(func(g *jen.Group) {
			for i, m := range d.Members {
				if isDeprecated(m) {
					g.Case(jen.Id(members[i])).Block(jen.Return(jen.Lit(d.ValueDeprecated(m))))
				}
			}
		}),
		jen.Return(jen.Lit("")),
	)
}

// declared adds the former tokens and the name scope of a resource to the expression that creates its provider.
func declared(provider *jen.Statement, r *schema.Resource) *jen.Statement {
	if len(r.Was) > 0 {
		provider = provider.Dot("Formerly").Call(literals(r.Was)...)
	}
	for _, p := range r.Properties {
		if p.Name == r.NameScope {
			provider = provider.Dot("NameScope").Call(jen.Id(schema.GoPropertyConst(&r.Header, p)))
		}
	}
	return provider
}

func literals(texts []string) []jen.Code {
	var all []jen.Code
	for _, text := range texts {
		all = append(all, jen.Lit(text))
	}
	return all
}
