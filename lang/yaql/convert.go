package yaql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FromGo converts nil, booleans, integers, floats, [json.Number], strings, times, durations, []any, and map[string]any
// to values of this package. Keys of maps are sorted. Values of this package are returned unchanged, except that nil
// pointers become nil. Any other value is a host value, which only functions of the host can inspect.
//
// FromGo returns an error for an invalid [json.Number] and for data nested deeper than 10,000 levels, such as cyclic
// data.
func FromGo(v any) (any, error) { return fromGo(v, maxNesting) }

func fromGo(v any, levels int) (any, error) {
	if levels < 0 {
		return nil, tooDeep()
	}
	switch v {
	case (*big.Int)(nil), (*List)(nil), (*Dict)(nil), (*Set)(nil), (*Iterator)(nil), (*Lambda)(nil), (*Context)(nil):
		return nil, nil
	}
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int8, int16, int32, uint, uint8, uint16, uint32, uint64:
		return parseNumber(fmt.Sprint(v))
	case *big.Int:
		return normInt(v), nil
	case float32:
		return float64(v), nil
	case string:
		return strings.ToValidUTF8(v, "\uFFFD"), nil
	case json.Number:
		return parseNumber(string(v))
	case time.Duration:
		return TimeSpan(v / time.Microsecond), nil
	case []any:
		items := make([]any, len(v))
		for i := range v {
			var err error
			if items[i], err = fromGo(v[i], levels-1); err != nil {
				return nil, err
			}
		}
		l := NewList(items)
		l.size = 0 // host data does not count
		return l, nil
	case map[string]any:
		d := &Dict{entries: make([]entry, 0, len(v))}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value, err := fromGo(v[key], levels-1)
			if err != nil {
				return nil, err
			}
			if err := d.Set(key, value); err != nil {
				return nil, err
			}
		}
		d.size = 0
		return d, nil
	}
	return v, nil
}

// output converts a result: it reads iterators and applies the list conversions selected by the options.
func (ev *evaluation) output(v any) (any, error) {
	v, err := ev.outputOf(v)
	if err != nil {
		return nil, err
	}
	return v, ev.check(v)
}

func (ev *evaluation) outputOf(v any) (any, error) {
	if err := ev.tick(); err != nil {
		return nil, err
	}
	if _, err := ev.limited(v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *Dict:
		d := &Dict{entries: make([]entry, 0, len(v.entries)), mutable: true}
		for _, e := range v.entries {
			value, err := ev.outputOf(e.value)
			if err != nil {
				return nil, err
			}
			if err := d.Set(e.key, value); err != nil {
				return nil, err
			}
			if err := ev.check(d); err != nil {
				return nil, err
			}
		}
		return d, nil
	case *Set:
		if !ev.opts.ConvertSetsToLists {
			return v, nil
		}
		items, err := ev.outputItems(iterateSlice(v.items))
		return NewPlainList(items), err
	case *List:
		items, err := ev.outputItems(iterateSlice(v.items))
		l := NewList(items)
		l.mutable = v.mutable || ev.opts.ConvertTuplesToLists
		return l, err
	case *Iterator, Iterable:
		items, err := ev.outputItems(ev.iterate(v))
		return NewPlainList(items), err
	}
	return v, nil
}

func (ev *evaluation) outputItems(it *Iterator) ([]any, error) {
	return ev.collect(NewIterator(func() (any, bool, error) {
		v, ok, err := it.Next()
		if ok && err == nil {
			v, err = ev.outputOf(v)
		}
		return v, ok, err
	}))
}

// Settle returns v with all sequences within it read and replaced by lists, so that it can be a dictionary key. It
// returns v itself if there are no sequences.
func (c *Call) Settle(v any) (any, error) {
	if err := c.Tick(); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *Iterator, Iterable:
		items, err := c.settleItems(c.Iterate(v))
		return NewList(items), err
	case *List:
		items, err := c.settleItems(iterateSlice(v.items))
		if !v.mutable && err == nil && slices.EqualFunc(items, v.items, identical) {
			return v, nil
		}
		return NewList(items), err
	case *Dict:
		values, err := c.settleItems(iterateSlice(v.Values()))
		if err != nil || !v.mutable && slices.EqualFunc(values, v.Values(), identical) {
			return v, err
		}
		d := NewDict()
		for i, e := range v.entries {
			if err := d.Set(e.key, values[i]); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	return v, nil
}

func (c *Call) settleItems(it *Iterator) ([]any, error) {
	return c.Collect(NewIterator(func() (any, bool, error) {
		v, ok, err := it.Next()
		if ok && err == nil {
			v, err = c.Settle(v)
		}
		return v, ok, err
	}))
}

// Settle is like [Call.Settle] but for use outside an evaluation. It applies the limits in o.
func Settle(ctx context.Context, o Options, v any) (any, error) {
	return (&Call{ev: &evaluation{ctx: ctx, opts: &o}}).Settle(v)
}

// identical reports whether two collections are the same object. It returns true for other values that are not
// iterators.
func identical(a, b any) bool {
	switch a.(type) {
	case *List, *Dict:
		return a == b
	}
	_, sequence := b.(*Iterator)
	return !sequence
}

// AppendJSON appends a value as JSON to dst. Floats keep a decimal point or an exponent. Sets become arrays, dates
// become RFC 3339 strings, and time spans become numbers of seconds. Keys other than strings are replaced by their JSON
// text.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case *big.Int:
		return v.Append(dst, 10), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, Errorf(Value, "%v cannot be written as JSON", v)
		}
		start := len(dst)
		dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
		if !bytes.ContainsAny(dst[start:], ".e") {
			dst = append(dst, ".0"...)
		}
		return dst, nil
	case string:
		return appendQuoted(dst, v), nil
	case *List:
		return appendArray(dst, v.items)
	case *Set:
		return appendArray(dst, v.items)
	case *Dict:
		dst = append(dst, '{')
		for i, e := range v.entries {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			key, ok := e.key.(string)
			if !ok {
				text, err := AppendJSON(nil, e.key)
				if err != nil {
					return dst, err
				}
				key = string(text)
			}
			dst = append(appendQuoted(dst, key), ": "...)
			var err error
			if dst, err = AppendJSON(dst, e.value); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case time.Time:
		return appendQuoted(dst, v.Format(time.RFC3339Nano)), nil
	case TimeSpan:
		return AppendJSON(dst, float64(v)/1e6)
	}
	return dst, cmp.Or[error](opaque(v), Errorf(TypeError, "%s cannot be written as JSON", typeName(v)))
}

func appendArray(dst []byte, items []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var err error
		if dst, err = AppendJSON(dst, v); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendQuoted(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return append(dst, '"', '"')
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
