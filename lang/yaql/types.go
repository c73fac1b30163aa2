package yaql

import (
	"fmt"
	"math/big"
	"time"
)

// class is a set of types of values.
type class uint32

const (
	clNull class = 1 << iota
	clBool
	clInt
	clFloat
	clString
	clList
	clDict
	clSet
	clIterator
	clIterable // values of the host that implement Iterable
	clTime
	clSpan
	clFunction
	clContext
	clPair
	clOther

	clEvery  = 1<<iota - 1 // except opaque values
	clOpaque = 1 << (iota - 1)

	clAnyIter   = clList | clSet | clIterator | clIterable
	clIntegral  = clBool | clInt
	clAnyNumber = clIntegral | clFloat
)

func classOf(v any) class {
	switch v.(type) {
	case nil:
		return clNull
	case string:
		return clString
	case int64, *big.Int:
		return clInt
	case bool:
		return clBool
	case float64:
		return clFloat
	case *List:
		return clList
	case *Dict:
		return clDict
	case *Iterator:
		return clIterator
	case *Set:
		return clSet
	case time.Time:
		return clTime
	case TimeSpan:
		return clSpan
	case *Lambda:
		return clFunction
	case *Context:
		return clContext
	case *Pair:
		return clPair
	case Iterable:
		return clIterable
	case Opaque:
		return clOpaque
	}
	return clOther
}

type passing uint8

const (
	byValue       passing = iota
	asLambda              // unevaluated; a *Lambda
	asRule                // unevaluated key => value; a *Rule
	asExpr                // unevaluated; only good for passing on to another function
	asConstant            // a literal of type accept, or a bare name
	asKeyword             // a bare name
	asKeywordExpr         // a bare name, for passing on to another function
)

// Type is the type of a parameter.
type Type struct {
	name string
	// accept are the types of values. domain are those of the type in the reference that accept is a part of: a type
	// whose domain lies within another's specializes it. A domain of 0 specializes nothing.
	accept, domain class
	passing        passing
	method         bool // of a lambda: only a call, which gets a receiver
	inContext      bool // of a lambda: evaluated in a context that the function makes
	check          func(any) bool
}

// NewType returns a type of the host's for values that check accepts.
func NewType(name string, check func(any) bool) *Type {
	return &Type{name: name, accept: (clEvery | clOpaque) &^ clNull, check: check}
}

func plainType(accept, domain class) *Type { return &Type{accept: accept, domain: domain} }

// types are the types by the name that declarations use.
var types = map[string]*Type{
	"any":      plainType(clEvery, clEvery),
	"stored":   plainType(clEvery|clOpaque, clEvery),   // any, for functions that only pass the value on
	"text":     plainType(clString|clOpaque, clString), // string, for functions that join them
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
	"nonset":   plainType(clAnyIter&^clSet, clAnyIter|clString|clDict), // an iterable that is not a set
	"datetime": plainType(clTime, clTime),
	"timespan": plainType(clSpan, clSpan),
	"function": plainType(clFunction, clEvery),
	"context":  plainType(clContext, clContext),
	"regex":    {accept: clOther, check: is[*regex]},
	"ordering": {accept: clIterable, check: is[*ordered]}, // what orderBy returns
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
	types["stored"].name, types["text"].name = "any", "string" // for users, they are the same
}

// RegisterType makes t known to declarations. Call it during initialization only.
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

// accepts reports whether the parameter takes v, a value or an expression. Expressions that have to be evaluated first
// are accepted for now.
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
