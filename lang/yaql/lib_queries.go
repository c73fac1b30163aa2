package yaql

import (
	"cmp"
	"slices"
)

var queryFunctions = []*Function{
	Method("where", "collection iterable, predicate lambda", where).
		Document("Returns the items for which the predicate is true.", `[1, 2, 3].where($ > 1)`, `[2, 3]`),
	Method("filter", "collection iterable, predicate lambda", where).
		Document("An alias for where.", `[1, 2, 3].filter($ > 1)`, `[2, 3]`),
	Method("select", "collection iterable, selector lambda", selectItems).
		Document("Returns the selector's result for each item.", `[1, 2].select($ * 10)`, `[10, 20]`),
	Method("map", "collection iterable, selector lambda", selectItems).
		Document("An alias for select.", `[1, 2].map($ * 10)`, `[10, 20]`),
	Method("selectMany", "collection iterable, selector lambda", selectMany).
		Document("Concatenates the collections that the selector returns for the items. Other results are kept as items.",
			`[1, 2].selectMany([$, $ * 10])`, `[1, 10, 2, 20]`, `[1, 2].selectMany($)`, `[1, 2]`),
	Func("#operator_.", "collection iterable, attribute keyword.expr", attributeOfAll).
		Document("Returns the value of a key, or a property, of each item.", `[{a => 1}, {a => 2}].a`, `[1, 2]`),
	Method("skip", "collection iterable, count int!", skip).
		Document("Skips the first count items.", `[1, 2, 3].skip(1)`, `[2, 3]`, `[1].skip(-1)`, `error: value`),
	Method("limit", "collection iterable, count int!", limit).
		Document("Returns the first count items.", `sequence().limit(3)`, `[0, 1, 2]`),
	Method("take", "collection iterable, count int!", limit).
		Document("An alias for limit.", `sequence().take(3)`, `[0, 1, 2]`, `[1].take(-1)`, `error: value`),
	Method("takeWhile", "collection iterable, predicate lambda", takeWhile).
		Document("Returns the items before the first one for which the predicate is false.", `[1, 2, 3, 1].takeWhile($ < 3)`, `[1, 2]`),
	Method("skipWhile", "collection iterable, predicate lambda", skipWhile).
		Document("Returns the items from the first one for which the predicate is false.", `[1, 2, 3, 1].skipWhile($ < 3)`, `[3, 1]`),
	Extension("append", "collection iterable, *args stored", func(c *Call) (any, error) {
		return Chain(c.Iter(0), iterateSlice(c.Rest())), nil
	}).Document("Returns the items followed by the arguments.", `[1].append(2, [3])`, `[1, 2, [3]]`),
	Extension("concat", "*collections iterable", func(c *Call) (any, error) { return Chain(c.iterators()...), nil }).
		Document("Concatenates collections.", `concat([1], [2, 3], [4])`, `[1, 2, 3, 4]`),
	Extension("distinct", "collection iterable, keySelector lambda=null", func(c *Call) (any, error) {
		return c.distinct(c.Iter(0), c.Lambda(1)), nil
	}).Document("Removes items that equal an earlier item or, with a keySelector, have the same key as one.",
		`[1, 2, 1.0].distinct()`, `[1, 2]`, `[a, bc, d].distinct($.len())`, `["a", "bc"]`),
	Extension("enumerate", "collection iterable, start int?=0", enumerate).
		Document("Returns the items, each paired with its index, counted from start.",
			`[a, b].enumerate(1)`, `[[1, "a"], [2, "b"]]`),
	Method("reverse", "collection iterable", reverse).
		Document("Returns the items in reverse order.", `[1, 2, 3].reverse()`, `[3, 2, 1]`),
	Method("memorize", "collection iterable", func(c *Call) (any, error) { return c.memorized(0), nil }).
		Document("Caches items as they are read, so that the collection can be read repeatedly.",
			`let(sequence().take(3).memorize()) -> [$.sum(), $.len()]`, `[3, 3]`,
			`let(sequence().take(3)) -> [$.sum(), $.len()]`, `[3, 0]`),
	Method("defaultIfEmpty", "collection iterable, default iterable", defaultIfEmpty).
		Document("Returns the collection or, if it has no items, the default.", `[].defaultIfEmpty([1])`, `[1]`, `[2].defaultIfEmpty([1])`, `[2]`),

	Extension("any", "collection iterable, predicate lambda=null", anyItem).
		Document("Returns whether the predicate is true for any item. Without a predicate, it returns whether the collection has items.",
			`[1, 2].any($ > 1)`, `true`, `[].any()`, `false`),
	Extension("all", "collection iterable, predicate lambda=null", allItems).
		Document("Returns whether the predicate is true for all items. Without a predicate, it tests the items themselves.",
			`[1, 2].all($ > 1)`, `false`, `[1, 0].all()`, `false`, `[].all()`, `true`),
	Extension("len", "collection iterator", countItems).
		Document("Reads all items and returns their number.", `[1, 2].where($ > 1).len()`, `1`),
	Method("count", "collection iterable", countItems).
		Document("Reads all items and returns their number.", `[1, 2].count()`, `2`),
	Method("first", "collection iterable, default stored=unset", first).
		Document("Returns the first item, or the default if there is none.",
			`[1, 2].first()`, `1`, `[].first(0)`, `0`, `[].first()`, `error: value`),
	Method("last", "collection iterable, default stored=unset", last).
		Document("Returns the last item, or the default if there is none.", `[1, 2].last()`, `2`, `[].last(0)`, `0`),
	Method("single", "collection iterable", single).
		Document("Returns the only item of a collection.", `[1].single()`, `1`, `[1, 2].single()`, `error: value`),
	Method("indexOf", "collection iterable, item any", indexer((*Call).equals, false)).
		Document("Returns the index of the first item that equals the argument, or -1.", `[a, b, b].indexOf(b)`, `1`),
	Method("lastIndexOf", "collection iterable, item any", indexer((*Call).equals, true)).
		Document("Returns the index of the last item that equals the argument, or -1.", `[a, b, b].lastIndexOf(b)`, `2`),
	Method("indexWhere", "collection iterable, predicate lambda", indexer((*Call).satisfies, false)).
		Document("Returns the index of the first item for which the predicate is true, or -1.", `[1, 2, 3].indexWhere($ > 1)`, `1`),
	Method("lastIndexWhere", "collection iterable, predicate lambda", indexer((*Call).satisfies, true)).
		Document("Returns the index of the last item for which the predicate is true, or -1.", `[1, 2, 3].lastIndexWhere($ > 3)`, `-1`),
	Method("sum", "collection iterable, initial any=unset", fold("#operator_+")).
		Document("Returns the sum of the items and the optional initial value.",
			`[1, 2].sum()`, `3`, `[b, c].sum(a)`, `"abc"`, `[].sum()`, `error: type`),
	Method("max", "collection iterable, initial any=unset", fold("max")).
		Document("Returns the greatest of the items and the optional initial value.", `[].max(1)`, `1`),
	Method("min", "collection iterable, initial any=unset", fold("min")).
		Document("Returns the least of the items and the optional initial value.", `[].min(1)`, `1`),
	Method("aggregate", "collection iterable, selector lambda, seed stored=unset", aggregate).
		Document("Combines the items into one value: repeatedly applies the selector to the result so far "+
			"and the next item. The initial result is the seed or, without one, the first item.",
			`[a, b, c].aggregate($1 + '-' + $2)`, `"a-b-c"`, `[1, 2].aggregate($1 - $2, 10)`, `7`),
	Method("reduce", "collection iterable, selector lambda, seed stored=unset", aggregate).
		Document("An alias for aggregate.", `[1, 2, 3].reduce($1 * $2)`, `6`),
	Method("accumulate", "collection iterable, selector lambda, seed stored=unset", accumulate).
		Document("Returns all intermediate results of aggregate.", `[1, 2, 3].accumulate($1 + $2)`, `[1, 3, 6]`, `[1].accumulate($1 + $2, 10)`, `[10, 11]`),
}

