package yaql

import (
	"context"
	"sync"
)

// libraries lists the parts of the standard library. Each part is defined in a file named lib_*.go.
var libraries = []*[]*Function{
	&systemFunctions, &operatorFunctions, &collectionFunctions, &dictFunctions, &setFunctions, &queryFunctions,
	&generatorFunctions, &orderFunctions, &groupFunctions,
	&mathFunctions, &stringFunctions, &regexFunctions, &branchingFunctions, &timeFunctions,
}

// Evaluate evaluates the expression with the standard library. data may be any value accepted by [FromGo]. The package
// documentation lists the types of results. Any error is of type [*Error].
func (x *Expression) Evaluate(ctx context.Context, data any) (any, error) {
	in := New(Standard(x.opts.Delegates))
	if x.opts.ConvertInputData {
		var err error
		if data, err = FromGo(data); err != nil {
			return nil, at(err, x.source, 0)
		}
	}
	in.Set("$", data)
	return x.EvaluateIn(ctx, in)
}

var standard struct {
	once             sync.Once
	plain, delegates *Context
}

// Standard returns the shared context with the standard library. If delegates is set, the context includes the
// functions that create and call function values. Do not modify the context; derive a new one with [New].
func Standard(delegates bool) *Context {
	standard.once.Do(func() {
		fallback := New(nil)
		fallback.Register(markStandard(fallbacks)...)
		standard.plain = New(fallback)
		for _, lib := range libraries {
			standard.plain.Register(markStandard(*lib)...)
		}
		standard.delegates = New(fallback)
		standard.delegates.Register(standard.plain.scope.ownFunctions()...)
		standard.delegates.Register(markStandard(delegateFunctions)...)
	})
	if delegates {
		return standard.delegates
	}
	return standard.plain
}

// markStandard marks functions as part of the standard library. It returns them with their overloads with swapped
// parameters.
func markStandard(functions []*Function) []*Function {
	var all []*Function
	for _, f := range functions {
		all = append(all, f)
		if f.swapped != nil {
			all = append(all, f.swapped)
		}
	}
	for _, f := range all {
		f.standard = true
	}
	return all
}
