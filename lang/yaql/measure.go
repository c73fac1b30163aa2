package yaql

import (
	"math/big"
	"math/bits"
	"time"
)

func classOf(v any) class {
	switch v.(type) {
	case nil:
		return clNull
	case string:
		return clString
	case int64, *big.Int:
		return clInt
	case bool:
		return clBool
	case float64:
		return clFloat
	case *List:
		return clList
	case *Dict:
		return clDict
	case *Iterator:
		return clIterator
	case *Set:
		return clSet
	case time.Time:
		return clTime
	case TimeSpan:
		return clSpan
	case *Lambda:
		return clFunction
	case *Context:
		return clContext
	case *Pair:
		return clPair
	case Iterable:
		return clIterable
	case Opaque:
		return clOpaque
	}
	return clOther
}

var typeNames = [...]string{"null", "boolean", "integer", "float", "string", "list", "dictionary", "set", "iterator",
	"iterator", "datetime", "timespan", "function", "context", "mapping", "object", "object"}

// TypeName returns the name of v's type for use in messages.
func TypeName(v any) string { return typeName(v) }

func typeName(v any) string {
	c := classOf(v)
	if typed, ok := v.(Typed); ok && c >= clOther {
		return typed.YAQLType()
	}
	return typeNames[bits.TrailingZeros32(uint32(c))]
}

// Known returns the error of the first opaque value within v, at any depth, or nil if there is none. It takes constant
// time.
func Known(v any) error { return measureOf(v).opaque }

// opaque returns the error of the first opaque value, or nil. It does not look inside collections.
func opaque(values ...any) error {
	for _, v := range values {
		if classOf(v) == clOpaque {
			return Known(v)
		}
	}
	return nil
}

// NewList returns a list that takes ownership of items. It corresponds to a tuple in the reference, as do literals,
// input data, and most results.
func NewList(items []any) *List { return &List{items: items, measure: measureAll(items)} }

// NewPlainList returns a list that corresponds to a list in the reference: it is unhashable and not equal to a tuple
// with the same items.
func NewPlainList(items []any) *List {
	return &List{items: items, measure: measureAll(items), mutable: true}
}

// SizeOf returns the estimated memory size of a value in bytes. It takes constant time. Shared parts are counted
// repeatedly.
func SizeOf(v any) int64 { return sizeOf(v) }

func (m *measure) add(v any) {
	of := measureOf(v)
	m.size = min(m.size+of.size, 1<<61) // prevents overflow
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

// sizeOf is like [SizeOf], for use in this package. The host's data counts as almost nothing.
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