// each calls f for each item until f returns false or an error.
func (c *Call) each(it *Iterator, f func(v any) (bool, error)) error {
	for {
		v, ok, err := it.Next()
		if !ok || err != nil {
			return err
		}
		if err := c.Tick(); err != nil {
			return err
		}
		if more, err := f(v); !more || err != nil {
			return err
		}
	}
}

// sift returns an iterator over the results of f for each item. Items for which f returns false are dropped.
func (c *Call) sift(it *Iterator, f func(v any) (any, bool, error)) *Iterator {
	return NewIterator(func() (any, bool, error) {
		for {
			v, ok, err := it.Next()
			if !ok || err != nil {
				return nil, false, err
			}
			if v, ok, err = f(v); ok || err != nil {
				return v, ok, err
			}
			if err := c.Tick(); err != nil {
				return nil, false, err
			}
		}
	})
}

// expand returns an iterator over the items of the iterators returned by next. It ends when next returns nil.
func (c *Call) expand(next func() (*Iterator, error)) *Iterator {
	var it *Iterator
	return NewIterator(func() (any, bool, error) {
		for {
			if it != nil {
				if v, ok, err := it.Next(); ok || err != nil {
					return v, ok, err
				}
			}
			var err error
			if it, err = next(); it == nil || err != nil {
				return nil, false, err
			}
			if err := c.Tick(); err != nil {
				return nil, false, err
			}
		}
	})
}

