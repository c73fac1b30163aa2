package gostubs

import (
	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// resource emits all declarations for a resource.
func (e *emitter) resource(r *schema.Resource) {
	lowered := schema.GoMarshalName(&r.Header)
	e.doc(described(r.Name+" is the type token of the resource.\n\n"+schema.TypeDoc(r), r.Deprecated))
	e.Const().Id(r.Name).Qual(tokensPath, "Type").Op("=").Lit(r.Token)
	e.doc(lowered + " holds the properties of a resource of type " + r.Name + ".")
	e.fields(lowered, r.Properties)
	e.propertyNames(&r.Header, r.Properties)
	e.walk(&r.Header, lowered, r.Properties, r.Rules)
	e.operations(r, pointer(jen.Id(lowered)))
	e.provider(r, lowered)
}

// operations emits the interface for provider authors. It lists all methods instead of embedding lumi.Ops, so that go
// doc shows their exact types.
func (e *emitter) operations(r *schema.Resource, object jen.Code) {
	ops := "lumi.Ops"
	if !r.Named {
		ops = "lumi.NamingOps"
	}
	state, id := pointer(lumi("State").Types(object)), lumi("ID")
	ctx, want := jen.Id("ctx").Qual(contextPath, "Context"), jen.Id("want").Add(state)
	oldWant, diff := jen.Id("old, want").Add(state), jen.Id("diff").Op("*").Add(lumi("Diff"))
	e.doc(r.Name + "ProviderOps is the interface for the author of the provider. Its methods are those of " + ops + "\n" +
		"for this type; see there for what they do, and for optional methods.")
	e.Type().Id(r.Name + "ProviderOps").InterfaceFunc(func(g *jen.Group) {
		g.Id("Check").Params(ctx, want).Error()
		if !r.Named {
			g.Id("Name").Params(ctx, want).Params(jen.String(), jen.Error())
		}
		g.Id("Create").Params(ctx, want).Params(id, jen.Error())
		g.Id("Get").Params(ctx, jen.Id("id").Add(id), jen.Id("old").Add(state)).Params(object, jen.Error())
		g.Id("Update").Params(ctx, oldWant, diff).Error()
		g.Id("Delete").Params(ctx, jen.Id("old").Add(state)).Error()
	})
}

// provider emits the provider type and its constructor.
func (e *emitter) provider(r *schema.Resource, lowered string) {
	name, ops, constructor := r.Name+"Provider", jen.Id(e.scope.ops), "NewNamedProvider"
	if !r.Named {
		constructor = "NewProvider"
	}
	e.doc(name + " is the lumi.ResourceProvider of type " + r.Name + ".")
	e.Type().Id(name).Id("struct").Add(inBraces(lumi("Provider")))
	e.doc("New" + name + " returns a provider that calls the author's operations.")
	e.Func().Id("New" + name).Params(jen.Add(ops).Id(r.Name + "ProviderOps")).Op("*").Id(name).Block(
		jen.Return(jen.Op("&").Id(name).Values(declared(lumi(constructor).Call(jen.Id(r.Name), alloc(lowered), ops), r))),
	)
}
