package query

import (
	"errors"

	"cel.dev/cel-go/cel"

	"github.com/lumi-idl/lumi/lumigl"
)

// Predicate is a condition on a value. It is written in CEL and uses the variable value, which has the same form as in
// an [Expression] except that secrets are replaced by their contents. A Predicate is safe for concurrent use.
type Predicate struct{ program cel.Program }

var overValues = newLanguage("value", "value", "value", []variable{{name: "value", is: cel.DynType}})

// CompilePredicate compiles a predicate. Any error wraps one or more errors of type *[ExpressionError].
func CompilePredicate(source string) (*Predicate, error) {
	program, _, err := overValues.compile(source)
	if err != nil {
		return nil, err
	}
	return &Predicate{program}, nil
}

// Holds reports whether the predicate is true for a value, which must be known. It returns false if the value lacks a
// property used in the predicate. It returns an error if the result is not a boolean or if the evaluation is too
// expensive. Errors never contain secrets.
func (p *Predicate) Holds(v lumigl.Value) (bool, error) {
	content, secret := reveal(v)
	holds, err := evaluate(p.program, map[string]any{"value": plain(content)})
	if err != nil && secret {
		return false, errors.New("the error is hidden because the value contains a secret")
	}
	return holds, err
}

// reveal replaces the secrets within a value with their contents. secret reports whether there were any.
func reveal(v lumigl.Value) (content lumigl.Value, secret bool) {
	content = v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		inner, ok := part.Secret()
		if ok {
			secret = true
			inner, _ = reveal(inner)
		}
		return inner, ok
	})
	return content, secret
}
