package yaql

import (
	"context"
	"iter"
	"strconv"
)

// Arg returns the ith argument, counting first the function's Params and then its Keyword parameters.
func (c *Call) Arg(i int) any { return c.args[i] }

// Has reports whether the ith argument has a value: a given one, or a literal default. It returns false only for an
// omitted argument whose declared default is "unset".
func (c *Call) Has(i int) bool {
	_, left := c.args[i].(unset)
	return !left
}

// String returns the ith argument, which must be a string or null. It returns "" for null.
func (c *Call) String(i int) string {
	s, _ := c.args[i].(string)
	return s
}

// Bool reports whether the ith argument is true.
func (c *Call) Bool(i int) bool {
	b, _ := c.args[i].(bool)
	return b
}

// Int returns the ith argument, which must be an integer or a boolean. It returns an error if the value overflows int.
func (c *Call) Int(i int) (int, error) {
	switch v := c.args[i].(type) {
	case int64:
		return int(v), nil
	case bool:
		n := bigOf(v)
		return int(n.Int64()), nil
	}
	return 0, Errorf(Value, "%s of %s is out of range", c.fn.param(i).Name, c.fn.Name)
}

// List returns the ith argument. It panics if the argument is not a list.
func (c *Call) List(i int) *List { return c.args[i].(*List) }

// Dict returns the ith argument. It panics if the argument is not a dictionary.
func (c *Call) Dict(i int) *Dict { return c.args[i].(*Dict) }

// Set returns the ith argument. It panics if the argument is not a set.
func (c *Call) Set(i int) *Set { return c.args[i].(*Set) }

// Lambda returns the ith argument, or nil if it is null.
func (c *Call) Lambda(i int) *Lambda {
	l, _ := c.args[i].(*Lambda)
	return l
}

// Iter returns an iterator over the ith argument, which must be iterable.
func (c *Call) Iter(i int) *Iterator { return c.Iterate(c.args[i]) }

// Rest returns the positional arguments collected by *args.
func (c *Call) Rest() []any { return c.rest }

// Others iterates over the keyword arguments collected by **others.
func (c *Call) Others(yield func(name string, value any) bool) {
	for _, o := range c.others {
		if !yield(o.name, o.value) {
			return
		}
	}
}

// Options returns the options of the evaluation.
func (c *Call) Options() Options { return *c.ev.opts }

// Ctx returns the [context.Context] of the evaluation.
func (c *Call) Ctx() context.Context { return c.ev.ctx }

// Context returns the context of this call, a child of the caller's context. It creates the context on first use.
func (c *Call) Context() *Context {
	if c.own == nil {
		c.own = New(c.outer)
	}
	return c.own
}

// Tick returns an error if the evaluation has been canceled. Call it in loops that do not call [Iterator.Next].
func (c *Call) Tick() error { return c.ev.tick() }

// Reserve returns an error if size, in bytes, exceeds the memory quota. Call it before creating a value larger than a
// few kilobytes.
func (c *Call) Reserve(size int64) error { return c.ev.reserve(size) }

// Invoke calls the named function with evaluated arguments.
func (c *Call) Invoke(name string, args ...any) (any, error) {
	if len(args) == 2 {
		return c.operator(name)(args[0], args[1])
	}
	return c.invoke(c.outer.scope.lookup(name), false, args, nil)
}

// operator returns a function that calls the named function with two arguments. It is efficient for repeated calls.
func (c *Call) operator(name string) func(a, b any) (any, error) {
	fns := c.outer.scope.lookup(name)
	return func(a, b any) (any, error) {
		if fns.binary != nil {
			if v, ok, err := fns.binary(c.ev, a, b); ok || err != nil {
				return v, err
			}
		}
		return c.invoke(fns, false, []any{a, b}, nil)
	}
}

// InvokeMethod calls the named method of receiver with evaluated arguments.
func (c *Call) InvokeMethod(name string, receiver any, args ...any) (any, error) {
	return c.invoke(c.outer.scope.lookup(name), true, append([]any{receiver}, args...), nil)
}

// own returns the method with the given name that receiver itself provides, or nil.
func own(receiver any, name string) *overloads {
	if r, ok := receiver.(Receiver); ok {
		if f := r.YAQLMethod(name); f != nil {
			return &overloads{name: name, methods: family{levels: [][]*Function{{f}}, noKeywords: f.NoKeywords}}
		}
	}
	return nil
}

func (c *Call) invoke(fns *overloads, method bool, args []any, keywords []named) (any, error) {
	if err := c.ev.enter(); err != nil {
		return nil, err
	}
	defer func() { c.ev.depth-- }()
	if method {
		if f := own(args[0], fns.name); f != nil {
			fns = f
		}
	}
	return c.ev.invoke(fns, method, args, keywords, c.Context())
}

// Iterate returns an iterator over an iterable value: the items of a list, set, or iterator, or the keys of a
// dictionary.
func (c *Call) Iterate(v any) *Iterator { return c.ev.iterate(v) }

// Collect returns all items of an iterator. It returns an error if a limit is exceeded.
func (c *Call) Collect(it *Iterator) ([]any, error) { return c.ev.collect(it) }

