package gostubs

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// resource emits all that belongs to one type of resource.
func (e *emitter) resource(r *schema.Resource) {
	h := &r.Header
	lowered := schema.GoMarshalName(h)
	e.doc(strings.TrimSpace(r.Name + " is the token of a type of resource.\n\n" + r.Doc))
	e.out.Const().Id(r.Name).Qual(tokensPath, "Type").Op("=").Lit(r.Token)
	e.out.Line()
	e.out.Commentf("// %s holds the properties of a resource of type %s.", lowered, r.Name)
	e.fields(lowered, r.Properties)
	e.propertyNames(h, r.Properties)
	e.walk(h, lowered, r.Properties)
	e.operations(r, jen.Op("*").Id(lowered))
	e.provider(r, lowered)
}

// operations emits the interface that the author implements.
func (e *emitter) operations(r *schema.Resource, object *jen.Statement) {
	ctx := jen.Id("ctx").Qual("context", "Context")
	state := jen.Op("*").Qual(lumiPath, "State").Types(object)
	want := jen.Id("want").Add(state)
	old := jen.Id("old").Add(state)
	diff := jen.Id("diff").Op("*").Qual(lumiPath, "Diff")
	id := jen.Qual(lumiPath, "ID")

	ops := "Ops"
	if !r.Named {
		ops = "NamingOps"
	}
	e.out.Line()
	e.out.Commentf("// %sProviderOps is what the author of the provider implements. What each method does is said at", r.Name)
	e.out.Commentf("// [lumi.%s], whose methods these are.", ops)
	e.out.Type().Id(r.Name + "ProviderOps").InterfaceFunc(func(g *jen.Group) {
		g.Id("Check").Params(ctx, want).Error()
		if !r.Named {
			g.Id("Name").Params(ctx, want).Params(jen.String(), jen.Error())
		}
		g.Id("Create").Params(ctx, want).Params(id, jen.Error())
		g.Id("Get").Params(ctx, jen.Id("id").Add(id)).Params(object, jen.Error())
		g.Id("InspectChange").Params(ctx, jen.List(jen.Id("old"), want), diff).Error()
		g.Id("Update").Params(ctx, jen.List(jen.Id("old"), want), diff).Error()
		g.Id("Delete").Params(ctx, old).Error()
	})
}

// provider emits the type that serves the resource, and its constructor.
func (e *emitter) provider(r *schema.Resource, lowered string) {
	name, constructor := r.Name+"Provider", "NewNamedProvider"
	if !r.Named {
		constructor = "NewProvider"
	}
	e.out.Line()
	e.out.Commentf("// %s is the lumi.ResourceProvider of type %s.", name, r.Name)
	e.out.Type().Id(name).Struct(jen.Qual(lumiPath, "Provider"))
	e.out.Line()
	e.out.Commentf("// New%s makes a provider of the author's operations.", name)
	alloc := jen.Func().Params().Op("*").Id(lowered).Op("{ return new(" + lowered + ") }")
	e.out.Func().Id("New" + name).Params(jen.Id(e.locals.ops).Id(r.Name + "ProviderOps")).Op("*").Id(name).Block(
		jen.Return(jen.Op("&").Id(name).Values(
			jen.Qual(lumiPath, constructor).Call(jen.Id(r.Name), alloc, jen.Id(e.locals.ops)),
		)),
	)
}
