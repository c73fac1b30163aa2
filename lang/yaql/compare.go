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
	case *List:
		return len(v.items) > 0
	case *Dict:
		return len(v.entries) > 0
	case *Set:
		return len(v.items) > 0
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

// compareNumbers compares exactly, whatever the types. It returns false if either is not a number in this sense: NaN.
func compareNumbers(a, b any) (int, bool) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case float64:
			return compareIntFloat(a, b)
		case *big.Int:
			return -b.Sign(), true
		}
	case float64:
		switch b := b.(type) {
		case float64:
			return cmp.Compare(a, b), a == a && b == b
		case int64:
			c, ok := compareIntFloat(b, a)
			return -c, ok
		case *big.Int:
			c, ok := compareBigFloat(b, a)
			return -c, ok
		}
	case *big.Int:
		switch b := b.(type) {
		case *big.Int:
			return a.Cmp(b), true
		case int64:
			return a.Sign(), true
		case float64:
			return compareBigFloat(a, b)
		}
	}
	return 0, false
}

func compareIntFloat(a int64, b float64) (int, bool) {
	switch {
	case b != b:
		return 0, false
	case b >= 1<<63:
		return -1, true
	case b < -1<<63:
		return 1, true
	}
	whole := int64(b)
	if c := cmp.Compare(a, whole); c != 0 {
		return c, true
	}
	return cmp.Compare(float64(whole), b), true
}

func compareBigFloat(a *big.Int, b float64) (int, bool) {
	switch {
	case b != b:
		return 0, false
	case math.IsInf(b, 0):
		return -int(math.Copysign(1, b)), true
	}
	return new(big.Float).SetInt(a).Cmp(big.NewFloat(b)), true
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
		if v {
			return int64(1), nil
		}
		return int64(0), nil
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
		var b strings.Builder
		if err := writeKey(&b, v); err != nil {
			return nil, err
		}
		return compositeKey(b.String()), nil
	}
	return v, nil
}

// writeKey writes text that differs for values that differ.
func writeKey(b *strings.Builder, v any) error {
	unhashable := func(mutable bool) error {
		if !mutable {
			return nil
		}
		return Errorf(TypeError, "a %s of this kind cannot be a key or an item of a set", typeName(v))
	}
	switch v := v.(type) {
	case *List:
		if err := unhashable(v.mutable); err != nil {
			return err
		}
		b.WriteByte('(')
		for _, x := range v.items {
			if err := writeKey(b, x); err != nil {
				return err
			}
		}
		b.WriteByte(')')
		return nil
	case *Set:
		return writeSorted(b, '<', len(v.items), unhashable(v.of != nil), func(b *strings.Builder, i int) error {
			return writeKey(b, v.items[i])
		})
	case *Dict:
		return writeSorted(b, '{', len(v.entries), unhashable(v.mutable), func(b *strings.Builder, i int) error {
			if err := writeKey(b, v.entries[i].key); err != nil {
				return err
			}
			return writeKey(b, v.entries[i].value)
		})
	}
	h, err := hashKey(v)
	if err != nil {
		return err
	}
	var s string
	switch h := h.(type) {
	case string:
		s = h
	case float64:
		s = strconv.FormatFloat(h, 'g', -1, 64)
	case int64, bigKey, TimeSpan, timeKey:
		s = fmt.Sprint(h)
	default:
		s = fmt.Sprintf("%p", h)
	}
	fmt.Fprintf(b, "%T:%d:%s", h, len(s), s)
	return nil
}

func writeSorted(b *strings.Builder, open byte, n int, err error, write func(*strings.Builder, int) error) error {
	if err != nil {
		return err
	}
	parts := make([]string, n)
	for i := range parts {
		var part strings.Builder
		if err := write(&part, i); err != nil {
			return err
		}
		parts[i] = part.String()
	}
	slices.Sort(parts)
	b.WriteByte(open)
	for _, p := range parts {
		fmt.Fprintf(b, "%d:%s", len(p), p)
	}
	b.WriteByte('.')
	return nil
}