// Remember returns an iterator that caches the items of it. Each use of it in an expression restarts at the first item.
func (c *Call) Remember(it *Iterator) *Iterator { return remember(it, c.ev.reserve) }

func (ev *evaluation) iterate(v any) *Iterator {
	switch v := v.(type) {
	case *List:
		return iterateSlice(v.items)
	case *Set:
		return iterateSlice(v.items)
	case *Dict:
		return iterateSlice(v.Keys())
	case *Iterator:
		if v.again != nil {
			return v.again()
		}
		return v
	case Iterable:
		return v.Iterate()
	}
	return iterateSlice(nil)
}

// limited returns v. If v is an iterator, it is wrapped to return an error once it exceeds the limit; if v is a list, a
// set, or a dictionary, its size is checked.
func (ev *evaluation) limited(v any) (any, error) {
	limit := ev.opts.LimitIterators
	n := 0
	switch v := v.(type) {
	case *Iterator, Iterable:
		it := ev.iterate(v)
		return NewIterator(func() (any, bool, error) {
			x, ok, err := it.Next()
			if !ok || err != nil {
				return nil, false, err
			}
			if n++; n > limit {
				return nil, false, ev.overLimit()
			}
			return x, true, ev.tick()
		}), nil
	case interface{ Len() int }:
		n = v.Len()
	}
	if n > limit {
		return nil, ev.overLimit()
	}
	return v, nil
}

func (ev *evaluation) overLimit() error {
	return Errorf(Limit, "more than %d items", ev.opts.LimitIterators)
}

func (ev *evaluation) collect(it *Iterator) ([]any, error) {
	var items []any
	size := int64(0)
	for {
		v, ok, err := it.Next()
		if err != nil || !ok {
			return items, err
		}
		if size += 16 + sizeOf(v); size > ev.opts.MemoryQuota {
			return nil, ev.overQuota()
		}
		if len(items) >= ev.opts.LimitIterators {
			return nil, ev.overLimit()
		}
		if err := ev.tick(); err != nil {
			return nil, err
		}
		items = append(items, v)
	}
}

// convert converts an argument to the parameter's type.
func (c *Call) convert(p *Param, v any) (any, error) {
	switch p.typ.passing {
	case asLambda:
		switch v := v.(type) {
		case nil:
			return nil, nil
		case node:
			return &Lambda{call: c, body: v}, nil
		case *Lambda:
			l := *v
			if l.body != nil {
				l.call = c
			}
			return &l, nil
		}
		return &Lambda{call: c, value: v}, nil
	case asRule:
		m := v.(*mapping)
		return &Rule{&Lambda{call: c, body: m.key}, &Lambda{call: c, body: m.value}}, nil
	case asExpr, asKeywordExpr:
		return v, nil
	}
	if n, ok := v.(*constant); ok {
		v = n.value
	}
	if _, ok := v.(*missing); ok {
		v = p.value
	}
	if p.typ.accept&clIterator != 0 && p.typ.accept&clInt == 0 {
		return c.ev.limited(v)
	}
	return v, nil
}

// Call evaluates the lambda in a new context in which the arguments are $1 (or $), $2, and so on.
func (l *Lambda) Call(args ...any) (any, error) { return l.CallNamed(args, nil) }

// Text returns the source of the lambda in canonical form, or "" for a function value.
func (l *Lambda) Text() string {
	if l.body == nil {
		return ""
	}
	return l.body.String()
}

// Test evaluates the lambda and reports whether the result is true according to [Truth].
func (l *Lambda) Test(args ...any) (bool, error) {
	return truthOf(l.CallNamed(args, nil))
}

// CallNamed is like [Lambda.Call] but sets additional named variables.
func (l *Lambda) CallNamed(args []any, names iter.Seq2[string, any]) (any, error) {
	if l == nil || l.body == nil {
		return l.CallIn(nil)
	}
	parent := l.call.own
	if parent == nil {
		parent = l.call.outer
	}
	in := New(parent)
	for i, a := range args {
		in.Set(argumentName(i), a)
	}
	if names != nil {
		for name, value := range names {
			in.Set(name, value)
		}
	}
	return l.CallIn(in)
}

// CallIn evaluates the lambda in the given context.
func (l *Lambda) CallIn(in *Context) (any, error) {
	switch {
	case l == nil:
		return nil, Errorf(TypeError, "null is not a function")
	case l.body == nil:
		return l.value, nil
	}
	return l.call.ev.eval(l.body, none, in)
}

// CallOn evaluates the lambda as a method of receiver. The lambda must be of type lambda.method.
func (l *Lambda) CallOn(receiver any) (any, error) {
	if l == nil || l.body == nil {
		return l.CallIn(nil)
	}
	return l.call.ev.eval(l.body, receiver, New(l.call.outer))
}

var argumentNames = [...]string{"$1", "$2", "$3", "$4"}

func argumentName(i int) string {
	if i < len(argumentNames) {
		return argumentNames[i]
	}
	return "$" + strconv.Itoa(i+1)
}
