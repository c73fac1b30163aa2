package taskgraph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

type object = map[string]any

// expressionKey is the only key of an object that is an expression in YAQL.
const expressionKey = "yaql_exp"

// IsExpression reports whether v is an object with the key yaql_exp, which is an expression. A condition is evaluated
// for each node, and so are parameters and tests, except for parameters.strategy. Expressions in other attributes are
// evaluated once for a run.
func IsExpression(v any) bool {
	o, _ := v.(object)
	_, is := o[expressionKey]
	return is
}

// HasExpression reports whether v is or contains an expression.
func HasExpression(v any) bool {
	switch v := v.(type) {
	case object:
		for _, item := range v {
			if HasExpression(item) {
				return true
			}
		}
		return IsExpression(v)
	case []any:
		return slices.ContainsFunc(v, HasExpression)
	}
	return false
}

// replace returns a copy of v in which the results of f replace expressions, or v if there are none. path is the path of
// v. It stops at the first error.
func replace(v any, path string, f func(path string, text any) (any, error)) (_ any, err error) {
	if !HasExpression(v) {
		return v, nil
	}
	switch old := v.(type) {
	case object:
		if text, is := old[expressionKey]; is {
			if len(old) > 1 {
				text = nil
			}
			v, err := f(path, text)
			if err == nil && HasExpression(v) {
				err = errors.New("the value contains another expression")
			}
			return v, err
		}
		all := maps.Clone(old)
		for _, key := range slices.Sorted(maps.Keys(old)) {
			if all[key], err = replace(old[key], path+"."+key, f); err != nil {
				return nil, err
			}
		}
		return all, nil
	case []any:
		all := slices.Clone(old)
		for i := range all {
			if all[i], err = replace(old[i], fmt.Sprintf("%s[%d]", path, i), f); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return v, nil
}
