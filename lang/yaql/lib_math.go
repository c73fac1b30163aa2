package yaql

import (
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

var mathFunctions = []*Function{
	Func("abs", "op number", value(func(c *Call) any {
		if f, ok := c.Arg(0).(float64); ok {
			return math.Abs(f)
		}
		return normInt(new(big.Int).Abs(bigOf(c.Arg(0))))
	})).Document("Returns the absolute value.", `abs(-2)`, `2`, `abs(-2.5)`, `2.5`),
	Func("int", "value any", toInt).
		Document("Converts to an integer: truncates a float, or parses a decimal string. Null is 0.",
			`int('12')`, `12`, `int(-2.7)`, `-2`, `int(null)`, `0`, `int(x)`, `error: value`),
	Func("float", "value any", toFloat).
		Document("Converts a number or string to a float. Null is 0.", `float('2.50')`, `2.5`, `float(1)`, `1.0`),
	Func("random", "", value(func(*Call) any { return rand.Float64() })).
		Document("Returns a random number from 0 up to, but not including, 1.", `random() < 1`, `true`),
	Func("random", "from any, to any", randomBetween).
		Document("Returns a random integer between two bounds, inclusive.", `random(2, 2)`, `2`, `random(2, 1)`, `error: value`),
	Func("bitwiseAnd", "left int, right int", bitwise((*big.Int).And)).
		Document("Returns the bits that are set in both integers.", `bitwiseAnd(6, 3)`, `2`),
	Func("bitwiseOr", "left int, right int", bitwise((*big.Int).Or)).
		Document("Returns the bits that are set in either integer.", `bitwiseOr(6, 3)`, `7`),
	Func("bitwiseXor", "left int, right int", bitwise((*big.Int).Xor)).
		Document("Returns the bits that are set in exactly one of the integers.", `bitwiseXor(6, 3)`, `5`),
	Func("bitwiseNot", "arg int", value(func(c *Call) any { return normInt(new(big.Int).Not(bigOf(c.Arg(0)))) })).
		Document("Inverts all bits of the integer: the result is -1 minus the integer.", `bitwiseNot(5)`, `-6`),
	Func("shiftBitsRight", "value int, bitsNumber int", func(c *Call) (any, error) { return shift(c, false) }).
		Document("Divides by a power of two, rounding down.", `shiftBitsRight(9, 2)`, `2`),
	Func("shiftBitsLeft", "value int, bitsNumber int", func(c *Call) (any, error) { return shift(c, true) }).
		Document("Multiplies by a power of two.", `shiftBitsLeft(1, 70)`, `1180591620717411303424`, `shiftBitsLeft(1, 1000000000)`, `error: limit`),
	Func("max", "a any, b any", func(c *Call) (any, error) { return greater(c, 1, 0) }).
		Document("Returns the greater of two values, compared by the operator >.", `max(1, 2.5)`, `2.5`, `max(null, a)`, `"a"`),
	Func("min", "a any, b any", func(c *Call) (any, error) { return greater(c, 0, 1) }).
		Document("Returns the lesser of two values, compared by the operator >.", `min(1, 2.5)`, `1`),
	Func("pow", "a number, b number, c number=null", power).
		Document("Returns a to the power of b, modulo c if given.",
			`pow(2, 10)`, `1024`, `pow(2, -1)`, `0.5`, `pow(3, 4, 5)`, `1`,
			`pow(2, 1000000000)`, `error: limit`),
	Func("sign", "num number", value(func(c *Call) any {
		s, _ := compareNumbers(c.Arg(0), int64(0))
		return int64(s)
	})).Document("Returns the sign of the number: 1, 0, or -1.", `sign(-2.5)`, `-1`),
	Func("round", "number number, ndigits int=0", round).
		Document("Rounds to a number of decimal places, which may be negative. Ties round to even.",
			`round(2.5)`, `2.0`, `round(2.345, 1)`, `2.3`, `round(25, -1)`, `20`),
	Func("isInteger", "value any", value(func(c *Call) any { return classOf(c.Arg(0)) == clInt })).
		Document("Returns whether the value is an integer.", `isInteger(1)`, `true`, `isInteger(1.0)`, `false`),
	Func("isNumber", "value any", value(func(c *Call) any { return isNumber(c.Arg(0)) })).
		Document("Returns whether the value is an integer or a float.", `isNumber(1.5)`, `true`, `isNumber('1')`, `false`),
}

// maxTextDigits limits conversions between integers and strings, as in the reference.
const maxTextDigits = 4300

var (
	intText   = regexp.MustCompile(`^[+-]?[0-9]+(_[0-9]+)*$`)
	floatText = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan|([0-9]+(_[0-9]+)*\.?([0-9]+(_[0-9]+)*)?|\.[0-9]+(_[0-9]+)*)(e[+-]?[0-9]+(_[0-9]+)*)?)$`)
)

func toInt(c *Call) (any, error) {
	switch v := c.Arg(0).(type) {
	case nil:
		return int64(0), nil
	case int64, *big.Int, bool:
		return normInt(bigOf(v)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, Errorf(Value, "%v has no integer value", v)
		}
		n, _ := big.NewFloat(v).Int(nil)
		return normInt(n), nil
	case string:
		s, err := asciiDigits(v)
		if err != nil {
			return nil, err
		}
		if !intText.MatchString(s) {
			return nil, Errorf(Value, "%q is not an integer", shorten(v))
		}
		if s = strings.ReplaceAll(s, "_", ""); len(strings.TrimLeft(s, "+-")) > maxTextDigits {
			return nil, Errorf(Value, "integer of more than %d digits", maxTextDigits)
		}
		n, _ := new(big.Int).SetString(s, 10)
		return normInt(n), nil
	}
	return nil, Errorf(TypeError, "%s cannot be converted to an integer", typeName(c.Arg(0)))
}

func toFloat(c *Call) (any, error) {
	switch v := c.Arg(0).(type) {
	case nil:
		return 0.0, nil
	case string:
		s, err := asciiDigits(v)
		if err != nil {
			return nil, err
		}
		if !floatText.MatchString(s) {
			return nil, Errorf(Value, "%q is not a number", shorten(v))
		}
		f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64) // infinite if out of range
		return f, nil
	}
	return floatOf(c.Arg(0))
}

func randomBetween(c *Call) (any, error) {
	var bounds [2]*big.Int
	for i := range bounds {
		f, isFloat := c.Arg(i).(float64)
		if isFloat && (f != math.Trunc(f) || math.IsInf(f, 0)) {
			return nil, Errorf(Value, "%v is not an integer", f)
		}
		if !isFloat && !isInt(c.Arg(i)) {
			return nil, Errorf(TypeError, "%s is not a number", typeName(c.Arg(i)))
		}
		if bounds[i] = bigOf(c.Arg(i)); isFloat {
			bounds[i], _ = big.NewFloat(f).Int(nil)
		}
	}
	span := new(big.Int).Sub(bounds[1], bounds[0])
	if span.Sign() < 0 {
		return nil, Errorf(Value, "no integer from %s to %s", bounds[0], bounds[1])
	}
	span.Add(span, big.NewInt(1))
	bits := new(big.Int)
	for range span.BitLen()/64 + 2 {
		bits.Or(bits.Lsh(bits, 64), new(big.Int).SetUint64(rand.Uint64()))
	}
	return normInt(bits.Add(bits.Mod(bits, span), bounds[0])), nil
}

// bitwise returns a function that applies op to two integers. For two booleans, the result is a boolean.
func bitwise(op func(z, x, y *big.Int) *big.Int) func(*Call) (any, error) {
	return value(func(c *Call) any {
		z := op(new(big.Int), bigOf(c.Arg(0)), bigOf(c.Arg(1)))
		if classOf(c.Arg(0))|classOf(c.Arg(1)) == clBool {
			return z.Sign() != 0
		}
		return normInt(z)
	})
}

func shift(c *Call, left bool) (any, error) {
	x, n := bigOf(c.Arg(0)), bigOf(c.Arg(1))
	switch {
	case n.Sign() < 0:
		return nil, Errorf(Value, "negative shift")
	case x.Sign() == 0:
		return int64(0), nil
	case !n.IsInt64() || n.Int64() > maxIntBits || left && n.Int64() > int64(maxIntBits-x.BitLen()):
		if !left {
			return int64(min(x.Sign(), 0)), nil
		}
		return nil, Errorf(Limit, "integer of more than %d bits", maxIntBits)
	case left:
		return normInt(new(big.Int).Lsh(x, uint(n.Int64()))), nil
	}
	return normInt(new(big.Int).Rsh(x, uint(n.Int64()))), nil
}

// greater compares the first two arguments. It returns the argument with index ifGreater if the second is greater than
// the first, or the argument with index otherwise if not.
func greater(c *Call, ifGreater, otherwise int) (any, error) {
	ok, err := truthOf(c.Invoke("#operator_>", c.Arg(1), c.Arg(0)))
	if ok {
		return c.Arg(ifGreater), err
	}
	return c.Arg(otherwise), err
}

func power(c *Call) (any, error) {
	a, b := c.Arg(0), c.Arg(1)
	if c.Arg(2) != nil {
		return powerModulo(a, b, c.Arg(2))
	}
	if isInt(a) && isInt(b) && bigOf(b).Sign() >= 0 {
		x, y := bigOf(a), bigOf(b)
		if x.CmpAbs(big.NewInt(1)) > 0 && (!y.IsInt64() || y.Int64() > maxIntBits/int64(x.BitLen()-1)) {
			return nil, Errorf(Limit, "integer of more than %d bits", maxIntBits)
		}
		if x.CmpAbs(big.NewInt(1)) <= 0 && y.Sign() > 0 {
			y = big.NewInt(2 - int64(y.Bit(0))) // only the parity matters
		}
		return normInt(new(big.Int).Exp(x, y, nil)), nil
	}
	x, y, err := floatsOf(a, b)
	if err != nil {
		return nil, err
	}
	z := floatPower(x, y)
	switch {
	case x == 0 && y < 0:
		return nil, Errorf(ZeroDivision, "zero to a negative power")
	case math.IsInf(z, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
		return nil, Errorf(Value, "result too large for a float")
	case math.IsNaN(z) && x < 0 && !math.IsNaN(y):
		return nil, Errorf(Value, "a negative number has no real power of %v", y)
	}
	return z, nil
}

// floatPower returns x**y. It is more precise than math.Pow, which may be off by several units in the last place.
func floatPower(x, y float64) float64 {
	whole, fraction := math.Modf(math.Abs(y))
	if !(whole < 1<<62) || x == 0 || x < 0 && fraction != 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Pow(x, y)
	}
	z := big.NewFloat(1).SetPrec(192)
	base := new(big.Float).SetPrec(192).SetFloat64(x)
	for root := new(big.Float).Copy(base); fraction > 0; fraction -= math.Trunc(fraction) {
		root.Sqrt(root)
		if fraction *= 2; fraction >= 1 {
			z.Mul(z, root)
		}
	}
	for n := int64(whole); n > 0; n /= 2 {
		if n%2 == 1 {
			z.Mul(z, base)
		}
		base.Mul(base, base)
	}
	if y < 0 {
		z.Quo(big.NewFloat(1).SetPrec(192), z)
	}
	f, _ := z.Float64()
	return f
}

func powerModulo(a, b, c any) (any, error) {
	if !isInt(a) || !isInt(b) || !isInt(c) {
		return nil, Errorf(TypeError, "pow with a modulus takes integers")
	}
	x, y, m := bigOf(a), bigOf(b), bigOf(c)
	if m.Sign() == 0 {
		return nil, Errorf(Value, "the modulus of pow must not be 0")
	}
	// Each bit of the exponent costs a multiplication modulo m, and a negative exponent costs an inversion of the base.
	if int64(y.BitLen())*int64(m.BitLen()) > maxIntBits*16 || y.Sign() < 0 && m.BitLen() > maxIntBits/8 {
		return nil, Errorf(Limit, "pow of %d bits modulo %d bits", y.BitLen(), m.BitLen())
	}
	abs := new(big.Int).Abs(m)
	z := new(big.Int)
	if y.Sign() < 0 {
		if x = z.ModInverse(new(big.Int).Mod(x, abs), abs); x == nil {
			return nil, Errorf(Value, "the base has no inverse for the modulus")
		}
		y = new(big.Int).Neg(y)
	}
	z = new(big.Int).Exp(x, y, abs)
	z.Mod(z, abs)
	if m.Sign() < 0 && z.Sign() != 0 {
		z.Add(z, m)
	}
	return normInt(z), nil
}

func round(c *Call) (any, error) {
	digits := c.clamped(1)
	if isInt(c.Arg(0)) {
		n := bigOf(c.Arg(0))
		if digits >= 0 {
			return normInt(n), nil
		}
		if -digits > n.BitLen() {
			return int64(0), nil
		}
		return normInt(roundTo(new(big.Rat).SetInt(n), -digits)), nil
	}
	f := c.Arg(0).(float64)
	switch {
	case f == 0 || math.IsNaN(f) || math.IsInf(f, 0) || digits > 400:
		return f, nil
	case digits < -400:
		return math.Copysign(0, f), nil
	}
	var r float64
	if digits >= 0 {
		r, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	} else {
		r, _ = new(big.Float).SetInt(roundTo(new(big.Rat).SetFloat64(f), -digits)).Float64()
	}
	if math.IsInf(r, 0) {
		return nil, Errorf(Value, "rounded value too large for a float")
	}
	return math.Copysign(r, f), nil
}

// roundTo rounds x to a multiple of 10^zeros, with ties to even.
func roundTo(x *big.Rat, zeros int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), nil)
	denom := new(big.Int).Mul(x.Denom(), unit) // a big.Rat would compute the greatest common divisor
	q, rest := new(big.Int).DivMod(x.Num(), denom, new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(denom); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q.Mul(q, unit)
}
