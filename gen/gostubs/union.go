package gostubs

import (
	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// union emits a struct that has one field per variant.
func (e *emitter) union(u *schema.Union) {
	name := schema.GoName(e.source.Module, u.Name)
	if u.Tokens() == nil {
		e.structure(u, u.Variants)
	} else {
		e.doc(described(u.Doc, u.Deprecated))
		e.fields(name, u.Variants)
		e.lowered(&u.Header, name)
		e.variants(u, name)
	}
	e.match(u, name)
}

// variants emits the method that describes the fields of a union of resources to the runtime.
func (e *emitter) variants(u *schema.Union, name string) {
	self := jen.Id(e.scope.self)
	e.doc("Lumi implements lumi.Variants.")
	e.method(jen.Add(self).Op("*").Id(name), "Lumi").Index().Add(lumi("Variant")).Block(
		jen.Return(jen.Index().Add(lumi("Variant")).ValuesFunc(func(g *jen.Group) {
			for _, v := range u.Variants {
				r := v.Type.(*schema.Ref).Decl.(*schema.Resource)
				g.Line().ValuesFunc(func(g *jen.Group) {
					g.Id("Type").Op(":").Lit(r.Token)
					g.Id("URN").Op(":").Op("&").Add(self).Dot(v.Field)
					if len(r.Was) > 0 {
						g.Id("Was").Op(":").Index().Qual(tokensPath, "Type").Values(literals(r.Was)...)
					}
				})
			}
			g.Line()
		})),
	)
}

// match emits the method that calls a function for the variant in use. Since each variant is a parameter, adding a
// variant breaks every call that does not handle it.
func (e *emitter) match(u *schema.Union, name string) {
	self, unset := jen.Id(e.scope.self), jen.Nil()
	if u.Tokens() != nil {
		unset = jen.Lit("")
	}
	var params, cases []jen.Code
	for _, v := range u.Variants {
		function := jen.Id("if" + v.Field)
		params = append(params, jen.Add(function).Func().Params(e.fieldType(v)).Error())
		cases = append(cases, jen.Case(jen.Add(self).Dot(v.Field).Op("!=").Add(unset)).Block(
			jen.Return(jen.Add(function).Call(jen.Add(self).Dot(v.Field))),
		))
	}
	e.doc("Match calls the function for the variant that is set and returns its error. If the value is unknown, it calls none.")
	e.method(jen.Add(self).Op("*").Id(name), "Match", jen.Custom(jen.Options{Open: "\n", Separator: ",\n", Close: ",\n"}, params...)).Error().Block(
		jen.Switch().Block(cases...),
		jen.Return(jen.Nil()),
	)
}
