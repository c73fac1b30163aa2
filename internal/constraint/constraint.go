// Package constraint checks values against the constraints of an IDL. runtime/typescript/src/constraints.ts is the same in
// TypeScript; both are tested with testdata/cases.json, message by message.
package constraint

import (
	"encoding/json"
	"strconv"
)

// Rule is one constraint with its argument.
type Rule struct {
	kind   kind
	number float64
}

type kind uint8

const (
	minimum kind = iota
	maximum
)

// kinds are the constraints by their names in tags and in the JSON form of the model.
var kinds = map[string]kind{"min": minimum, "max": maximum}

// New makes a rule of a constraint's name and its argument: a float64, an int, a string or true. It panics if there is no
// such constraint.
func New(name string, arg any) Rule {
	k, ok := kinds[name]
	if !ok {
		panic("constraint: no constraint is called " + name)
	}
	r := Rule{kind: k}
	switch arg := arg.(type) {
	case float64:
		r.number = arg
	case int:
		r.number = float64(arg)
	}
	return r
}

// Number returns what is wrong with a number, or "". The message does not quote a hidden one.
func (r *Rule) Number(n float64, hidden bool) string {
	switch {
	case r.kind == minimum && n < r.number:
		return "must be at least " + Format(r.number) + foundNumber(n, hidden)
	case r.kind == maximum && n > r.number:
		return "must be at most " + Format(r.number) + foundNumber(n, hidden)
	}
	return ""
}

func foundNumber(n float64, hidden bool) string {
	if hidden {
		return ", found another number"
	}
	return ", found " + Format(n)
}

// Format writes a finite number as JavaScript does.
func Format(n float64) string {
	if n == 0 {
		return "0" // also where the zero is negative
	}
	text, err := json.Marshal(n)
	if err != nil {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return string(text)
}