// inner returns an iterator over a nested collection. The iterator returns an error if a limit is exceeded.
func (c *Call) inner(v any) (*Iterator, error) {
	v, err := c.ev.limited(v)
	return c.Iterate(v), cmp.Or(err, opaque(v))
}

// iterators returns iterators over the arguments collected by *args.
func (c *Call) iterators() []*Iterator {
	its := make([]*Iterator, len(c.Rest()))
	for i, v := range c.Rest() {
		its[i] = c.Iterate(v)
	}
	return its
}

// memorized returns the ith argument. An iterator, which could be read only once, is wrapped to cache its items.
func (c *Call) memorized(i int) any {
	if it, ok := c.Arg(i).(*Iterator); ok {
		return c.Remember(it)
	}
	return c.Arg(i)
}

// natural returns the ith argument as an int. It returns an error if the argument is negative.
func (c *Call) natural(i int) (int, error) {
	n, err := c.Int(i)
	if err == nil && n < 0 {
		err = Errorf(Value, "%s of %s must not be negative", c.fn.param(i).Name, c.fn.Name)
	}
	return n, err
}

// satisfies returns the second argument as a predicate. If the argument is null, the predicate is [Truth].
func (c *Call) satisfies() func(v any) (bool, error) {
	f := c.Lambda(1)
	return func(v any) (bool, error) {
		if f == nil {
			return Truth(v)
		}
		return f.Test(v)
	}
}

func errNoItem(text string) error { return Errorf(Value, "%s", text) }

func where(c *Call) (any, error) {
	test := c.satisfies()
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		ok, err := test(v)
		return v, ok, err
	}), nil
}

func selectItems(c *Call) (any, error) {
	selector := c.Lambda(1)
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		v, err := selector.Call(v)
		return v, true, err
	}), nil
}

func selectMany(c *Call) (any, error) {
	it, selector := c.Iter(0), c.Lambda(1)
	return c.expand(func() (*Iterator, error) {
		v, ok, err := it.Next()
		if !ok || err != nil {
			return nil, err
		}
		if v, err = selector.Call(v); err != nil {
			return nil, err
		}
		if classOf(v)&(clAnyIter|clOpaque) == 0 {
			return one(v), nil
		}
		return c.inner(v)
	}), nil
}

func attributeOfAll(c *Call) (any, error) {
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		v, err := c.Invoke("#operator_.", v, c.Arg(1))
		return v, true, err
	}), nil
}

func skip(c *Call) (any, error) {
	n, err := c.natural(1)
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		n--
		return v, n < 0, nil
	}), err
}

func limit(c *Call) (any, error) {
	n, err := c.natural(1)
	return take(c.Iter(0), n), err
}

// take returns an iterator over the first n items. It does not read any further items.
func take(it *Iterator, n int) *Iterator {
	return NewIterator(func() (any, bool, error) {
		if n--; n < 0 {
			return nil, false, nil
		}
		return it.Next()
	})
}

func takeWhile(c *Call) (any, error) {
	it, predicate := c.Iter(0), c.Lambda(1)
	return NewIterator(func() (any, bool, error) {
		v, ok, err := it.Next()
		if ok && err == nil {
			ok, err = predicate.Test(v)
		}
		return v, ok, err
	}), nil
}

func skipWhile(c *Call) (any, error) {
	predicate, skipping := c.Lambda(1), true
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		var err error
		if skipping {
			skipping, err = predicate.Test(v)
		}
		return v, !skipping, err
	}), nil
}

// distinct returns an iterator over the first item of each key. Without a selector, each item is its own key.
func (c *Call) distinct(it *Iterator, selector *Lambda) *Iterator {
	seen := NewSet()
	return c.sift(it, func(v any) (any, bool, error) {
		key := v
		if selector != nil {
			var err error
			if key, err = selector.Call(v); err != nil {
				return nil, false, err
			}
		}
		added, err := c.addNew(seen, key)
		return v, added, err
	})
}

// addNew adds a value to a set and reports whether it was missing.
func (c *Call) addNew(s *Set, v any) (bool, error) {
	n := s.Len()
	if err := s.Add(v); err != nil {
		return false, err
	}
	return s.Len() > n, c.Reserve(s.size)
}

func enumerate(c *Call) (any, error) {
	if c.Arg(1) == nil { // the iterator fails, not the call, as in the reference
		return NewIterator(func() (any, bool, error) { return nil, false, Errorf(TypeError, "start of enumerate must not be null") }), nil
	}
	n := normInt(bigOf(c.Arg(1)))
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		pair := NewPlainList([]any{n, v})
		var err error
		n, err = arithmetic('+', n, int64(1))
		return pair, true, err
	}), nil
}

