package yaql

import (
	"iter"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"
)

// Typed may be implemented by a host's values, which must be comparable, as pointers are.
type Typed interface {
	// YAQLType returns the name of the value's type for messages.
	YAQLType() string
}

// Receiver may be implemented by a host's values that have properties and methods of their own.
type Receiver interface {
	// YAQLProperty returns a property, as an expression in a context sees it.
	YAQLProperty(name string, in *Context) (any, error)
	// YAQLMethod returns the method of a name, which counts instead of those in contexts, or nil.
	YAQLMethod(name string) *Function
}

// Opaque may be implemented by a host's values that nothing can be computed from. They can be assigned, and be parts of
// lists and dictionaries. Functions take them only by parameters of the host's own types.
type Opaque interface {
	// YAQLOpaque returns the error of using the value.
	YAQLOpaque() error
}

// Text may be implemented by opaque values that can be parts of strings.
type Text interface {
	Opaque
	// YAQLText returns the opaque value for the string of the parts, which are strings and opaque values.
	YAQLText(parts []any) (any, error)
}

// Known returns the error of the first opaque value in v, at any depth. It takes constant time.
func Known(v any) error { return measureOf(v).opaque }

// opaque returns the error of the first value that is opaque itself.
func opaque(values ...any) error {
	for _, v := range values {
		if classOf(v) == clOpaque {
			return Known(v)
		}
	}
	return nil
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
	key     atomic.Pointer[string] // once it is known
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
	key     atomic.Pointer[string]
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

// Get returns the value of key and whether it exists. It fails if key is not hashable.
func (d *Dict) Get(key any) (any, bool, error) {
	i, err := d.find(key)
	if err != nil || i < 0 {
		return nil, false, err
	}
	return d.entries[i].value, true, nil
}

// Set sets the value of key. An existing key keeps its position and spelling. Set fails if key is not hashable.
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
	key   atomic.Pointer[string]
}

// NewSet returns an empty set. It must not be changed after the function that builds it has returned it.
func NewSet() *Set { return &Set{index: map[any]int{}} }

// SetOf returns a set of items. It fails if one is not hashable.
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

// Add adds v. It fails if v is not hashable.
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

// Has reports whether v is in the set. It fails if v is not hashable.
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
	measure          // of what it keeps in use
	scope   *Context // whose variables are part of that
}

// NewIterator returns an iterator over what next returns until it returns false or an error.
func NewIterator(next func() (any, bool, error)) *Iterator { return &Iterator{next: next} }

// Next returns the next item, or false after the last one.
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
	"iterator", "datetime", "timespan", "function", "context", "mapping", "object", "object"}

// TypeName names the type of v for messages.
func TypeName(v any) string { return typeName(v) }

func typeName(v any) string {
	c := classOf(v)
	if typed, ok := v.(Typed); ok && c >= clOther {
		return typed.YAQLType()
	}
	return typeNames[bits.TrailingZeros32(uint32(c))]
}

// SizeOf estimates the memory that a value keeps in use, in bytes, in constant time. Parts that are shared count each
// time.
func SizeOf(v any) int64 { return sizeOf(v) }

// measure is the size of a collection, and how deep values are nested in it: reading a deeply nested iterator takes as
// much stack.
type measure struct {
	size   int64
	depth  int32
	opaque error // of the first opaque value in it
}

func (m *measure) add(v any) {
	of := measureOf(v)
	m.size = min(m.size+of.size, 1<<61) // Sums must not overflow.
	m.depth = max(m.depth, of.depth+1)
	if m.opaque == nil {
		m.opaque = of.opaque
	}
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
		return measure{64 + m.size, m.depth, m.opaque}
	case *big.Int:
		return measure{size: 32 + int64(v.BitLen()/8)}
	case *regex:
		return measure{size: 4<<10 + 64*int64(len(v.re.String()))}
	case *Pair:
		return measure{size: 32 + sizeOf(v.Key) + sizeOf(v.Value)}
	case *Lambda:
		if v.call != nil {
			return measureOf(v.call.outer)
		}
		return measure{size: 64 + sizeOf(v.value)}
	case Opaque:
		return measure{size: 8, opaque: v.YAQLOpaque()}
	}
	return measure{size: 8}
}
