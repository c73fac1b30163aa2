package yaql

import (
	"iter"
	"maps"
	"slices"
)

// Items returns the items. The caller must not modify them.
func (l *List) Items() []any { return l.items }

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) }

// NewDict returns an empty dictionary. It must not be modified once an expression can access it.
func NewDict() *Dict { return &Dict{} }

// NewPlainDict returns an empty dictionary that is unhashable, like a dict in the reference.
func NewPlainDict() *Dict { return &Dict{mutable: true} }

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.entries) }

// find returns the index of key, or a negative number if it is missing. It returns an error if key is unhashable.
func (d *Dict) find(key any) (int, error) {
	if s, ok := key.(string); ok && d.index == nil {
		for i := range d.entries {
			if k, ok := d.entries[i].key.(string); ok && k == s {
				return i, nil
			}
		}
		return -1, nil
	}
	h, err := hashKey(key)
	if err != nil {
		return -1, err
	}
	if d.index != nil {
		if i, ok := d.index[h]; ok {
			return i, nil
		}
		return -1, nil
	}
	for i := range d.entries {
		if k, _ := hashKey(d.entries[i].key); k == h {
			return i, nil
		}
	}
	return -1, nil
}

// Get returns the value of key and whether the key exists. It returns an error if key is unhashable.
func (d *Dict) Get(key any) (any, bool, error) {
	i, err := d.find(key)
	if err != nil || i < 0 {
		return nil, false, err
	}
	return d.entries[i].value, true, nil
}

// Set sets the value of key. An existing key keeps its position and type. Set returns an error if key is unhashable.
func (d *Dict) Set(key, value any) error {
	i, err := d.find(key)
	if err != nil {
		return err
	}
	if i >= 0 {
		old := d.entries[i].value
		d.entries[i].value = value
		d.add(value)
		if Known(old) != nil {
			d.opaque = measureAll(d.Values()).opaque
		}
		return nil
	}
	d.entries = append(d.entries, entry{key, value})
	d.size += 64
	d.add(key)
	d.add(value)
	if d.index != nil {
		h, _ := hashKey(key)
		d.index[h] = len(d.entries) - 1
	} else if len(d.entries) > smallDict {
		d.index = make(map[any]int, 2*len(d.entries))
		for i, e := range d.entries {
			h, err := hashKey(e.key)
			if err != nil {
				return err
			}
			d.index[h] = i
		}
	}
	return nil
}

// All returns an iterator over the entries in order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for _, e := range d.entries {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// Keys returns the keys in order.
func (d *Dict) Keys() []any {
	keys := make([]any, len(d.entries))
	for i, e := range d.entries {
		keys[i] = e.key
	}
	return keys
}

// Values returns the values in order.
func (d *Dict) Values() []any {
	values := make([]any, len(d.entries))
	for i, e := range d.entries {
		values[i] = e.value
	}
	return values
}

// Clone returns a modifiable copy.
func (d *Dict) Clone() *Dict {
	c := &Dict{entries: slices.Clone(d.entries), measure: d.measure}
	c.size = max(d.size, 64*int64(d.Len())) // host data has size 0, but copies count
	if d.index != nil {
		c.index = maps.Clone(d.index)
	}
	return c
}

// NewSet returns an empty set. It must not be modified once an expression can access it.
func NewSet() *Set { return &Set{index: map[any]int{}} }

// SetOf returns a set of the given items. It returns an error if an item is unhashable.
func SetOf(items []any) (*Set, error) {
	s := &Set{index: make(map[any]int, len(items))}
	for _, v := range items {
		if err := s.Add(v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// view returns a set that is a view of the keys of d or, if pairs is set, of its key-value pairs.
func (d *Dict) view(pairs bool) *Set {
	items := d.Keys()
	if pairs {
		for i, e := range d.entries {
			items[i] = NewList([]any{e.key, e.value})
		}
	}
	return &Set{items: items, measure: measureAll(items), of: d, pairs: pairs}
}

// Add adds v to the set. It returns an error if v is unhashable.
func (s *Set) Add(v any) error {
	h, err := hashKey(v)
	if err != nil {
		return err
	}
	if _, ok := s.index[h]; !ok {
		s.index[h] = len(s.items)
		s.items = append(s.items, v)
		s.size += 48
		s.add(v)
	}
	return nil
}

// Has reports whether the set contains v. It returns an error if v is unhashable.
func (s *Set) Has(v any) (bool, error) {
	if s.of != nil {
		key, want := v, any(nil)
		if s.pairs {
			pair, ok := v.(*List)
			if !ok || len(pair.items) != 2 {
				return false, nil
			}
			key, want = pair.items[0], pair.items[1]
		}
		value, ok, err := s.of.Get(key)
		if ok && s.pairs {
			return equal(value, want)
		}
		return ok, err
	}
	h, err := hashKey(v)
	if err != nil {
		return false, err
	}
	_, ok := s.index[h]
	return ok, nil
}

// Items returns the items in insertion order. The caller must not modify them.
func (s *Set) Items() []any { return s.items }

// Len returns the number of items.
func (s *Set) Len() int { return len(s.items) }

// NewIterator returns an iterator over the values returned by next, until next returns false or an error.
func NewIterator(next func() (any, bool, error)) *Iterator { return &Iterator{next: next} }

// Next returns the next item. It returns false after the last item and after an error.
func (it *Iterator) Next() (any, bool, error) {
	if it.done {
		return nil, false, nil
	}
	v, ok, err := it.next()
	if !ok || err != nil {
		it.done = true
		return nil, false, err
	}
	return v, true, nil
}

func iterateSlice(items []any) *Iterator {
	i := 0
	return NewIterator(func() (any, bool, error) {
		if i == len(items) {
			return nil, false, nil
		}
		i++
		return items[i-1], true, nil
	})
}

// remember returns an iterator that caches the items of it for repeated reads. It calls grow with the size of the
// cache.
func remember(it *Iterator, grow func(int64) error) *Iterator {
	var items []any
	var size int64
	var restart func() *Iterator
	restart = func() *Iterator {
		i := 0
		r := NewIterator(func() (any, bool, error) {
			if i == len(items) {
				v, ok, err := it.Next()
				if !ok || err != nil {
					return nil, false, err
				}
				size += 16 + sizeOf(v)
				if err := grow(size); err != nil {
					return nil, false, err
				}
				items = append(items, v)
			}
			i++
			return items[i-1], true, nil
		})
		r.again = restart
		return r
	}
	return restart()
}
