package yaql

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Truth reports whether v counts as true: everything except null, false, zero and what is empty.
func Truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case TimeSpan:
		return v != 0
	case interface{ Len() int }:
		return v.Len() > 0
	}
	return true
}

// numberOf returns v as a number: bool counts as 0 or 1, as it does wherever the reference compares.
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

// compareNumbers compares numbers exactly, whatever the types. It returns false if either is NaN.
func compareNumbers(a, b any) (int, bool) {
	m, small := a.(int64)
	n, smallToo := b.(int64)
	x, isX := a.(float64)
	y, isY := b.(float64)
	const exact = 1 << 53 // Integers up to it are floats.
	switch {
	case small && smallToo:
		return cmp.Compare(m, n), true
	case x != x || y != y:
		return 0, false
	case small && isY && -exact < m && m < exact:
		return cmp.Compare(float64(m), y), true
	case isX && smallToo && -exact < n && n < exact:
		return cmp.Compare(x, float64(n)), true
	case isX && isY:
		return cmp.Compare(x, y), true
	}
	return bigFloat(a).Cmp(bigFloat(b)), true
}

// bigFloat returns exactly a number that is not NaN.
func bigFloat(v any) *big.Float {
	if x, ok := v.(float64); ok {
		return big.NewFloat(x)
	}
	return new(big.Float).SetInt(bigOf(v))
}

// Equal reports whether a and b are equal: 1 = 1.0 = true, lists and dictionaries by their parts, sets by their items.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		return ok && x.mutable == y.mutable && slices.EqualFunc(x.items, y.items, Equal)
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for _, e := range x.entries {
			if v, ok, err := y.Get(e.key); err != nil || !ok || !Equal(e.value, v) {
				return false
			}
		}
		return true
	case *Set:
		y, ok := b.(*Set)
		return ok && x.Len() == y.Len() && x.SubsetOf(y)
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	if x, ok := numberOf(a); ok {
		if y, ok := numberOf(b); ok {
			c, ok := compareNumbers(x, y)
			return ok && c == 0
		}
		return false
	}
	return sameObject(a, b)
}

// sameObject compares values of other types, which have to be comparable to be equal to anything.
func sameObject(a, b any) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return a == b
}

// SubsetOf reports whether all items of s are in t.
func (s *Set) SubsetOf(t *Set) bool {
	if s.of != nil || t.of != nil {
		return !slices.ContainsFunc(s.items, func(v any) bool {
			has, err := t.Has(v)
			return !has || err != nil
		})
	}
	for h := range s.index {
		if _, ok := t.index[h]; !ok {
			return false
		}
	}
	return true
}

type (
	bigKey       string
	compositeKey string
	timeKey      struct{ seconds, nanoseconds int64 }
	nanKey       struct{ _ *int }
)

// hashKey returns a comparable value that is the same for equal values. The error is that of a type that is not
// hashable.
func hashKey(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, int64, TimeSpan:
		return v, nil
	case bool:
		n, _ := numberOf(v)
		return n, nil
	case float64:
		switch {
		case v != v:
			return nanKey{new(int)}, nil // equal to nothing
		case v == math.Trunc(v) && v >= -1<<63 && v < 1<<63:
			return int64(v), nil
		case v == math.Trunc(v) && !math.IsInf(v, 0):
			n, _ := big.NewFloat(v).Int(nil)
			return bigKey(n.Text(62)), nil
		}
		return v, nil
	case *big.Int:
		return bigKey(v.Text(62)), nil
	case time.Time:
		return timeKey{v.Unix(), int64(v.Nanosecond())}, nil
	case *List, *Dict, *Set:
		s, err := keyText(v)
		return compositeKey(s), err
	}
	return v, nil
}

// keyText returns text that differs for values that differ.
func keyText(v any) (string, error) {
	var parts []any
	var mutable bool
	open := "("
	switch v := v.(type) {
	case *List:
		parts, mutable = v.items, v.mutable
	case *Set:
		open, parts, mutable = "<", v.items, v.of != nil
	case *Dict:
		open, mutable = "{", v.mutable
		for _, e := range v.entries {
			parts = append(parts, NewList([]any{e.key, e.value}))
		}
	default:
		switch h, err := hashKey(v); h.(type) {
		case string, float64, int64, bigKey, TimeSpan, timeKey:
			return fmt.Sprintf("%T:%v", h, h), err
		default:
			return fmt.Sprintf("%T:%p", h, h), err
		}
	}
	if mutable {
		return "", Errorf(TypeError, "a %s of this kind cannot be a key or an item of a set", typeName(v))
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		s, err := keyText(part)
		if err != nil {
			return "", err
		}
		texts[i] = strconv.Itoa(len(s)) + ":" + s
	}
	if open != "(" {
		slices.Sort(texts)
	}
	return open + strings.Join(texts, ""), nil
}
