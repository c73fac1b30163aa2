package yaql

import (
	"slices"
)

var orderFunctions = []*Function{
	Method("orderBy", "collection iterable, selector lambda", func(c *Call) (any, error) { return orderBy(c, false), nil }).
		Document("Sorts the items by the selector's results. Equal items keep their order.",
			`[bb, a, cc].orderBy($.len())`, `["a", "bb", "cc"]`, `[2, null, 1].orderBy($)`, `[null, 1, 2]`, `[1, a].orderBy($)`, `error: no-match`),
	Method("orderByDescending", "collection iterable, selector lambda", func(c *Call) (any, error) { return orderBy(c, true), nil }).
		Document("Sorts the items by the selector's results in descending order.", `[1, 3, 2].orderByDescending($)`, `[3, 2, 1]`),
	Method("thenBy", "collection ordering, selector lambda", func(c *Call) (any, error) { return thenBy(c, false), nil }).
		Document("Breaks ties in orderBy by the selector's results.",
			`[bb, a, ba].orderBy($.len()).thenBy($)`, `["a", "ba", "bb"]`),
	Method("thenByDescending", "collection ordering, selector lambda", func(c *Call) (any, error) { return thenBy(c, true), nil }).
		Document("Breaks ties in orderBy by the selector's results, in descending order.",
			`[ba, a, bb].orderBy($.len()).thenByDescending($)`, `["a", "bb", "ba"]`),
}

func orderBy(c *Call, descending bool) *ordered {
	return &ordered{
		c: c, collection: c.Iter(0), keys: []orderKey{{c.Lambda(1), descending}},
		less: c.operator("#operator_<"), greater: c.operator("#operator_>"),
	}
}

// thenBy adds a sort key to the ordered collection in place, as in the reference.
func thenBy(c *Call, descending bool) *ordered {
	o := c.Arg(0).(*ordered)
	o.keys = append(o.keys, orderKey{c.Lambda(1), descending})
	return o
}

// Iterate returns an iterator over the sorted items. They are sorted when the first item is read.
func (o *ordered) Iterate() *Iterator {
	i := 0
	return NewIterator(func() (any, bool, error) {
		if !o.sorted {
			if err := o.sort(); err != nil {
				return nil, false, err
			}
		}
		if i == len(o.items) {
			return nil, false, nil
		}
		i++
		return o.items[i-1], true, nil
	})
}

// sortable is an item with the sort keys computed so far.
type sortable struct {
	item any
	keys []any
}

func (o *ordered) sort() error {
	items, err := o.c.Collect(o.collection)
	if err != nil {
		return err
	}
	list := make([]*sortable, len(items))
	for i, v := range items {
		list[i] = &sortable{item: v}
	}
	size := 48 * int64(len(items))
	compare := func(a, b *sortable) int {
		if err != nil {
			return 0
		}
		var order int
		order, err = o.compare(a, b, &size)
		return order
	}
	slices.SortStableFunc(list, compare)
	if err != nil {
		return err
	}
	for i, s := range list {
		items[i] = s.item
	}
	o.items, o.sorted = items, true
	return nil
}

func (o *ordered) compare(a, b *sortable, size *int64) (int, error) {
	if err := o.c.Tick(); err != nil {
		return 0, err
	}
	for i, key := range o.keys {
		for _, s := range []*sortable{a, b} {
			if i < len(s.keys) {
				continue
			}
			v, err := key.selector.Call(s.item)
			if err != nil {
				return 0, err
			}
			s.keys = append(s.keys, v)
			*size += 16 + sizeOf(v)
			if err := o.c.Reserve(*size); err != nil {
				return 0, err
			}
		}
		order := 0
		if ok, err := truthOf(o.less(a.keys[i], b.keys[i])); err != nil {
			return 0, err
		} else if ok {
			order = -1
		} else if ok, err := truthOf(o.greater(a.keys[i], b.keys[i])); err != nil {
			return 0, err
		} else if ok {
			order = 1
		}
		if key.descending {
			order = -order
		}
		if order != 0 {
			return order, nil
		}
	}
	return 0, nil
}
