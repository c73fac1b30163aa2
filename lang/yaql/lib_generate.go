package yaql

import "slices"

var generatorFunctions = []*Function{
	Func("range", "stop int", func(c *Call) (any, error) { return count(int64(0), c.Arg(0), int64(1)), nil }).
		Document("Returns the integers from 0 up to, but not including, stop.", `range(3)`, `[0, 1, 2]`),
	Func("range", "start int, stop int, step int=1", func(c *Call) (any, error) {
		if Equal(c.Arg(2), int64(0)) {
			return nil, Errorf(Value, "step of range must not be 0")
		}
		return count(normInt(bigOf(c.Arg(0))), c.Arg(1), c.Arg(2)), nil
	}).Document("Returns the integers from start up to, but not including, stop.",
		`range(2, 4)`, `[2, 3]`, `range(5, 0, -2)`, `[5, 3, 1]`),
	Func("sequence", "start int=0, step int=1", func(c *Call) (any, error) {
		start, step := c.Arg(0), c.Arg(1)
		if Equal(step, int64(1)) {
			start = normInt(bigOf(start))
		}
		return count(start, nil, step), nil
	}).Document("Returns an endless sequence of integers.",
		`sequence().takeWhile($ < 3)`, `[0, 1, 2]`, `sequence(5, -2).take(3)`, `[5, 3, 1]`),
	Method("repeat", "value stored, times int=-1", repeatValue).
		Document("Repeats a value the given number of times. By default, the sequence is endless.",
			`a.repeat(2)`, `["a", "a"]`, `a.repeat().take(3)`, `["a", "a", "a"]`),
	Method("cycle", "collection iterable", cycle).
		Document("Returns an endless sequence that repeats the items.", `[1, 2].cycle().take(5)`, `[1, 2, 1, 2, 1]`),
	Func("generate", "initial any, predicate lambda, producer lambda, selector lambda=null, decycle bool=false", generate).
		Document("Returns the initial value and, repeatedly, the producer's result for the previous value, while the predicate "+
			"is true. The selector is applied to each value. With decycle, the sequence ends at the first repeated value.",
			`generate(1, $ < 20, $ * 2)`, `[1, 2, 4, 8, 16]`, `generate(1, $ < 20, $ * 2, -$)`, `[-1, -2, -4, -8, -16]`,
			`generate(1, true, ($ * 2) mod 7, decycle => true)`, `[1, 2, 4]`),
	Func("generateMany", "initial any, producer lambda, selector lambda=null, decycle bool=false, depthFirst bool=false", generateMany).
		Document("Traverses a tree: returns the initial value, the items that the producer returns for it, and  "+
			"so on, breadth-first or, with depthFirst, depth-first. The selector is applied to each value.  "+
			"With decycle, repeated values are skipped.",
			`generateMany(1, [$ * 2, $ * 2 + 1].where($ < 8))`, `[1, 2, 3, 4, 5, 6, 7]`,
			`generateMany(1, [$ * 2, $ * 2 + 1].where($ < 8), depthFirst => true)`, `[1, 2, 4, 5, 3, 6, 7]`),
}

// count returns an iterator over the integers from start up to but not including stop. It is infinite if stop is nil.
func count(start, stop, step any) *Iterator {
	down := 1
	if c, _ := compareNumbers(normInt(bigOf(step)), int64(0)); c < 0 {
		down = -1
	}
	if stop != nil {
		stop = normInt(bigOf(stop))
	}
	return NewIterator(func() (any, bool, error) {
		v := start
		if stop != nil {
			if c, _ := compareNumbers(v, stop); c*down >= 0 {
				return nil, false, nil
			}
		}
		var err error
		start, err = arithmetic('+', start, step)
		return v, true, err
	})
}

func repeatValue(c *Call) (any, error) {
	times, err := c.Int(1)
	if err != nil && bigOf(c.Arg(1)).Sign() < 0 {
		times, err = -1, nil
	}
	endless := NewIterator(func() (any, bool, error) { return c.Arg(0), true, nil })
	if times < 0 || err != nil {
		return endless, err
	}
	return take(endless, times), nil
}

func cycle(c *Call) (any, error) {
	all := c.Remember(c.Iter(0))
	it, empty := all, true
	return NewIterator(func() (any, bool, error) {
		v, ok, err := it.Next()
		if !ok && err == nil && !empty {
			it = c.Iterate(all)
			v, ok, err = it.Next()
		}
		empty = false
		return v, ok, err
	}), nil
}

func generate(c *Call) (any, error) {
	v, predicate, producer, selector := c.Arg(0), c.Lambda(1), c.Lambda(2), c.Lambda(3)
	seen, decycle, started := NewSet(), c.Bool(4), false
	return NewIterator(func() (_ any, ok bool, err error) {
		if started {
			if v, err = producer.Call(v); err != nil {
				return nil, false, err
			}
		}
		started = true
		if ok, err = predicate.Test(v); ok && err == nil && decycle {
			ok, err = c.addNew(seen, v)
		}
		if !ok || err != nil || selector == nil {
			return v, ok, err
		}
		selected, err := selector.Call(v)
		return selected, true, err
	}), nil
}

func generateMany(c *Call) (any, error) {
	producer, selector, decycle, depthFirst := c.Lambda(1), c.Lambda(2), c.Bool(3), c.Bool(4)
	seen := NewSet()
	queue, size := []any{c.Arg(0)}, sizeOf(c.Arg(0)) // used as a stack if depthFirst is set
	var current any
	produce := func() error {
		v, err := producer.Call(current)
		if err != nil {
			return err
		}
		parts, err := c.parts(v)
		if err != nil {
			return err
		}
		from := len(queue)
		if err := c.each(parts, func(v any) (bool, error) {
			queue = append(queue, v)
			size += 16 + sizeOf(v)
			return true, c.Reserve(size)
		}); err != nil {
			return err
		}
		if depthFirst {
			slices.Reverse(queue[from:])
		}
		return nil
	}
	started := false
	return NewIterator(func() (any, bool, error) {
		if started {
			if err := produce(); err != nil {
				return nil, false, err
			}
		}
		started = true
		for len(queue) > 0 {
			if depthFirst {
				current, queue = queue[len(queue)-1], queue[:len(queue)-1]
			} else {
				current, queue = queue[0], queue[1:]
			}
			size -= 16 + sizeOf(current)
			added, err := true, c.Tick()
			if decycle && err == nil {
				added, err = c.addNew(seen, current)
			}
			switch {
			case err != nil:
				return nil, false, err
			case !added:
			case selector == nil:
				return current, true, nil
			default:
				v, err := selector.Call(current)
				return v, true, err
			}
		}
		return nil, false, nil
	}), nil
}
