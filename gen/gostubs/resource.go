package gostubs

import (
	"strconv"

	"github.com/lumi-idl/lumi/idl/schema"
)

// resource emits all that belongs to one type of resource.
func (e *emitter) resource(r *schema.Resource) {
	lowered := schema.GoMarshalName(&r.Header)
	e.doc(r.Name + " is the token of a type of resource.\n\n" + r.Doc)
	e.line("const ", r.Name, " ", e.use(tokensPath, "Type"), " = ", strconv.Quote(r.Token))
	e.line()
	e.line("// ", lowered, " holds the properties of a resource of type ", r.Name, ".")
	e.fields(lowered, r.Properties)
	e.propertyNames(&r.Header, r.Properties)
	e.walk(&r.Header, lowered, r.Properties)
	e.operations(r, "*"+lowered)
	e.provider(r, lowered)
}

// operations emits the interface that the author implements. Its methods are spelled out so that documentation shows
// them with their types.
func (e *emitter) operations(r *schema.Resource, object string) {
	ops := "lumi.Ops"
	if !r.Named {
		ops = "lumi.NamingOps"
	}
	state, id, diff := "*"+e.lumi("State")+"["+object+"]", e.lumi("ID"), "diff *"+e.lumi("Diff")
	ctx := "(ctx " + e.use(contextPath, "Context") + ", "
	e.line()
	e.line("// ", r.Name, "ProviderOps is what the author of the provider implements. Its methods are those of ", ops)
	e.line("// at this type; what each of them does is said there.")
	e.line("type ", r.Name, "ProviderOps interface {")
	e.line("\tCheck", ctx, "want ", state, ") error")
	if !r.Named {
		e.line("\tName", ctx, "want ", state, ") (string, error)")
	}
	e.line("\tCreate", ctx, "want ", state, ") (", id, ", error)")
	e.line("\tGet", ctx, "id ", id, ") (", object, ", error)")
	e.line("\tInspectChange", ctx, "old, want ", state, ", ", diff, ") error")
	e.line("\tUpdate", ctx, "old, want ", state, ", ", diff, ") error")
	e.line("\tDelete", ctx, "old ", state, ") error")
	e.line("}")
}

// provider emits the type that serves the resource, and its constructor.
func (e *emitter) provider(r *schema.Resource, lowered string) {
	name, ops, constructor := r.Name+"Provider", e.scope.ops, "NewNamedProvider"
	if !r.Named {
		constructor = "NewProvider"
	}
	alloc := "func() *" + lowered + " { return new(" + lowered + ") }"
	e.line()
	e.line("// ", name, " is the lumi.ResourceProvider of type ", r.Name, ".")
	e.line("type ", name, " struct{ ", e.lumi("Provider"), " }")
	e.line()
	e.line("// New", name, " makes a provider of the author's operations.")
	e.line("func New", name, "(", ops, " ", r.Name, "ProviderOps) *", name, " {")
	e.line("\treturn &", name, "{", e.lumi(constructor), "(", r.Name, ", ", alloc, ", ", ops, ")}")
	e.line("}")
}
