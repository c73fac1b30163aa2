package yaql

import (
	"cmp"
	"errors"
	"unicode/utf8"
)

var groupFunctions = []*Function{
	Method("groupBy", "collection iterable, keySelector lambda, valueSelector lambda=null, aggregator lambda=null", groupBy).
		Document("Returns pairs of a key and a list of the items with that key or, with a valueSelector, "+
			"their values. The aggregator is applied to each list. If it fails for the first list, it is applied "+
			"to the pairs instead, as in early versions of the language.",
			`[a, bb, c].groupBy($.len())`, `[[1, ["a", "c"]], [2, ["bb"]]]`,
			`[[a, 1], [b, 2], [a, 3]].groupBy($[0], $[1], $.sum())`, `[["a", 4], ["b", 2]]`,
			`[[a, 1], [b, 2], [a, 3]].groupBy($[0], $[1], [$[0], $[1].sum()])`, `[["a", 4], ["b", 2]]`),
	Method("join", "collection1 iterable, collection2 iterable, predicate lambda, selector lambda", join).
		Document("Returns the selector's result for each pair of items from two collections that meets the predicate.",
			`[1, 2].join([2, 3], $1 < $2, [$1, $2])`, `[[1, 2], [1, 3], [2, 3]]`),
	Method("zip", "*collections iterable", func(c *Call) (any, error) { return zip(c, false, nil), nil }).
		Document("Returns a list of the items at each position in several collections, up to the length of the shortest.",
			`[1, 2].zip([a, b, c])`, `[[1, "a"], [2, "b"]]`),
	Method("zipLongest", "*collections iterable, **options any", func(c *Call) (any, error) {
		var fill any
		if i := findNamed(c.others, "default"); i >= 0 {
			fill = c.others[i].value
		}
		return zip(c, true, fill), nil
	}).Document("Returns a list of the items at each position in several collections, up to the length of "+
		"the longest. Missing items are replaced with default or, without it, null.",
		`[1].zipLongest([a, b])`, `[[1, "a"], [null, "b"]]`, `[1].zipLongest([a, b], default => 0)`, `[[1, "a"], [0, "b"]]`),
	Method("slice", "collection iterable, length int", slice).
		Document("Splits the items into lists of the given length.", `range(5).slice(2)`, `[[0, 1], [2, 3], [4]]`),
	Method("splitAt", "collection iterable, index int", splitAt).
		Document("Returns two lists: the items before the position, and the rest. A negative position counts from the end.",
			`[1, 2, 3].splitAt(1)`, `[[1], [2, 3]]`),
	Method("splitWhere", "collection iterable, predicate lambda", splitWhere).
		Document("Splits the items into lists at each item for which the predicate is true, and drops that item.",
			`[1, 0, 2, 3].splitWhere($ = 0)`, `[[1], [2, 3]]`),
	Method("sliceWhere", "collection iterable, predicate lambda", sliceWhere).
		Document("Splits the items into lists of consecutive items with the same predicate result.",
			`[1, 2, 5, 6, 3].sliceWhere($ > 4)`, `[[1, 2], [5, 6], [3]]`),
}

func groupBy(c *Call) (any, error) {
	keyOf, valueOf := c.Lambda(1), c.Lambda(2)
	type group struct{ items []any }
	groups, size := NewDict(), int64(0)
	if err := c.each(c.Iter(0), func(v any) (_ bool, err error) {
		item := v
		if valueOf != nil {
			if v, err = valueOf.Call(item); err != nil {
				return false, err
			}
		}
		key, err := keyOf.Call(item)
		if err != nil {
			return false, err
		}
		known, ok, err := groups.Get(key)
		if err == nil && !ok {
			known = &group{}
			err = groups.Set(key, known)
		}
		if err != nil {
			return false, err
		}
		g := known.(*group)
		g.items = append(g.items, v)
		size += 16 + sizeOf(v)
		return true, c.Reserve(groups.size + size)
	}); err != nil {
		return nil, err
	}
	a := aggregator{lambda: c.Lambda(3), fallback: true}
	i := -1
	return NewIterator(func() (any, bool, error) {
		if i++; i == len(groups.entries) {
			return nil, false, nil
		}
		e := groups.entries[i]
		v, err := a.apply(e.key, NewPlainList(e.value.(*group).items))
		return v, true, err
	}), nil
}

// aggregator is the aggregator function of a groupBy call. It is called with lists of values until a call fails, and
// with pairs from then on.
type aggregator struct {
	lambda   *Lambda
	fallback bool // it may expect pairs instead
	failure  error
}

