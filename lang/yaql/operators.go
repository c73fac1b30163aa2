package yaql

import (
	"cmp"
	"math/big"
	"time"
)

// shortcuts maps operators to implementations for the most common operands. They avoid overload resolution and are used
// if all overloads in scope are from the standard library.
var shortcuts = map[string]binaryOperator{
	"#operator_+":   plus,
	"#operator_-":   arithmeticOperator('-'),
	"#operator_*":   arithmeticOperator('*'),
	"#operator_/":   arithmeticOperator('/'),
	"#operator_mod": arithmeticOperator('%'),
	"#operator_<":   ordering(true, false, false),
	"#operator_<=":  ordering(true, true, false),
	"#operator_>":   ordering(false, false, true),
	"#operator_>=":  ordering(false, true, true),
	"*equal": func(_ *evaluation, a, b any) (any, bool, error) {
		same, err := equal(a, b)
		return same, true, err
	},
	"*not_equal": func(_ *evaluation, a, b any) (any, bool, error) {
		same, err := equal(a, b)
		return !same, true, err
	},
	"#indexer": index,
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64, *big.Int:
		return true
	}
	return false
}

func arithmeticOperator(op byte) binaryOperator {
	return func(_ *evaluation, a, b any) (any, bool, error) {
		if !isNumber(a) || !isNumber(b) {
			return nil, false, nil
		}
		v, err := arithmetic(op, a, b)
		return v, true, err
	}
}

func plus(ev *evaluation, a, b any) (any, bool, error) {
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		if !ok {
			return nil, false, nil
		}
		if err := ev.reserve(int64(len(s) + len(t))); err != nil {
			return nil, false, err
		}
		return s + t, true, nil
	}
	return arithmeticOperator('+')(ev, a, b)
}

// ordering returns a comparison operator. Its result is less, equal, or greater if the left operand is less than, equal
// to, or greater than the right one. Null is less than any other value.
func ordering(less, equal, greater bool) binaryOperator {
	return func(_ *evaluation, a, b any) (any, bool, error) {
		c := 0
		switch {
		case a == nil && b == nil:
		case a == nil && classOf(b) != clOpaque:
			c = -1
		case b == nil && classOf(a) != clOpaque:
			c = 1
		case isNumber(a) && isNumber(b):
			var ordered bool
			if c, ordered = compareNumbers(a, b); !ordered {
				return false, true, nil
			}
		default:
			var ok bool
			if c, ok = compareSame(a, b); !ok {
				return nil, false, nil
			}
		}
		return less && c < 0 || equal && c == 0 || greater && c > 0, true, nil
	}
}

// compareSame compares two strings, dates, or time spans. ok is false for other operands.
func compareSame(a, b any) (order int, ok bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return cmp.Compare(x, y), ok
	case time.Time:
		y, ok := b.(time.Time)
		return x.Compare(y), ok
	case TimeSpan:
		y, ok := b.(TimeSpan)
		return cmp.Compare(x, y), ok
	}
	return 0, false
}

func index(_ *evaluation, a, b any) (any, bool, error) {
	switch a := a.(type) {
	case *List:
		i, ok := b.(int64)
		if !ok {
			return nil, false, nil
		}
		if i < 0 {
			i += int64(len(a.items))
		}
		if i < 0 || i >= int64(len(a.items)) {
			return nil, true, Errorf(Index, "index %d is out of range for a list of %d", b, len(a.items))
		}
		return a.items[i], true, nil
	case *Dict:
		v, err := fetch(a, b)
		return v, true, err
	}
	return nil, false, nil
}

// fetch returns the value of a key. It returns an error if the key is missing.
func fetch(d *Dict, key any) (any, error) {
	v, ok, err := d.Get(key)
	if err == nil && !ok {
		if s, isString := key.(string); isString {
			return nil, Errorf(Key, "missing key %q", s)
		}
		return nil, Errorf(Key, "missing key of type %s", typeName(key))
	}
	return v, err
}
