package yaql

import (
	"bytes"
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

// FromGo converts Go values: nil, booleans, integers, floats, [json.Number], strings, times, durations, slices []any and
// maps map[string]any of such, the latter in order of the keys, and values as this package defines them, which it
// returns as they are. Other values are the host's own: nothing of them can be reached but by the host's functions.
func FromGo(v any) (any, error) {
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
			if items[i], err = FromGo(v[i]); err != nil {
				return nil, err
			}
		}
		l := NewList(items)
		l.size = 0 // It is the host's.
		return l, nil
	case map[string]any:
		d := &Dict{entries: make([]entry, 0, len(v))}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value, err := FromGo(v[key])
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

// parseNumber returns an integer, unless s has a fraction or an exponent.
func parseNumber(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") && len(s) <= maxIntDigits {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return normInt(n), nil
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, Errorf(Value, "invalid number %q", s)
	}
	return x, nil
}

// output converts a result: iterators are read, and what the options say becomes a list.
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

// AppendJSON appends the JSON text of a value to dst. Floats keep a point or an exponent. Sets are arrays, dates RFC 3339
// strings and time spans seconds. Keys that are not strings are their JSON text.
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
	return dst, Errorf(TypeError, "a %s cannot be written as JSON", typeName(v))
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
