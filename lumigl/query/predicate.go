package query

import (
	"errors"

	"cel.dev/cel-go/cel"

	"github.com/lumi-idl/lumi/lumigl"
)

// Predicate is a condition on a value. It is written in CEL over the variable value, which looks as it does in an
// [Expression], except that secrets are not wrapped. It may be used concurrently.
type Predicate struct{ program cel.Program }

var overValues = newLanguage("value", "value", "value", []variable{{name: "value", is: cel.DynType}})

// CompilePredicate reads a predicate. The errors are *[ExpressionError], several of them joined.
func CompilePredicate(source string) (*Predicate, error) {
	program, _, err := overValues.compile(source)
	if err != nil {
		return nil, err
	}
	return &Predicate{program}, nil
}

// Holds reports whether the predicate is true for a value, all of which must be known. What the predicate needs and the
// value does not have makes it false. It fails if the predicate is neither true nor false, or takes too long. The error
// does not contain secrets.
func (p *Predicate) Holds(v lumigl.Value) (bool, error) {
	content, secret := reveal(v)
	holds, err := evaluate(p.program, map[string]any{"value": plain(content)})
	if err != nil && secret {
		return false, errors.New("the error is hidden because the value contains a secret")
	}
	return holds, err
}

// reveal returns a value with the content of secrets in their place, and whether there were any.
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