func reverse(c *Call) (any, error) {
	items, err := c.Collect(c.Iter(0))
	slices.Reverse(items)
	return iterateSlice(items), err
}

func defaultIfEmpty(c *Call) (any, error) {
	v := c.memorized(0)
	_, ok, err := c.Iterate(v).Next()
	if !ok && err == nil {
		return c.Arg(1), nil
	}
	return v, err
}

func anyItem(c *Call) (any, error) {
	test := func(any) (bool, error) { return true, nil }
	if c.Lambda(1) != nil {
		test = c.satisfies()
	}
	i, err := c.position(c.Iter(0), test, false)
	return i >= 0, err
}

func allItems(c *Call) (any, error) {
	test := c.satisfies()
	i, err := c.position(c.Iter(0), func(v any) (bool, error) {
		ok, err := test(v)
		return !ok, err
	}, false)
	return i < 0, err
}

func countItems(c *Call) (any, error) {
	n := int64(0)
	err := c.each(c.Iter(0), func(any) (bool, error) {
		n++
		return true, nil
	})
	return n, err
}

func first(c *Call) (any, error) {
	v, ok, err := c.Iter(0).Next()
	switch {
	case ok || err != nil:
		return v, err
	case c.Has(1):
		return c.Arg(1), nil
	}
	return nil, errNoItem("first of an empty collection needs a default")
}

func last(c *Call) (v any, err error) {
	v = c.Arg(1)
	if l, ok := c.Arg(0).(*List); ok && l.Len() > 0 {
		return l.items[l.Len()-1], nil
	}
	err = c.each(c.Iter(0), func(item any) (bool, error) {
		v = item
		return true, nil
	})
	if _, none := v.(unset); none && err == nil {
		err = errNoItem("last of an empty collection needs a default")
	}
	return v, err
}

func single(c *Call) (any, error) {
	it := c.Iter(0)
	v, ok, err := it.Next()
	if err == nil && ok {
		_, ok, err = it.Next()
		ok = !ok
	}
	if err == nil && !ok {
		err = errNoItem("single of a collection that does not have exactly one item")
	}
	return v, err
}

// indexer returns a function that finds the index of the first or last item that satisfies a test.
func indexer(test func(*Call) func(any) (bool, error), last bool) func(*Call) (any, error) {
	return func(c *Call) (any, error) { return c.position(c.Iter(0), test(c), last) }
}

// equals returns a test that an item equals the second argument.
func (c *Call) equals() func(any) (bool, error) {
	return func(v any) (bool, error) { return equal(v, c.Arg(1)) }
}

// position returns the index of the first or last item that satisfies the test, or -1.
func (c *Call) position(it *Iterator, test func(any) (bool, error), last bool) (int64, error) {
	found, i := int64(-1), int64(-1)
	err := c.each(it, func(v any) (bool, error) {
		i++
		ok, err := test(v)
		if ok && err == nil {
			found = i
		}
		return last || !ok, err
	})
	return found, err
}

// fold returns a function that reduces a collection with the named function.
func fold(name string) func(*Call) (any, error) {
	return func(c *Call) (any, error) { return c.reduce(c.operator(name), 1) }
}

func aggregate(c *Call) (any, error) {
	selector := c.Lambda(1)
	return c.reduce(func(a, b any) (any, error) { return selector.Call(a, b) }, 2)
}

// reduce folds f over the items. The initial value is the argument with index seed or, if that is unset, the first
// item.
func (c *Call) reduce(f func(a, b any) (any, error), seed int) (any, error) {
	v, started := c.Arg(seed), c.Has(seed)
	err := c.each(c.Iter(0), func(item any) (_ bool, err error) {
		if started {
			item, err = f(v, item)
		}
		v, started = item, true
		return true, err
	})
	if err == nil && !started {
		err = Errorf(TypeError, "%s of an empty collection needs an initial value", c.fn.Name)
	}
	return v, err
}

func accumulate(c *Call) (any, error) {
	it, selector, v, started := c.Iter(0), c.Lambda(1), c.Arg(2), false
	return NewIterator(func() (any, bool, error) {
		if !started && c.Has(2) {
			started = true
			return v, true, nil
		}
		item, ok, err := it.Next()
		if !ok || err != nil {
			if err == nil && !started {
				err = Errorf(TypeError, "accumulate of an empty collection needs a seed")
			}
			return nil, false, err
		}
		if started {
			item, err = selector.Call(v, item)
		}
		v, started = item, true
		return v, true, err
	}), nil
}
