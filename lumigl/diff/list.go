package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
)

// lists returns the changes between two lists. It matches equal elements in the same order. Between the matches, it
// pairs similar elements as changes.
func (c *comparer) lists(old, new lumigl.Value) []Change {
	mark := len(c.elements)
	a := c.list(old)
	b := c.list(new)
	changes := c.aligned(a, b)
	c.elements = c.elements[:mark]
	return changes
}

// list returns the elements of v. The result is valid until lists returns.
func (c *comparer) list(v lumigl.Value) []lumigl.Value {
	start := len(c.elements)
	for _, e := range v.Elements() {
		c.elements = append(c.elements, e)
	}
	return c.elements[start:]
}

func (c *comparer) aligned(a, b []lumigl.Value) []Change {
	if len(a) == 1 && len(b) == 1 && a[0].Kind() == b[0].Kind() {
		change, differ := c.element(a, b, 0, 0)
		if !differ {
			return nil
		}
		return []Change{change}
	}
	var changes []Change
	i, j := 0, 0
	for _, k := range append(c.kept(a, b), link{len(a), len(b)}) {
		for _, p := range c.pairs(a[i:k.a], b[j:k.b]) {
			if change, differ := c.element(a, b, shift(p.a, i), shift(p.b, j)); differ {
				changes = append(changes, change)
			}
		}
		i, j = k.a+1, k.b+1
	}
	return changes
}

func shift(place, by int) int {
	if place == NoIndex {
		return NoIndex
	}
	return place + by
}

// element returns the change between two elements, and false if they are equal. Either element may be missing.
func (c *comparer) element(a, b []lumigl.Value, from, to int) (Change, bool) {
	switch {
	case to == NoIndex:
		return Change{Kind: Removed, From: from, To: NoIndex, Old: a[from]}, true
	case from == NoIndex:
		return Change{Kind: Added, From: NoIndex, To: to, New: b[to]}, true
	}
	change, differ := c.values(a[from], b[to])
	change.From, change.To = from, to
	return change, differ
}

// kept returns the indices of equal elements in the same order in both lists, or nil if the budget is used up.
func (c *comparer) kept(a, b []lumigl.Value) []link {
	n := namer{byHash: map[uint64][]named{}}
	as, bs := c.names(&n, a), c.names(&n, b)
	if c.Work <= 0 {
		return nil
	}
	return common(as, bs, &c.Work)
}

// namer assigns equal numbers to equal values.
type namer struct {
	byHash map[uint64][]named
	count  int32
}

type named struct {
	value lumigl.Value
	name  int32
}

// names returns a number for each value. It stops when the budget is used up.
func (c *comparer) names(n *namer, values []lumigl.Value) []int32 {
	names := make([]int32, 0, len(values))
	for _, v := range values {
		h := c.Value(v)
		if c.Work <= 0 {
			break
		}
		names = append(names, n.nameOf(h, v))
	}
	return names
}

func (n *namer) nameOf(h uint64, v lumigl.Value) int32 {
	for _, other := range n.byHash[h] {
		if other.value.Equal(v) {
			return other.name
		}
	}
	n.count++
	n.byHash[h] = append(n.byHash[h], named{v, n.count})
	return n.count
}
