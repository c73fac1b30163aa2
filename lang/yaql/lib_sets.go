package yaql

import "cmp"

var setFunctions = []*Function{
	Func("set", "*args any", func(c *Call) (any, error) { return c.setOf(c.spread(c.Rest())) }).
		Document("Returns a set of the arguments. Iterators are replaced by their items.",
			`set(1, 1.0, [2])`, `[1, [2]]`),
	Method("toSet", "collection iterable", func(c *Call) (any, error) {
		if s, ok := c.Arg(0).(*Set); ok && s.of == nil {
			return s, nil
		}
		return c.setOf(c.Iter(0))
	}).Document("Returns a set of the items.", `[a, b, a].toSet()`, `["a", "b"]`),
	Func("isSet", "arg any", value(func(c *Call) any { _, ok := c.Arg(0).(*Set); return ok })).
		Document("Returns whether the value is a set.", `isSet(set())`, `true`, `isSet([])`, `false`),
	Extension("len", "set set", value(func(c *Call) any { return int64(c.Set(0).Len()) })).
		Document("Returns the number of items.", `set(1, 1).len()`, `1`),
	Method("union", "left set, right set", func(c *Call) (any, error) { return combine(c, c.Set(1), union) }).
		Document("Returns the items of both sets.", `set(1, 2).union(set(2, 3))`, `[1, 2, 3]`),
	Method("intersect", "left set, right set", func(c *Call) (any, error) { return combine(c, c.Set(1), intersection) }).
		Document("Returns the items that are in both sets.", `set(1, 2).intersect(set(2, 3))`, `[2]`),
	Method("difference", "left set, right set", func(c *Call) (any, error) { return combine(c, c.Set(1), difference) }).
		Document("Returns the items of the left set that are not in the right one.", `set(1, 2).difference(set(2, 3))`, `[1]`),
	Func("#operator_-", "left set, right set", func(c *Call) (any, error) { return combine(c, c.Set(1), difference) }).
		Document("Returns the items of the left set that are not in the right one.", `set(1, 2) - set(2, 3)`, `[1]`),
	Method("symmetricDifference", "left set, right set", func(c *Call) (any, error) {
		return combine(c, c.Set(1), difference|difference<<2)
	}).Document("Returns the items that are in exactly one of the sets.", `set(1, 2).symmetricDifference(set(2, 3))`, `[1, 3]`),
	Method("add", "set set, *values any", func(c *Call) (any, error) { return combineRest(c, union) }).
		Document("Returns the set with the values added.", `set(1).add(2, 1)`, `[1, 2]`),
	Method("remove", "set set, *values any", func(c *Call) (any, error) { return combineRest(c, difference) }).
		Document("Returns the set without the given values.", `set(1, 2).remove(2, 3)`, `[1]`),
	setOrdering("<", func(a, b *Set) bool { return a.Len() < b.Len() && a.SubsetOf(b) }).
		Document("Returns whether the left set is a proper subset of the right one.", `set(1) < set(1, 2)`, `true`),
	setOrdering("<=", func(a, b *Set) bool { return a.SubsetOf(b) }).
		Document("Returns whether the left set is a subset of the right one.", `set(1) <= set(1)`, `true`),
	setOrdering(">", func(a, b *Set) bool { return b.Len() < a.Len() && b.SubsetOf(a) }).
		Document("Returns whether the left set is a proper superset of the right one.", `set(1) > set(1)`, `false`),
	setOrdering(">=", func(a, b *Set) bool { return b.SubsetOf(a) }).
		Document("Returns whether the left set is a superset of the right one.", `set(1) >= set()`, `true`),
}

// Set operations are masks of the items to keep: bit 0 for items in both sets, bit 1 for items only in the left set,
// and bit 3 for items only in the right set. Bit 2 has no effect.
const (
	intersection = 1 << 0
	difference   = 1 << 1
	union        = intersection | difference | difference<<2
)

func combine(c *Call, right *Set, keep int) (any, error) {
	left := c.Set(0)
	if left.of != nil {
		return nil, Errorf(TypeError, "%s does not support keys and items of a dictionary; use toSet() first", c.fn.Name)
	}
	result := NewSet()
	for side, s := range []*Set{left, right} {
		other := []*Set{right, left}[side]
		for _, v := range s.items {
			has, err := other.Has(v)
			if err != nil {
				return nil, err
			}
			bit := 2 * side
			if !has {
				bit++
			}
			if keep&(1<<bit) != 0 {
				if err := result.Add(v); err != nil {
					return nil, err
				}
			}
			if err := c.Tick(); err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

func combineRest(c *Call, keep int) (any, error) {
	right, err := SetOf(c.Rest())
	if err != nil {
		return nil, err
	}
	return combine(c, right, keep)
}

func setOrdering(op string, compare func(a, b *Set) bool) *Function {
	return Func("#operator_"+op, "left set, right set", func(c *Call) (any, error) {
		return compare(c.Set(0), c.Set(1)), cmp.Or(Known(c.Set(0)), Known(c.Set(1)))
	})
}

// setOf returns a set of the items of an iterator. It returns an error if a limit is exceeded.
func (c *Call) setOf(it *Iterator) (any, error) {
	s := NewSet()
	return s, c.each(it, func(v any) (bool, error) {
		if err := s.Add(v); err != nil {
			return false, err
		}
		return true, c.Reserve(s.size)
	})
}
