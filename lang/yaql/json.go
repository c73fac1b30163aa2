package yaql

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FromJSON converts JSON text to a value for [Expression.Evaluate]. Dictionaries keep the order of their keys; if a key
// occurs several times, the last one wins. 1 is an integer, while 1.0 and 1e0 are floats. Error messages start with the
// line and column, in characters, and quote at most one character of the text.
func FromJSON(text []byte) (any, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		offset := len(text)
		if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
			// The offset is past the invalid character, unless the text is incomplete.
			offset = min(int(wrong.Offset), len(text))
			if err.Error() != "unexpected end of JSON input" {
				offset--
			}
		}
		return nil, jsonError(text, offset, err.Error())
	}
	r := &jsonReader{text: string(text)}
	return r.value()
}

// jsonReader parses valid JSON.
type jsonReader struct {
	text string
	pos  int
}

func jsonError(text []byte, offset int, message string) error {
	before := text[:max(offset, 0)]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%d:%d: %s", line, column, message)
}

// next skips white space and returns the next character without consuming it.
func (r *jsonReader) next() byte {
	for strings.IndexByte(" \n\t\r", r.text[r.pos]) >= 0 {
		r.pos++
	}
	return r.text[r.pos]
}

var jsonWords = map[byte]struct {
	length int
	value  any
}{'n': {len("null"), nil}, 't': {len("true"), true}, 'f': {len("false"), false}}

func (r *jsonReader) value() (any, error) {
	first := r.next()
	word, ok := jsonWords[first]
	switch {
	case first == '{', first == '[':
		return r.collection(first)
	case first == '"':
		return r.string(), nil
	case ok:
		r.pos += word.length
		return word.value, nil
	}
	start := r.pos
	r.pos = len(r.text) - len(strings.TrimLeft(r.text[start:], "+-.0123456789Ee"))
	n, err := parseNumber(r.text[start:r.pos])
	if err != nil {
		return nil, jsonError([]byte(r.text), start, "number out of range")
	}
	return n, nil
}

// collection parses an object or an array. Its memory is attributed to the host.
func (r *jsonReader) collection(open byte) (any, error) {
	d, l := NewDict(), NewList(nil)
	r.pos++
	for c := r.next(); c != '}' && c != ']'; c = r.next() {
		var key string
		if c == ',' {
			r.pos++
			r.next()
		}
		if open == '{' {
			key = r.string()
			r.next() // a colon
			r.pos++
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		if open == '[' {
			l.items = append(l.items, v)
			l.add(v)
		} else if err := d.Set(key, v); err != nil {
			return nil, err
		}
	}
	r.pos++
	if open == '[' {
		l.size = 0
		return l, nil
	}
	d.size = 0
	return d, nil
}

func (r *jsonReader) string() string {
	start, plain := r.pos, true
	for r.pos++; r.text[r.pos] != '"'; r.pos++ {
		if r.text[r.pos] == '\\' {
			plain = false
			r.pos++
		}
	}
	r.pos++
	if s := r.text[start+1 : r.pos-1]; plain && utf8.ValidString(s) {
		return s
	}
	var s string
	_ = json.Unmarshal([]byte(r.text[start:r.pos]), &s) // always valid
	return s
}

// parseNumber returns an integer if s has neither a fraction nor an exponent, or a float otherwise.
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
