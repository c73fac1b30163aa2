package yaql

import (
	"iter"
	"maps"
	"math/big"
	"math/bits"
	"slices"
)

// Values are nil, bool, int64, *big.Int (only outside the range of int64), float64, string, [*List], [*Dict], [*Set],
// [*Iterator], [time.Time], [TimeSpan], [*Lambda], [*Context], and the host's own, which are compared by identity unless
// they implement [Typed]. All are immutable once an expression can see them, except iterators, which are read once.

// Typed may be implemented by values of a host or a library, which have to be pointers or otherwise comparable.
type Typed interface {
	// YAQL returns the name of the value's type for messages.
	YAQLType() string
}

// Iterable may be implemented by a host's value that can be iterated over any number of times.
type Iterable interface {
	Iterate() *Iterator
}

// TimeSpan is a duration in microseconds.
type TimeSpan int64

// List is a list. The reference has tuples, which can be keys, and lists, which cannot; neither equals the other.
type List struct {
	items []any
	measure
	mutable bool
}

// NewList returns the list of items, which it keeps. It corresponds to the reference's tuple: literals, input data and
// most results are tuples.
func NewList(items []any) *List { return &List{items: items, measure: measureAll(items)} }

// NewPlainList returns a list that corresponds to the reference's list: it differs from a tuple of the same items and is
// not hashable.
func NewPlainList(items []any) *List {
	return &List{items: items, measure: measureAll(items), mutable: true}
}

// Items returns the items. The caller must not change them.
func (l *List) Items() []any { return l.items }

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) }

type entry struct{ key, value any }

// Dict is a dictionary in order of insertion. Keys that are equal, such as 1, 1.0 and true, are one key.
type Dict struct {
	entries []entry
	index   map[any]int // by hash key; nil while the dictionary is small
	measure
	mutable bool
}

// smallDict is the number of entries up to which a search is as fast as a map.
const smallDict = 8

// NewDict returns an empty dictionary. It must not be changed after the function that builds it has returned it.
func NewDict() *Dict { return &Dict{} }

// NewPlainDict returns an empty dictionary that is not hashable: the reference has two types.
func NewPlainDict() *Dict { return &Dict{mutable: true} }

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.entries) }

// find returns the index of key. It is negative if there is none.
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

// Get returns the value of key. The error is that of a key that is not hashable.
func (d *Dict) Get(key any) (any, bool, error) {
	i, err := d.find(key)
	if err != nil || i < 0 {
		return nil, false, err
	}
	return d.entries[i].value, true, nil
}

// Set sets the value of key. A key that exists keeps its place and its first spelling.
func (d *Dict) Set(key, value any) error {
	i, err := d.find(key)
	if err != nil {
		return err
	}
	if i >= 0 {
		d.add(value)
		d.entries[i].value = value
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

// All returns the entries in order.
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

// Clone returns a copy that can be changed.
func (d *Dict) Clone() *Dict {
	c := &Dict{entries: slices.Clone(d.entries), measure: d.measure}
	c.size = max(d.size, 64*int64(d.Len())) // Data of the host's has no size, but the copy is ours.
	if d.index != nil {
		c.index = maps.Clone(d.index)
	}
	return c
}

// Set is a set in order of insertion.
type Set struct {
	items []any
	index map[any]int
	measure
	// of is a dictionary whose keys or, as pairs, entries the set shows. Such a set is not hashable and has no index.
	of    *Dict
	pairs bool
}

// NewSet returns an empty set. It must not be changed after the function that builds it has returned it.
func NewSet() *Set { return &Set{index: map[any]int{}} }

// SetOf returns the set of items.
func SetOf(items []any) (*Set, error) {
	s := &Set{index: make(map[any]int, len(items))}
	for _, v := range items {
		if err := s.Add(v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// view returns the keys of d, or pairs of keys and values.
func (d *Dict) view(pairs bool) *Set {
	items := d.Keys()
	if pairs {
		for i, e := range d.entries {
			items[i] = NewList([]any{e.key, e.value})
		}
	}
	return &Set{items: items, measure: measureAll(items), of: d, pairs: pairs}
}

// Add adds v. The error is that of a value that is not hashable.
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

// Has reports whether v is in the set.
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
		return ok && (!s.pairs || Equal(value, want)), err
	}
	h, err := hashKey(v)
	if err != nil {
		return false, err
	}
	_, ok := s.index[h]
	return ok, nil
}

// Items returns the items in order of insertion. The caller must not change them.
func (s *Set) Items() []any { return s.items }

// Len returns the number of items.
func (s *Set) Len() int { return len(s.items) }

// Iterator is a lazy sequence that can be read once.
type Iterator struct {
	next func() (any, bool, error)
	// again restarts an iterator that remembers its items.
	again   func() *Iterator
	done    bool
	measure // of what it keeps in use
}

// NewIterator returns an iterator over what next returns until it returns false or an error.
func NewIterator(next func() (any, bool, error)) *Iterator { return &Iterator{next: next} }

// Next returns the next item; false after the last.
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

// remember returns an iterator over the items of it that can be read any number of times.
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

var typeNames = [...]string{"null", "boolean", "integer", "float", "string", "list", "dictionary", "set", "iterator",
	"iterator", "datetime", "timespan", "function", "context", "mapping", "object"}

// typeName names the type of v for messages.
func typeName(v any) string {
	c := classOf(v)
	if typed, ok := v.(Typed); ok && c == clOther {
		return typed.YAQLType()
	}
	return typeNames[bits.TrailingZeros32(uint32(c))]
}

// measure is the size of a collection, and how deep values are nested in it: reading a deeply nested iterator takes as
// much stack.
type measure struct {
	size  int64
	depth int32
}

func (m *measure) add(v any) {
	of := measureOf(v)
	m.size += of.size
	m.depth = max(m.depth, of.depth+1)
}

func (m *measure) measured() *measure { return m }

func measureAll(items []any) measure {
	m := measure{size: 16 * int64(len(items)), depth: 1}
	for _, v := range items {
		m.add(v)
	}
	return m
}

// sizeOf estimates the memory that v keeps in use, in bytes. Parts that are shared count each time; data of the host's
// counts little. It takes constant time.
func sizeOf(v any) int64 { return measureOf(v).size }

func measureOf(v any) measure {
	switch v := v.(type) {
	case nil, bool, int64, float64:
	case string:
		return measure{size: 16 + int64(len(v))}
	case interface{ measured() *measure }: // collections and contexts
		m := v.measured()
		return measure{64 + m.size, m.depth}
	case *big.Int:
		return measure{size: 32 + int64(v.BitLen()/8)}
	case *Pair:
		return measure{size: 32 + sizeOf(v.Key) + sizeOf(v.Value)}
	case *Lambda:
		if v.call != nil {
			return measureOf(v.call.outer)
		}
		return measure{size: 64 + sizeOf(v.value)}
	}
	return measure{size: 8}
}
