package gostubs

import (
	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// function emits all declarations for a function.
func (e *emitter) function(f *schema.Function) {
	lowered, name, self := schema.GoMarshalName(&f.Header), f.Name+"Func", jen.Id(e.scope.self)
	e.doc(described(f.Name+" is the token of the function.\n\n"+schema.TypeDoc(f), f.Deprecated))
	e.Const().Id(f.Name).Qual(tokensPath, "Type").Op("=").Lit(f.Token)
	e.doc(lowered + " holds the arguments and results of a call of " + f.Name + ".")
	e.fields(lowered, f.Properties)
	e.propertyNames(&f.Header, f.Properties)
	e.walk(&f.Header, lowered, f.Properties, f.Rules)
	e.doc(name + " is the author's code of the function. It sets the results in call. refs holds the resources that the\n" +
		"arguments refer to. See lumi.NewFunction.")
	e.Type().Id(name).Func().Params(
		jen.Id("ctx").Qual(contextPath, "Context"), jen.Id("call").Op("*").Id(lowered), jen.Id("refs").Add(lumi("References")),
	).Error()
	e.doc("Function returns the lumi.Function that calls the author's code.")
	e.method(jen.Add(self).Id(name), "Function").Add(lumi("Function")).Block(
		jen.Return(lumi("NewFunction").Call(jen.Id(f.Name), alloc(lowered), self)),
	)
}

// alloc returns an expression for a function that returns a new struct.
func alloc(lowered string) jen.Code {
	return jen.Func().Params().Op("*").Id(lowered).Add(inBraces(jen.Return(jen.New(jen.Id(lowered)))))
}