func (a *aggregator) apply(key any, values *List) (any, error) {
	pair := NewList([]any{key, values})
	if a.lambda == nil {
		return pair, nil
	}
	if a.failure == nil {
		v, err := a.lambda.Call(values)
		var e *Error
		switch {
		case err == nil:
			if !pairLike(v, values) {
				a.fallback = false
			}
			return NewList([]any{key, v}), nil
		case errors.As(err, &e) && (e.Kind == NoMatch || e.Kind == Index):
			a.failure = err
		default:
			return nil, err
		}
	}
	if a.fallback {
		v, err := a.lambda.Call(pair)
		var e *Error
		if errors.As(err, &e) && (e.Kind == Limit || e.Kind == Canceled) {
			return nil, err
		}
		n := 0
		switch v := v.(type) {
		case interface{ Len() int }:
			n = v.Len()
		case string:
			n = utf8.RuneCountInString(v)
		}
		if err == nil && n == 2 {
			return v, nil
		}
	}
	return nil, a.failure
}

// pairLike reports whether an aggregator that returned v for a list of two values may be written for pairs instead.
func pairLike(v any, values *List) bool {
	l, ok := v.(*List)
	return ok && l.Len() == 2 && values.Len() == 2 && Equal(l.items[0], values.items[0])
}

func join(c *Call) (any, error) {
	left, right, predicate, selector := c.Iter(0), c.memorized(1), c.Lambda(2), c.Lambda(3)
	return c.expand(func() (*Iterator, error) {
		v, ok, err := left.Next()
		if !ok || err != nil {
			return nil, err
		}
		return c.sift(c.Iterate(right), func(w any) (any, bool, error) {
			ok, err := predicate.Test(v, w)
			if !ok || err != nil {
				return nil, false, err
			}
			w, err = selector.Call(v, w)
			return w, true, err
		}), nil
	}), nil
}

func zip(c *Call, longest bool, fill any) *Iterator {
	its := c.iterators()
	left := len(its)
	return NewIterator(func() (any, bool, error) {
		row := make([]any, len(its))
		for i, it := range its {
			if row[i] = fill; it == nil {
				continue
			}
			v, ok, err := it.Next()
			switch {
			case err != nil || !ok && !longest:
				return nil, false, err
			case ok:
				row[i] = v
			default:
				its[i] = nil
				left--
			}
		}
		return NewList(row), left > 0, nil
	})
}

func slice(c *Call) (any, error) {
	it := c.Iter(0)
	return NewIterator(func() (any, bool, error) {
		n, err := c.natural(1)
		if err != nil {
			return nil, false, err
		}
		items, err := c.Collect(take(it, n))
		return NewList(items), len(items) > 0, err
	}), nil
}

func splitAt(c *Call) (any, error) {
	items, err := c.Collect(c.Iter(0))
	if err != nil {
		return nil, err
	}
	i := c.clamped(1)
	if i < 0 {
		i += len(items)
	}
	i = min(max(i, 0), len(items))
	return NewPlainList([]any{NewList(items[:i:i]), NewList(items[i:])}), nil
}

func splitWhere(c *Call) (any, error) {
	predicate := c.Lambda(1)
	return parted(c, func(v any, n int) (bool, int, error) {
		ok, err := predicate.Test(v)
		return ok, 1, err
	}), nil
}

func sliceWhere(c *Call) (any, error) {
	predicate := c.Lambda(1)
	var before any
	return parted(c, func(v any, i int) (bool, int, error) {
		now, err := predicate.Call(v)
		same, err2 := equal(now, before)
		before = now
		return i > 0 && !same, 0, cmp.Or(err, err2)
	}), nil
}

// parted splits the items at the indices for which cut returns true. cut also returns the number of items to drop
// there.
func parted(c *Call, cut func(v any, i int) (bool, int, error)) *Iterator {
	var items []any
	start, end := -1, 0
	return NewIterator(func() (any, bool, error) {
		var err error
		if start < 0 {
			if items, err = c.Collect(c.Iter(0)); err != nil {
				return nil, false, err
			}
			start = 0
		}
		for ; end < len(items); end++ {
			ok, width, err := cut(items[end], end)
			if err != nil {
				return nil, false, err
			}
			if ok {
				part := NewList(items[start:end:end])
				start = end + width
				end++
				return part, true, nil
			}
			if err := c.Tick(); err != nil {
				return nil, false, err
			}
		}
		part := NewList(items[start:])
		start = len(items)
		return part, part.Len() > 0, nil
	})
}
