// Package expr evaluates expressions: values in a graph of desired state that are computed from resource outputs.
//
// An expression is an object with the signature [wire.Expression] and one of these keys:
//
//	"interpolate": [part, …]         the parts, joined to a string
//	"jsonStringify": value           the value as canonical JSON (RFC 8785), in a string
//	"get": value, "path": "a[0].b"   a part of the value
//	"uniqueName": "a", "length": 8   a name that the planner derives from the resource's seed; length is optional
//
// The operands of the others may contain references to outputs, secrets, and other expressions. [Evaluate] computes the known parts.
// The result is secret if any operand is. docs/lumigl.md documents the format. The TypeScript package is tested with
// the same cases, in testdata/cases.json.
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
	uniqueName    = "uniqueName"
	uniqueLength  = "length"
)

// Resolve returns the value of a vertex's property: an output, "id", or "urn". It returns known == false if the value
// is not known yet, and the absent value if the resource has no such property.
type Resolve func(vertex *lumigl.Vertex, property string) (value lumigl.Value, known bool)

// Error reports an invalid expression.
type Error struct {
	// Pointer is the JSON pointer to the expression within the value.
	Pointer string
	Message string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// Evaluate returns v with references to outputs and expressions replaced by their values where known. Known parts of
// the remaining expressions are folded, so evaluating in several steps gives the same result as in one. References to
// whole resources and unique names are kept. Any error is of type *[Error].
func Evaluate(v lumigl.Value, resolve Resolve) (lumigl.Value, error) {
	e := &evaluator{resolve: resolve}
	v = e.value(v)
	if e.err != nil {
		return lumigl.Value{}, e.err
	}
	return v, nil
}

// At returns the part of a value at a path such as a[0].b, with secrets replaced by their contents. secret reports
// whether the part is secret, contains a secret, or is inside one. A missing part is null. References are kept. At
// returns an *[Error] if a step indexes a value other than a list or an object.
func At(v lumigl.Value, path string) (part lumigl.Value, secret bool, err error) {
	e := &evaluator{resolve: func(*lumigl.Vertex, string) (v lumigl.Value, known bool) { return v, false }}
	part, secret = e.get(v, path)
	if e.err != nil {
		return lumigl.Value{}, false, e.err
	}
	part, hidden := withoutSecrets(part)
	return part, secret || hidden, nil
}

// IsKnown reports whether no part of v is unknown. Unique names are known: they depend on nothing but the resource.
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

// Unknown returns v in the form sent to providers: expressions and references to outputs are replaced by the
// placeholder for unknown values.
func Unknown(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if isPending(part) {
			return lumigl.TextOf(wire.Unknown), true
		}
		return lumigl.Value{}, false
	})
}

// isPending reports whether v itself is unknown, regardless of its parts.
func isPending(v lumigl.Value) bool {
	_, property, ok := v.Target()
	return ok && property != "" || v.IsExpression() && !v.Get(uniqueName).Exists() || v.IsUnknown()
}

// maxText limits the total size in bytes of the strings created by an evaluation. Without a limit, they could grow
// exponentially, since each nested jsonStringify doubles the escapes in a string.
const maxText = 64 << 20

// evaluator evaluates a value. It stops at the first error.
type evaluator struct {
	resolve Resolve
	made    int // total size of the created strings in bytes
	err     *Error
}

// grow adds n bytes to the total size of created strings. It returns false if the evaluation has failed, as it does
// when the limit is exceeded.
func (e *evaluator) grow(n int) bool {
	if e.made += n; e.made > maxText {
		e.fail("expressions produce more than %d MiB of strings", maxText>>20)
	}
	return e.err == nil
}

// failed is the result of an invalid expression.
var failed = lumigl.NullValue()

func (e *evaluator) fail(format string, args ...any) lumigl.Value {
	if e.err == nil {
		e.err = &Error{Message: fmt.Sprintf(format, args...)}
	}
	return failed
}

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
