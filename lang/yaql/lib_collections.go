package yaql

import "slices"

var collectionFunctions = []*Function{
	Func("#list", "*args stored", value(func(c *Call) any { return NewList(slices.Clone(c.Rest())) })).
		Document("Returns a list. [1, 2] calls this function.", `[1, a, null]`, `[1, "a", null]`),
	Func("list", "*args stored", func(c *Call) (any, error) { return c.listOf(c.spread(c.Rest())) }).
		Document("Returns a list of the arguments. Iterators are replaced by their items.",
			`list(1, [2], [3, 4].select($))`, `[1, [2], 3, 4]`),
	Method("toList", "collection iterable", func(c *Call) (any, error) {
		if l, ok := c.Arg(0).(*List); ok && !l.mutable {
			return l, nil
		}
		return c.listOf(c.Iter(0))
	}).Document("Returns a list of the items.", `[1, 2].select($ + 1).toList()[0]`, `2`),
	Method("flatten", "collection iterable", flatten).
		Document("Replaces nested collections with their items, recursively.",
			`[1, [2, [3]], set(4)].flatten()`, `[1, 2, 3, 4]`),
	Func("#indexer", "list sequence, index int!", listIndexer).
		Document("Returns an item of a list. A negative index counts from the end.",
			`[1, 2, 3][0]`, `1`, `[1, 2, 3][-1]`, `3`, `[1][1]`, `error: index`),
	Func("#operator_in", "value any, collection iterable", func(c *Call) (any, error) { return contains(c, 1, 0) }).
		Document("Returns whether the collection contains a value equal to the left operand.", `1 in [1.0]`, `true`),
	Method("contains", "collection iterable, value any", func(c *Call) (any, error) { return contains(c, 0, 1) }).
		Document("Returns whether the collection contains a value.", `[a, b].contains(b)`, `true`),
	Func("#operator_+", "left iterable, right iterable", concatenate).
		Document("Concatenates collections. The result for two sets is their union.", `[1] + [2]`, `[1, 2]`),
	Func("#operator_*", "list sequence, times int", func(c *Call) (any, error) {
		l := c.List(0)
		n, err := c.times(l.size + 16*int64(l.Len()))
		r := NewList(slices.Repeat(l.items, n))
		r.mutable = l.mutable
		return r, err
	}).eitherWay().Document("Repeats a list.", `[1, 2] * 2`, `[1, 2, 1, 2]`, `2 * [1]`, `[1, 1]`),
	Func("isList", "arg any", value(func(c *Call) any { _, ok := c.Arg(0).(*List); return ok })).
		Document("Returns whether the value is a list.", `isList([])`, `true`, `isList([].select($))`, `false`),
	Func("isIterable", "value any", value(func(c *Call) any { return classOf(c.Arg(0))&clAnyIter != 0 })).
		Document("Returns whether the value is a collection other than a dictionary.",
			`isIterable([])`, `true`, `isIterable(abc)`, `false`),
	Method("delete", "collection iterable, position int, count int=1", deleteItems).
		Document("Removes count items, starting at a position. A negative count removes all remaining items.",
			`[1, 2, 3, 4].delete(1)`, `[1, 3, 4]`, `[1, 2, 3, 4].delete(1, -1)`, `[1]`),
	Method("replace", "collection iterable, position int, value stored, count int=1", func(c *Call) (any, error) {
		return replaceItems(c, one(c.Arg(2))), nil
	}).Document("Replaces count items, starting at a position, with a value. A negative count replaces all remaining items.",
		`[1, 2, 3].replace(0, a, 2)`, `["a", 3]`),
	Method("replaceMany", "collection iterable, position int, values iterable, count int=1", func(c *Call) (any, error) {
		return replaceItems(c, c.Iter(2)), nil
	}).Document("Replaces count items, starting at a position, with others. A negative count replaces all remaining items.",
		`[1, 2, 3].replaceMany(0, [a, b], -1)`, `["a", "b"]`),
	Method("insert", "collection nonset, position int, value stored", func(c *Call) (any, error) {
		return insertItems(c, c.clamped(1), one(c.Arg(2))), nil
	}).Document("Inserts a value before a position, or after the last item.",
		`[1, 2].select($).insert(1, a)`, `[1, "a", 2]`),
	Method("insert", "collection sequence, position int, value stored", insertIntoList).
		Document("Inserts a value into a list before a position. A negative position counts from the end.",
			`[1, 2].insert(-1, a)`, `[1, "a", 2]`),
	Method("insertMany", "collection iterable, position int, values iterable", func(c *Call) (any, error) {
		if position := c.clamped(1); position >= 0 {
			return insertItems(c, position, c.Iter(2)), nil
		}
		return Chain(c.Iter(2), c.Iter(0)), nil
	}).Document("Inserts items before a position. A negative position means the start; one beyond the last item, the end.",
		`[1, 2].insertMany(1, [a, b])`, `[1, "a", "b", 2]`),
	Extension("len", "sequence sequence", value(func(c *Call) any { return int64(c.List(0).Len()) })).
		Document("Returns the number of items.", `len([1, 2])`, `2`),
}

