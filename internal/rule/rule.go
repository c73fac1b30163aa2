// Package rule evaluates the rules of an IDL, which relate properties of an object. runtime/typescript/src/rules.ts
// implements the same semantics; testdata/cases.json is the test table of both.
//
// An expression is JSON: a boolean, number, or string, or a list of an operator and its operands. The operands of "get"
// and "has" are the names on the path to a property; "default" has the property's default before them.
package rule

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// Expr is an expression.
type Expr struct {
	op    operator
	args  []*Expr
	path  []string
	value Value // of a literal, or the default
}

// Value is the value of an operand or an expression.
type Value struct {
	Kind Kind
	// Number is the value of a number, the length of a list or map, and 1 for true.
	Number float64
	Text   string
}

// Kind is the kind of a value.
type Kind uint8

// The kinds of values.
const (
	Undecided Kind = iota
	Bool
	Number
	String
	Items // a list or map
)

// Presence classifies an operand.
type Presence uint8

// The classes of operands.
const (
	Absent   Presence = iota
	NoParent          // an object on the path is absent
	Present
	Unknown       // is not known yet, or invalid
	UnknownParent // an object on the path is unknown
)

// Source looks up the operands of a rule.
type Source interface {
	// Find returns the property at a path. The value matters only for Present.
	Find(path []string) (Value, Presence)
}

// MaxDepth limits the nesting of expressions.
const MaxDepth = 50

type operator uint8

const (
	constant operator = iota
	get
	has
	fallback
	length
	not
	and
	or
	equal
	unequal
	less
	lessOrEqual
	greater
	greaterOrEqual
	plus
	minus
	times
)

// operators lists the operators with the number of their operands. If it is negative, more are allowed.
var operators = map[string]struct {
	op       operator
	operands int
}{
	"get": {get, -1}, "has": {has, -1}, "default": {fallback, -2}, "len": {length, 1},
	"!": {not, 1}, "&&": {and, -2}, "||": {or, -2}, "==": {equal, 2}, "!=": {unequal, 2},
	"<": {less, 2}, "<=": {lessOrEqual, 2}, ">": {greater, 2}, ">=": {greaterOrEqual, 2},
	"+": {plus, 2}, "-": {minus, 2}, "*": {times, 2},
}

// Parse parses the JSON of an expression.
func Parse(text string) (*Expr, error) {
	var data any
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		return nil, err
	}
	return Of(data)
}

// Of converts an expression from decoded JSON.
func Of(data any) (*Expr, error) { return of(data, 0) }

func of(data any, depth int) (*Expr, error) {
	list, ok := data.([]any)
	if !ok {
		value, ok := literal(data)
		if !ok {
			return nil, fmt.Errorf("unexpected operand %v", data)
		}
		return &Expr{value: value}, nil
	}
	if depth == MaxDepth {
		return nil, fmt.Errorf("the expression is nested deeper than %d levels", MaxDepth)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("missing operator")
	}
	name, _ := list[0].(string)
	op, ok := operators[name]
	rest := list[1:]
	switch n := op.operands; {
	case !ok:
		return nil, fmt.Errorf("unknown operator %v", list[0])
	case n >= 0 && len(rest) != n || len(rest) < -n:
		return nil, fmt.Errorf("%s has %d operands", name, len(rest))
	}
	e := &Expr{op: op.op}
	if e.op == fallback {
		if e.value, ok = literal(rest[0]); !ok {
			return nil, fmt.Errorf("%v is not a default", rest[0])
		}
		rest = rest[1:]
	}
	for _, data := range rest {
		if e.op <= fallback {
			name, ok := data.(string)
			if !ok {
				return nil, fmt.Errorf("%v is not a property name", data)
			}
			e.path = append(e.path, name)
			continue
		}
		arg, err := of(data, depth+1)
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, arg)
	}
	return e, nil
}

func literal(data any) (Value, bool) {
	switch data := data.(type) {
	case bool:
		return truth(data), true
	case float64:
		return Value{Kind: Number, Number: data}, true
	case string:
		return Value{Kind: String, Text: data}, true
	}
	return Value{}, false
}

func truth(is bool) Value {
	if is {
		return Value{Kind: Bool, Number: 1}
	}
	return Value{Kind: Bool}
}

// Paths yields the path of each operand.
func (e *Expr) Paths(yield func([]string) bool) { e.paths(yield) }

func (e *Expr) paths(yield func([]string) bool) bool {
	if e.path != nil && !yield(e.path) {
		return false
	}
	for _, arg := range e.args {
		if !arg.paths(yield) {
			return false
		}
	}
	return true
}

// Fails reports whether the expression is certainly false.
func (e *Expr) Fails(s Source) bool {
	v := e.Eval(s)
	return v.Kind == Bool && v.Number == 0
}

// Eval returns the value of an expression. Absent and unknown operands are undecided. An operator with an undecided
// operand is undecided, unless the other operands decide it.
func (e *Expr) Eval(s Source) Value {
	switch e.op {
	case constant:
		return e.value
	case get, has, fallback:
		return e.find(s)
	case and, or:
		decides, result := 0.0, truth(e.op == and)
		if e.op == or {
			decides = 1
		}
		for _, arg := range e.args {
			switch v := arg.Eval(s); {
			case v.Kind != Bool:
				result = Value{}
			case v.Number == decides:
				return v
			}
		}
		return result
	case not:
		if v := e.args[0].Eval(s); v.Kind == Bool {
			return truth(v.Number == 0)
		}
		return Value{}
	case length:
		v := e.args[0].Eval(s)
		if v.Kind == String {
			v.Number = float64(utf8.RuneCountInString(v.Text))
		} else if v.Kind != Items {
			return Value{}
		}
		return Value{Kind: Number, Number: v.Number}
	}
	return apply(e.op, e.args[0].Eval(s), e.args[1].Eval(s))
}

func (e *Expr) find(s Source) Value {
	v, is := s.Find(e.path)
	switch {
	case e.op == has && is != UnknownParent:
		return truth(is == Present || is == Unknown)
	case e.op != has && is == Present:
		return v
	case e.op == fallback && is == Absent:
		return e.value
	}
	return Value{}
}

// apply applies a binary operator.
func apply(op operator, a, b Value) Value {
	switch {
	case a.Kind != b.Kind || a.Kind == Undecided || a.Kind == Items:
		return Value{}
	case op == equal || op == unequal:
		return truth((a.Number == b.Number && a.Text == b.Text) == (op == equal))
	case a.Kind != Number:
		return Value{}
	}
	x, y := a.Number, b.Number
	switch op {
	case less:
		return truth(x < y)
	case lessOrEqual:
		return truth(x <= y)
	case greater:
		return truth(x > y)
	case greaterOrEqual:
		return truth(x >= y)
	case plus:
		x += y
	case minus:
		x -= y
	case times:
		x *= y
	}
	if math.IsInf(x, 0) {
		return Value{}
	}
	return Value{Kind: Number, Number: x}
}
