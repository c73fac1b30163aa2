package yaql

import (
	"cmp"
	"math"
	"strings"
	"unicode/utf8"
)

var operatorFunctions = append([]*Function{
	Func("#operator_and", "left lambda, right lambda", junction(false)).
		Document("Returns the left operand if it is falsy; otherwise evaluates and returns the right one.",
			`1 and 2`, `2`, `[] and 1`, `[]`),
	Func("#operator_or", "left lambda, right lambda", junction(true)).
		Document("Returns the left operand if it is truthy; otherwise evaluates and returns the right one.",
			`1 or 2`, `1`, `'' or 2`, `2`),
	Func("#unary_operator_not", "operand any", func(c *Call) (any, error) {
		ok, err := Truth(c.Arg(0))
		return !ok, err
	}).
		Document("Returns whether the operand is falsy: null, false, zero, or empty.", `not {}`, `true`, `not 1`, `false`),
	Func("bool", "value any", func(c *Call) (any, error) { return Truth(c.Arg(0)) }).
		Document("Returns whether the value is truthy.", `bool([])`, `false`, `bool(2)`, `true`),
	Func("isBoolean", "value any", value(func(c *Call) any { _, ok := c.Arg(0).(bool); return ok })).
		Document("Returns whether the value is true or false.", `isBoolean(false)`, `true`, `isBoolean(0)`, `false`),

	infix("+", "number", "number").Document("Adds numbers. Integers are unbounded.",
		`2 + 1.5`, `3.5`, `9223372036854775807 + 1`, `9223372036854775808`),
	infix("-", "number", "number").Document("Subtracts numbers.", `2 - 3`, `-1`),
	infix("*", "number", "number").Document("Multiplies numbers.", `2 * 1.5`, `3.0`),
	infix("/", "number", "number").Document("Divides numbers. Integer division rounds down.",
		`7 / 2`, `3`, `-7 / 2`, `-4`, `7.0 / 2`, `3.5`, `1 / 0`, `error: zero-division`),
	infix("mod", "number", "number").Document("Returns the remainder of a division, with the sign of the divisor.",
		`7 mod 3`, `1`, `-7 mod 3`, `2`),
	Func("#unary_operator_+", "operand number", func(c *Call) (any, error) { return c.Arg(0), nil }).
		Document("Returns the operand.", `+1`, `1`),
	Func("#unary_operator_-", "operand number", value(func(c *Call) any { return negate(c.Arg(0)) })).
		Document("Negates a number.", `-(1 + 2)`, `-3`),
	Func("#operator_+", "left text, right text", func(c *Call) (any, error) { return c.join(iterateSlice(c.args), "", true) }).
		Document("Joins strings.", `'a' + b`, `"ab"`),
	Func("#operator_*", "text string, times int", func(c *Call) (any, error) {
		n, err := c.times(int64(len(c.String(0))))
		return strings.Repeat(c.String(0), n), err
	}).eitherWay().Document("Repeats a string.", `'ab' * 2`, `"abab"`, `'ab' * 1000000000000`, `error: limit`, `2 * ab`, `"abab"`),
	Func("#operator_in", "left string, right string", value(func(c *Call) any { return strings.Contains(c.String(1), c.String(0)) })).
		Document("Returns whether the right string contains the left one.", `'b' in abc`, `true`),
	Extension("len", "string string", value(func(c *Call) any { return int64(utf8.RuneCountInString(c.String(0))) })).
		Document("Returns the number of characters.", `len('häß')`, `3`),

	Func("*equal", "left any, right any", binaryCall("*equal")).
		Document("Returns whether the operands are equal. Numbers and booleans are compared by value, collections item by item.",
			`1 = 1.0`, `true`, `[1, {a => 2}] = [1, {a => 2}]`, `true`, `'1' = 1`, `false`),
	Func("*not_equal", "left any, right any", binaryCall("*not_equal")).
		Document("Returns whether the operands differ.", `1 != 2`, `true`),
}, orderings()...)

// infix declares a binary operator that is implemented by its entry in shortcuts.
func infix(op, left, right string) *Function {
	name := "#operator_" + op
	return Func(name, "left "+left+", right "+right, binaryCall(name))
}

func binaryCall(name string) func(*Call) (any, error) {
	f := shortcuts[name]
	return func(c *Call) (any, error) {
		v, _, err := f(c.ev, c.Arg(0), c.Arg(1))
		return v, err
	}
}

// orderings returns the overloads of the comparison operators for numbers, strings, and null.
func orderings() []*Function {
	var all []*Function
	for _, op := range []struct{ op, doc, example, result string }{
		{"<", "is less than", "1 < 1.5", "true"},
		{"<=", "is not greater than", "b <= ab", "false"},
		{">", "is greater than", "1 > null", "true"},
		{">=", "is not less than", "null >= null", "true"},
	} {
		for _, types := range [][2]string{
			{"number", "number"}, {"string", "string"}, {"datetime", "datetime"}, {"timespan", "timespan"}, {"any!", "null"}, {"null", "any!"}, {"null", "null"},
		} {
			all = append(all, infix(op.op, types[0], types[1]).Document("Returns whether the left operand "+op.doc+
				" the right one. Strings are compared by code points. Null is less than all else.", op.example, op.result))
		}
	}
	return all
}

func junction(or bool) func(*Call) (any, error) {
	return func(c *Call) (any, error) {
		v, err := c.Lambda(0).Call()
		if ok, err := truthOf(v, err); err != nil || ok == or {
			return v, err
		}
		v, err = c.Lambda(1).Call()
		return v, cmp.Or(err, opaque(v))
	}
}

// times returns the second argument as a repetition count. It returns an error if repeating a value of the given size
// would exceed the memory quota.
func (c *Call) times(size int64) (int, error) {
	n, err := c.Int(1)
	switch {
	case err != nil && (size == 0 || bigOf(c.Arg(1)).Sign() < 0):
		return 0, err
	case err != nil || size > 0 && int64(n) > math.MaxInt64/size:
		return 0, c.ev.overQuota()
	case n <= 0 || size == 0:
		return 0, nil
	}
	if err := c.Reserve(int64(n) * size); err != nil {
		return 0, err
	}
	return n, nil
}
