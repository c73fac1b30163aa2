package yaql

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// FromJSON returns the value of a JSON text for [Expression.Evaluate]. Dictionaries keep the order of their keys, the
// last of several equal keys has the value, and 1 is an integer while 1.0 and 1e0 are floats. Errors begin with a line
// and a column, in characters, and do not quote the text apart from one character.
func FromJSON(text []byte) (any, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		offset := len(text)
		if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
			// The offset is behind the character, unless the text is incomplete.
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

// jsonReader reads JSON that is known to be valid.
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

// next skips white space and returns the character after it.
func (r *jsonReader) next() byte {
	for r.text[r.pos] == ' ' || r.text[r.pos] == '\n' || r.text[r.pos] == '\t' || r.text[r.pos] == '\r' {
		r.pos++
	}
	return r.text[r.pos]
}

// enter skips an opening bracket, and reports whether there is anything before the closing one.
func (r *jsonReader) enter(end byte) bool {
	r.pos++
	if r.next() == end {
		r.pos++
		return false
	}
	return true
}

func (r *jsonReader) value() (any, error) {
	switch r.next() {
	case '{':
		d := NewDict()
		for more := r.enter('}'); more; {
			r.next()
			key := r.string()
			r.next()
			r.pos++
			value, err := r.value()
			if err != nil {
				return nil, err
			}
			if err := d.Set(key, value); err != nil {
				return nil, err
			}
			more = r.next() == ','
			r.pos++
		}
		d.size = 0 // It is the host's.
		return d, nil
	case '[':
		var items []any
		for more := r.enter(']'); more; {
			item, err := r.value()
			if err != nil {
				return nil, err
			}
			items = append(items, item)
			more = r.next() == ','
			r.pos++
		}
		l := NewList(items)
		l.size = 0
		return l, nil
	case '"':
		return r.string(), nil
	case 'n':
		r.pos += len("null")
		return nil, nil
	case 't':
		r.pos += len("true")
		return true, nil
	case 'f':
		r.pos += len("false")
		return false, nil
	}
	start := r.pos
	for r.pos < len(r.text) && strings.IndexByte("+-.0123456789Ee", r.text[r.pos]) >= 0 {
		r.pos++
	}
	n, err := parseNumber(r.text[start:r.pos])
	if err != nil {
		return nil, jsonError([]byte(r.text), start, "number out of range")
	}
	return n, nil
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
	_ = json.Unmarshal([]byte(r.text[start:r.pos]), &s) // It is valid.
	return s
}