func listIndexer(c *Call) (any, error) {
	i, err := c.Int(1)
	if err != nil {
		return nil, Errorf(Index, "index is out of range")
	}
	v, _, err := index(c.ev, c.Arg(0), int64(i))
	return v, err
}

func contains(c *Call, collection, value int) (any, error) {
	if s, ok := c.Arg(collection).(*Set); ok {
		return s.Has(c.Arg(value))
	}
	return c.has(c.Iter(collection), c.Arg(value))
}

// has reports whether an iterator yields v.
func (c *Call) has(it *Iterator, v any) (bool, error) {
	i, err := c.position(it, func(item any) (bool, error) { return equal(item, v) }, false)
	return i >= 0, err
}

// listOf returns a list of the items of an iterator. It returns an error if a limit is exceeded.
func (c *Call) listOf(it *Iterator) (any, error) {
	items, err := c.Collect(it)
	return NewList(items), err
}

// spread returns an iterator over the values, with the items of iterators in their place.
func (c *Call) spread(values []any) *Iterator {
	return c.unnest(iterateSlice(values), clIterator)
}

func flatten(c *Call) (any, error) {
	return c.unnest(c.Iter(0), clAnyIter|clOpaque), nil
}

// unnest returns an iterator over the items of it in which items of the classes in nested are replaced recursively by
// their own items.
func (c *Call) unnest(it *Iterator, nested class) *Iterator {
	stack := []*Iterator{it}
	return NewIterator(func() (any, bool, error) {
		for len(stack) > 0 {
			v, ok, err := stack[len(stack)-1].Next()
			switch {
			case err != nil:
				return nil, false, err
			case !ok:
				stack = stack[:len(stack)-1]
			case classOf(v)&nested == 0:
				return v, true, nil
			case len(stack) > maxNesting:
				return nil, false, Errorf(Limit, "collection nested deeper than %d levels", maxNesting)
			default:
				if it, err = c.inner(v); err != nil {
					return nil, false, err
				}
				stack = append(stack, it)
			}
			if err := c.Tick(); err != nil {
				return nil, false, err
			}
		}
		return nil, false, nil
	})
}

func concatenate(c *Call) (any, error) {
	if a, ok := c.Arg(0).(*List); ok && !a.mutable {
		if b, ok := c.Arg(1).(*List); ok && !b.mutable {
			return NewList(slices.Concat(a.items, b.items)), c.Reserve(a.size + b.size)
		}
	}
	if a, ok := c.Arg(0).(*Set); ok && a.of == nil {
		if b, ok := c.Arg(1).(*Set); ok && b.of == nil {
			return SetOf(slices.Concat(a.items, b.items))
		}
	}
	return Chain(c.Iter(0), c.Iter(1)), nil
}

// Chain returns an iterator over the items of all its, one after another.
func Chain(its ...*Iterator) *Iterator {
	return NewIterator(func() (any, bool, error) {
		for len(its) > 0 {
			v, ok, err := its[0].Next()
			if ok || err != nil {
				return v, ok, err
			}
			its = its[1:]
		}
		return nil, false, nil
	})
}

func one(v any) *Iterator { return iterateSlice([]any{v}) }

// spanned reports whether i is one of the count indices starting at position. A negative count means that there is no
// limit.
func spanned(i, position, count int) bool {
	return i >= position && (count < 0 || i-count < position)
}

func deleteItems(c *Call) (any, error) {
	position, count, i := c.clamped(1), c.clamped(2), -1
	return c.sift(c.Iter(0), func(v any) (any, bool, error) {
		i++
		return v, !spanned(i, position, count), nil
	}), nil
}

func replaceItems(c *Call, values *Iterator) *Iterator {
	it, position, count, i := c.Iter(0), c.clamped(1), c.clamped(3), -1
	return c.expand(func() (*Iterator, error) {
		v, ok, err := it.Next()
		if !ok || err != nil {
			return nil, err
		}
		i++
		if spanned(i, position, count) {
			return values, nil // an iterator has no items the second time
		}
		return one(v), nil
	})
}

func insertItems(c *Call, position int, values *Iterator) *Iterator {
	it, i := c.Iter(0), -1
	return c.expand(func() (*Iterator, error) {
		v, ok, err := it.Next()
		i++
		switch {
		case err != nil:
			return nil, err
		case !ok && i <= position:
			i = position
			return values, nil
		case !ok:
			return nil, nil
		case i == position:
			return Chain(values, one(v)), nil
		}
		return one(v), nil
	})
}

func insertIntoList(c *Call) (any, error) {
	items := c.List(0).items
	position, err := c.Int(1)
	if err != nil {
		return nil, err
	}
	if position < 0 {
		position += len(items)
	}
	position = min(max(position, 0), len(items))
	return NewPlainList(slices.Concat(items[:position], []any{c.Arg(2)}, items[position:])), nil
}
