package yaql

import (
	"math"
	"math/big"
	"math/bits"
)

// maxIntDigits and maxIntBits limit the size of integers, since arithmetic on larger ones would delay cancellation too
// much.
const (
	maxIntDigits = 100_000
	maxIntBits   = 1 << 20
)

// normInt returns n as an int64 if it fits, or n itself otherwise.
func normInt(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

func bigOf(v any) *big.Int {
	switch v := v.(type) {
	case int64:
		return big.NewInt(v)
	case *big.Int:
		return v
	case bool:
		n, _ := numberOf(v)
		return bigOf(n)
	}
	return new(big.Int)
}

// isInt reports whether v is an integer. As in the reference, booleans are integers.
func isInt(v any) bool {
	switch v.(type) {
	case int64, *big.Int, bool:
		return true
	}
	return false
}

// floatOf converts a number to the nearest float64. It returns an error if the number is out of range.
func floatOf(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case bool:
		n, _ := numberOf(v)
		return floatOf(n)
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		if math.IsInf(f, 0) {
			return 0, Errorf(Value, "integer too large for a float")
		}
		return f, nil
	}
	return 0, Errorf(TypeError, "%s is not a number", typeName(v))
}

func floatsOf(a, b any) (x, y float64, err error) {
	if x, err = floatOf(a); err == nil {
		y, err = floatOf(b)
	}
	return x, y, err
}

// arithmetic returns a op b. op is one of + - * / %.
func arithmetic(op byte, a, b any) (any, error) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if v, ok := smallArithmetic(op, x, y); ok {
				return v, nil
			}
		}
	}
	if isInt(a) && isInt(b) {
		return bigArithmetic(op, bigOf(a), bigOf(b))
	}
	x, y, err := floatsOf(a, b)
	if err != nil {
		return nil, err
	}
	switch op {
	case '+':
		return x + y, nil
	case '-':
		return x - y, nil
	case '*':
		return x * y, nil
	}
	if y == 0 {
		return nil, Errorf(ZeroDivision, "division by zero")
	}
	if op == '/' {
		return x / y, nil
	}
	// The remainder has the sign of the divisor.
	r := math.Mod(x, y)
	switch {
	case r == 0:
		return math.Copysign(0, y), nil
	case (r < 0) != (y < 0):
		return r + y, nil
	}
	return r, nil
}

// smallArithmetic is a fast path of arithmetic for int64. It returns false on overflow and for division by zero.
func smallArithmetic(op byte, x, y int64) (any, bool) {
	switch op {
	case '+':
		z := x + y
		return z, (z > x) == (y > 0)
	case '-':
		z := x - y
		return z, (z < x) == (y > 0)
	case '*':
		hi, lo := bits.Mul64(magnitude(x), magnitude(y))
		return x * y, hi == 0 && lo <= math.MaxInt64
	}
	if y == 0 || x == math.MinInt64 {
		return nil, false
	}
	q, r := x/y, x%y
	if r != 0 && (r < 0) != (y < 0) {
		q, r = q-1, r+y
	}
	if op == '/' {
		return q, true
	}
	return r, true
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func bigArithmetic(op byte, x, y *big.Int) (any, error) {
	z := new(big.Int)
	switch op {
	case '+':
		z.Add(x, y)
	case '-':
		z.Sub(x, y)
	case '*':
		if x.BitLen()+y.BitLen() > maxIntBits {
			return nil, Errorf(Limit, "integer of more than %d bits", maxIntBits)
		}
		z.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return nil, Errorf(ZeroDivision, "division by zero")
		}
		// Quotients are rounded down.
		q, r := new(big.Int).QuoRem(x, y, new(big.Int))
		if r.Sign() != 0 && r.Sign() != y.Sign() {
			q.Sub(q, big.NewInt(1))
			r.Add(r, y)
		}
		if z = r; op == '/' {
			z = q
		}
	}
	return normInt(z), nil
}

func negate(v any) any {
	switch v := v.(type) {
	case int64:
		if v != math.MinInt64 {
			return -v
		}
		return new(big.Int).Neg(big.NewInt(v))
	case float64:
		return -v
	}
	return normInt(new(big.Int).Neg(bigOf(v)))
}

// Integer returns n as a YAQL value: an int64 if it fits, or n itself otherwise.
func Integer(n *big.Int) any { return normInt(n) }

// numberOf converts v to a number. It returns false if v is neither a number nor a boolean. As in the reference,
// booleans count as 0 and 1.
func numberOf(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case int64, float64, *big.Int:
		return v, true
	}
	return nil, false
}
