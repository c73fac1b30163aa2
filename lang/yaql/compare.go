package yaql

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Truth reports whether v is truthy: anything but null, false, zero, and empty values. It returns an error for opaque
// values.
func Truth(v any) (bool, error) {
	switch v := v.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case float64:
		return v != 0, nil
	case string:
		return v != "", nil
	case TimeSpan:
		return v != 0, nil
	case interface{ Len() int }:
		return v.Len() > 0, nil
	case Opaque:
		return false, v.YAQLOpaque()
	}
	return true, nil
}

func truthOf(v any, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	return Truth(v)
}

// compareNumbers compares two numbers by value, regardless of type. It returns false if either is NaN.
func compareNumbers(a, b any) (int, bool) {
	m, small := a.(int64)
	n, smallToo := b.(int64)
	x, isX := a.(float64)
	y, isY := b.(float64)
	const exact = 1 << 53 // integers up to this limit are exact as floats
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

// bigFloat converts a number exactly. The number must not be NaN.
func bigFloat(v any) *big.Float {
	if x, ok := v.(float64); ok {
		return big.NewFloat(x)
	}
	return new(big.Float).SetInt(bigOf(v))
}

// Equal reports whether a and b are equal: 1 = 1.0 = true, lists and dictionaries by their elements, sets regardless of
// order. Opaque values are compared by identity; to detect them, use [Known].
func Equal(a, b any) bool { return new(comparison).equal(a, b) }

// comparison caches pairs of equal collections, so that shared parts are compared only once. The first difference ends
// a comparison.
type comparison struct {
	compared int
	pairs    map[[2]any]bool
}

// again reports whether a and b are identical or have already been compared. It caches pairs only in long comparisons.
func (c *comparison) again(a, b any) bool {
	if c.compared++; a == b || c.compared < 1000 {
		return a == b
	}
	if c.pairs == nil {
		c.pairs = map[[2]any]bool{}
	}
	pair := [2]any{a, b}
	again := c.pairs[pair]
	c.pairs[pair] = true
	return again
}

func (c *comparison) equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		return ok && (c.again(a, b) || x.mutable == y.mutable && slices.EqualFunc(x.items, y.items, c.equal))
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x.Len() != y.Len() || c.again(a, b) {
			return ok && x.Len() == y.Len()
		}
		for _, e := range x.entries {
			if v, ok, err := y.Get(e.key); err != nil || !ok || !c.equal(e.value, v) {
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

// equal is like [Equal] but returns an error if a or b is opaque.
func equal(a, b any) (bool, error) { return Equal(a, b), cmp.Or(Known(a), Known(b)) }

// sameObject compares host values. Values of types that are not comparable in Go are never equal.
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
	nanKey       uint64
)

// nans is a counter that makes the keys of NaNs distinct, since no NaN equals another.
var nans atomic.Uint64

// hashKey returns a value that is a valid Go map key and is equal for equal values. It returns an error if v is
// unhashable.
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
			return nanKey(nans.Add(1)), nil
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
	case Opaque:
		return nil, v.YAQLOpaque()
	}
	if !sameObject(v, v) { // not comparable
		return nil, unhashable(v)
	}
	return v, nil
}

func unhashable(v any) error {
	return Errorf(TypeError, "%s of this kind cannot be a key or an item of a set", typeName(v))
}

// keyText returns a string that is equal for equal values only. Collections cache their string, since they may be
// shared, and replace long strings with hashes.
func keyText(v any) (string, error) {
	var parts []any
	var mutable bool
	var kept *atomic.Pointer[string]
	open := "("
	switch v := v.(type) {
	case *List:
		parts, mutable, kept = v.items, v.mutable, &v.key
	case *Set:
		open, parts, mutable, kept = "<", v.items, v.of != nil, &v.key
	case *Dict:
		open, mutable, kept = "{", v.mutable, &v.key
		if kept.Load() == nil {
			for _, e := range v.entries {
				parts = append(parts, NewList([]any{e.key, e.value}))
			}
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
		return "", unhashable(v)
	}
	if key := kept.Load(); key != nil {
		return *key, nil
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
	key := open + strings.Join(texts, "")
	if len(key) > 2*sha256.Size {
		sum := sha256.Sum256([]byte(key))
		key = "#" + string(sum[:])
	}
	kept.Store(&key)
	return key, nil
}
