package yaql

import (
	"strings"
	"unicode/utf8"
)

var systemFunctions = []*Function{
	Func(opVariable, "name const.string", value(func(c *Call) any { return c.outer.Get(c.String(0)) })).
		Document("Returns the value of a variable. $name calls this function, so replacing it redefines variable lookup.",
			`with(1) -> $1`, `1`),
	Func("#operator_.", "receiver stored, expr lambda.method", func(c *Call) (any, error) { return c.Lambda(1).CallOn(c.Arg(0)) }).
		Document("Calls a method of the left operand.", `[1, 2].len()`, `2`),
	Func("#operator_?.", "receiver any, expr expr", safeDot).
		Document("Like the operator ., but returns null if the left operand is null.",
			`null?.len()`, `null`, `[1, 2]?.len()`, `2`),
	Func("#operator_->", "left context, right lambda.context", func(c *Call) (any, error) {
		return c.Lambda(1).CallIn(c.Arg(0).(*Context))
	}).Document("Evaluates the right operand in a context returned by let, with, def, or unpack.",
		`let(a => 1) -> $a + 1`, `2`),
	Func("with", "*args stored", with).
		Document("Returns a context with the arguments as $1, $2, and so on.", `with(ab, cd) -> $2 + $1`, `"cdab"`),
	Func("let", "*args stored, **variables stored", let).
		Document("Returns a context with the arguments as variables: positional ones as $1, $2, and so on.",
			`let(1, 2, a => 3) -> $1 + $2 + $a`, `6`),
	Func("def", "name string, func lambda", def).
		Document("Returns a context with a function that evaluates func, with its arguments as $1, $2, and so on.",
			`def(square, $ * $) -> [1, 2, 3].select(square($))`, `[1, 4, 9]`,
			`def(f, switch($ < 2 => 1, true => $ * f($ - 1))) -> f(5)`, `120`),
	Method("unpack", "sequence iterable, *names string", unpack).
		Document("Returns a context with the items as variables, named by the arguments or, without arguments, $1, $2, and so on.",
			`[1, 2].unpack(a, b) -> $a + $b`, `3`, `[2, 3].unpack() -> $1 * $2`, `6`, `[1].unpack(a, b)`, `error: value`),
	Method("assert", "obj any, condition lambda, message string='assertion failed'", assert).
		Document("Returns the value if the condition is true for it, and fails with the message otherwise.",
			`12.assert($ < 20)`, `12`, `12.assert($ < 2)`, `error: value`),
	Func("call", "name string, args sequence, kwargs dict, receiver any=unset", callByName).
		Document("Calls a function or, with a receiver, a method by name. Keyword arguments are passed as a dictionary.",
			`call(let, [1, 2], {a => 3}) -> $1 + $2 + $a`, `6`, `call(take, [1], {}, [a, b])`, `["a"]`),
}

var delegateFunctions = []*Function{
	Func("#call", "callable function!, *args stored, **kwargs stored", callValue).
		Document("Calls a function value, as in $f(1).", `let(f => lambda(2 * $)) -> $f(4)`, `8`),
	Func("lambda", "func lambda", func(c *Call) (any, error) { return c.Arg(0), nil }).
		Document("Returns a function as a value. It requires the option delegates.",
			`let(f => lambda(2 * $)) -> [1, 2].select($f($))`, `[2, 4]`),
}

// fallbacks lists functions that are called only if no other overload accepts the arguments.
var fallbacks = []*Function{
	Func("#operator_.", "obj any, name keyword", func(c *Call) (any, error) {
		return c.Invoke("#property#"+c.String(1), c.Arg(0))
	}).Document("Returns a property of the left operand by calling the function #property#NAME."),
}

func safeDot(c *Call) (any, error) {
	if c.Arg(0) == nil {
		return nil, nil
	}
	return c.Invoke("#operator_.", c.Arg(0), c.Arg(1))
}

func with(c *Call) (any, error) {
	for i, v := range c.Rest() {
		c.Context().Set(argumentName(i), v)
	}
	return c.Context(), nil
}

func let(c *Call) (any, error) {
	for name, v := range c.Others {
		c.Context().Set(name, v)
	}
	return with(c)
}

func def(c *Call) (any, error) {
	body := c.Lambda(1)
	f := Func(c.String(0), "*args stored, **kwargs stored", func(call *Call) (any, error) {
		return body.CallNamed(call.Rest(), call.Others)
	})
	f.dynamic = true
	c.Context().Register(f)
	return c.Context(), nil
}

func unpack(c *Call) (any, error) {
	it, names := c.Iter(0), c.Rest()
	if len(names) > 0 {
		it = take(it, len(names)+1)
	} else if _, once := c.Arg(0).(*Iterator); once {
		if _, _, err := it.Next(); err != nil { // as in the reference, where this may be a bug
			return nil, err
		}
	}
	items, err := c.Collect(it)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 && len(names) != len(items) {
		return nil, Errorf(Value, "cannot unpack %d items or more into %d variables", len(items), len(names))
	}
	for i, v := range items {
		name := argumentName(i)
		if len(names) > 0 {
			name = names[i].(string)
		}
		c.Context().Set(name, v)
	}
	return c.Context(), nil
}

func assert(c *Call) (any, error) {
	v := c.Arg(0)
	if it, ok := v.(*Iterator); ok {
		v = c.Remember(it)
	}
	ok, err := c.Lambda(1).Test(v)
	if err == nil && !ok {
		err = Errorf(Value, "%s", c.String(2))
	}
	return v, err
}

func callByName(c *Call) (any, error) {
	var keywords []named
	for key, v := range c.Dict(2).All() {
		name, ok := key.(string)
		if !ok {
			return nil, Errorf(TypeError, "the keys of kwargs must be strings, not %s", typeName(key))
		}
		if r, _ := utf8.DecodeRuneInString(name); !isWordStart(r) || strings.HasPrefix(name, "__") {
			return nil, Errorf(Value, "invalid name %q in kwargs", name)
		}
		keywords = append(keywords, named{name, v})
	}
	var args []any
	if c.Has(3) {
		args = append(args, c.Arg(3))
	}
	args = append(args, c.List(1).Items()...)
	return c.invoke(c.outer.scope.lookup(c.String(0)), c.Has(3), args, keywords)
}

func callValue(c *Call) (any, error) {
	f, ok := c.Arg(0).(*Lambda)
	if !ok {
		return nil, Errorf(TypeError, "%s is not a function", typeName(c.Arg(0)))
	}
	return f.CallNamed(c.Rest(), c.Others)
}
