package yaql

import (
	"fmt"
)

// NewType returns a type for the host values for which check returns true.
func NewType(name string, check func(any) bool) *Type {
	return &Type{name: name, accept: (clEvery | clOpaque) &^ clNull, check: check}
}

func plainType(accept, domain class) *Type { return &Type{accept: accept, domain: domain} }

// types maps the type names used in declarations to types.
var types = map[string]*Type{
	"any":      plainType(clEvery, clEvery),
	"stored":   plainType(clEvery|clOpaque, clEvery),   // like any, but includes opaque values
	"text":     plainType(clString|clOpaque, clString), // like string, but includes opaque values
	"null":     plainType(clNull, clNull),
	"bool":     plainType(clBool, clBool),
	"int":      plainType(clIntegral, clIntegral), // the reference's int includes bool
	"integer":  plainType(clInt, clIntegral),
	"number":   plainType(clInt|clFloat, clAnyNumber),
	"string":   plainType(clString, clString),
	"iterable": plainType(clAnyIter, clAnyIter|clString|clDict),
	"sequence": plainType(clList, clList|clString),
	"iterator": plainType(clIterator, clIterator),
	"dict":     plainType(clDict, clDict),
	"set":      plainType(clSet, clSet),
	"nonset":   plainType(clAnyIter&^clSet, clAnyIter|clString|clDict), // any iterable that is not a set
	"datetime": plainType(clTime, clTime),
	"timespan": plainType(clSpan, clSpan),
	"function": plainType(clFunction, clEvery),
	"context":  plainType(clContext, clContext),
	"regex":    {accept: clOther, check: is[*regex]},
	"ordering": {accept: clIterable, check: is[*ordered]}, // the result of orderBy
	"pair":     plainType(clPair, clPair),                 // an evaluated key => value

	"lambda":         {passing: asLambda},
	"lambda.method":  {passing: asLambda, method: true},
	"lambda.context": {passing: asLambda, inContext: true},
	"rule":           {passing: asRule},
	"expr":           {passing: asExpr},
	"keyword":        {passing: asKeyword},
	"keyword.expr":   {passing: asKeywordExpr},
	"const.string":   {passing: asConstant, accept: clString},
	"const.bool":     {passing: asConstant, accept: clBool},
	"const.number":   {passing: asConstant, accept: clInt | clFloat},
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

func init() {
	for name, t := range types {
		t.name = name
	}
	types["stored"].name, types["text"].name = "any", "string" // users see no difference
}

// RegisterType makes t available in declarations. Call it only during initialization. It panics if the name is taken.
func RegisterType(t *Type) {
	if types[t.name] != nil {
		panic(fmt.Sprintf("yaql: type %s is registered already", t.name))
	}
	types[t.name] = t
}

func (t *Type) lazy() bool {
	return t.passing == asLambda || t.passing == asRule || t.passing == asExpr
}

// specializes reports whether t is strictly narrower than u.
func (t *Type) specializes(u *Type) bool {
	return t.domain != 0 && t.domain != u.domain && t.domain&^u.domain == 0
}

// accepts reports whether the parameter accepts v. It provisionally returns true for expressions that are evaluated
// before the call.
func (p *Param) accepts(v any, opts *Options) bool {
	switch p.typ.passing {
	case asLambda:
		if call, ok := v.(*invocation); ok && p.typ.method {
			return call.form == formFunction
		}
		_, isNode := v.(node)
		return !isNode || !p.typ.method
	case asRule:
		_, ok := v.(*mapping)
		return ok
	case asExpr:
		_, ok := v.(node)
		return ok
	case asKeyword, asKeywordExpr:
		c, ok := v.(*constant)
		return ok && c.keyword
	case asConstant:
		c, ok := v.(*constant)
		return ok && classOf(c.value)&p.typ.accept != 0 || v == nil && p.nullable
	}
	switch n := v.(type) {
	case *constant:
		v = n.value
	case node:
		return true
	}
	return p.acceptsValue(v, opts)
}

func (p *Param) acceptsValue(v any, opts *Options) bool {
	if v == nil {
		return p.nullable
	}
	if classOf(v)&p.typ.accept == 0 {
		_, dict := v.(*Dict)
		return dict && opts.IterableDicts && p.typ.accept&clList != 0 && p.typ.accept&clIterable != 0
	}
	return p.typ.check == nil || p.typ.check(v)
}
