// Package expr evaluates expressions: values in a desired graph that are computed from outputs of resources.
//
// An expression is an object that [wire.Expression] marks, with one of these keys:
//
//	"interpolate": [part, …]         the parts, joined to a string
//	"jsonStringify": value           the value as canonical JSON (RFC 8785), in a string
//	"get": value, "path": "a[0].b"   a part of the value
//
// The values inside may be references to outputs, secrets and other expressions. [Evaluate] computes what is known. An
// expression that depends on a secret is one as a whole. Docs/lumigl.md documents the format; the TypeScript package
// evaluates the same table of cases, testdata/cases.json.
package expr

import (
	"fmt"
	"strconv"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// The keys of expressions.
const (
	interpolate   = "interpolate"
	jsonStringify = "jsonStringify"
	get           = "get"
	getPath       = "path"
)

// Resolve returns the value of a property of a vertex: an out property, or "id" or "urn". It reports false while that is
// not known. An absent value is one that the resource does not have.
type Resolve func(vertex *lumigl.Vertex, property string) (value lumigl.Value, known bool)

// Error says what is wrong with an expression.
type Error struct {
	// Pointer is where the expression is in the value, as a JSON pointer.
	Pointer string
	// Message says what is wrong.
	Message string
}

// Error returns the pointer and the message.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// Evaluate returns v with references to outputs replaced by their values, and expressions by theirs, as far as they are
// known. What is left of an expression has its known parts folded, so that evaluating in several steps gives the same
// value as evaluating once. References to resources stay. The error is an *[Error].
func Evaluate(v lumigl.Value, resolve Resolve) (lumigl.Value, error) {
	e := &evaluator{resolve: resolve}
	v = e.value(v)
	if e.err != nil {
		return lumigl.Value{}, e.err
	}
	return v, nil
}

// At returns the part of a value at a path, such as a[0].b, without the wrappers of secrets, and whether it is, is in or has a
// secret. It is null if v has no such part. References stay. The error is an *[Error] if a step leads into other values
// than lists and objects.
func At(v lumigl.Value, path string) (part lumigl.Value, secret bool, err error) {
	e := &evaluator{resolve: func(*lumigl.Vertex, string) (v lumigl.Value, known bool) { return v, false }}
	part, secret = e.get(v, path)
	if e.err != nil {
		return lumigl.Value{}, false, e.err
	}
	part, hidden := withoutSecrets(part)
	return part, secret || hidden, nil
}

// IsKnown reports whether v has no part that is not known yet.
func IsKnown(v lumigl.Value) bool {
	switch {
	case isPending(v):
		return false
	case v.Kind() == lumigl.List:
		for _, elem := range v.Elements() {
			if !IsKnown(elem) {
				return false
			}
		}
	}
	for _, member := range v.Members() {
		if !IsKnown(member) {
			return false
		}
	}
	return true
}

// Unknown returns v as providers see it before everything is known: what is left of references to outputs and of
// expressions is the value that stands for unknown ones.
func Unknown(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if isPending(part) {
			return lumigl.TextOf(wire.Unknown), true
		}
		return lumigl.Value{}, false
	})
}

// isPending reports whether v as a whole is not known yet.
func isPending(v lumigl.Value) bool {
	_, property, ok := v.Target()
	return ok && property != "" || v.IsExpression() || v.IsUnknown()
}

// maxText bounds the bytes of all strings that one evaluation makes, since each jsonStringify inside of another doubles
// the escapes of a string.
const maxText = 64 << 20

// evaluator evaluates one value until something is wrong.
type evaluator struct {
	resolve Resolve
	made    int // bytes of strings
	err     *Error
}

// grow counts n more bytes of strings, and reports false if there are too many.
func (e *evaluator) grow(n int) bool {
	if e.made += n; e.made > maxText {
		e.fail("the strings that expressions make are longer than %d MiB", maxText>>20)
	}
	return e.err == nil
}

// failed is what an expression with an error evaluates to.
var failed = lumigl.NullValue()

func (e *evaluator) fail(format string, args ...any) lumigl.Value {
	if e.err == nil {
		e.err = &Error{Message: fmt.Sprintf(format, args...)}
	}
	return failed
}

// value evaluates any value.
func (e *evaluator) value(v lumigl.Value) lumigl.Value {
	if vertex, property, ok := v.Target(); ok && property != "" {
		known, ok := e.resolve(vertex, property)
		switch {
		case !ok || known.IsUnknown():
			return v
		case !known.Exists():
			return lumigl.NullValue()
		}
		return known
	}
	if v.IsExpression() {
		return e.expression(v)
	}
	if content, secret := reveal(v); secret {
		content, _ = reveal(e.value(content))
		return hide(content)
	}
	return v.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
		if e.err != nil {
			return lumigl.Value{}, false
		}
		evaluated := e.value(part)
		if e.err != nil {
			if v.Kind() == lumigl.List {
				key = strconv.Itoa(i)
			}
			e.err.Pointer = jsonpointer.Within("", key) + e.err.Pointer
		}
		return evaluated, true
	})
}
