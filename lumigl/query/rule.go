package query

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	celops "cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/lumi-idl/lumi/lumigl"
)

// Rule is a condition on the steps of a plan. It is written in CEL and uses either the variables of a [Change], for a single
// step, or the list steps, for all of them, and in both cases environment and module. Values have the same form as in an
// [Expression], except that secrets are opaque, as described at [Rule.Holds]. A Rule is safe for concurrent use.
type Rule struct {
	program cel.Program
	// OverAll is set if the rule covers all steps of a plan at once.
	OverAll bool
}

// Change holds the variables of a step: op, type, urn, module, environment, old, new, and options.
type Change = map[string]any

// NewChange returns a step. old and after are the properties before and after it, and options are its options.
// Absent values become empty objects.
func NewChange(op, typ, urn, module, environment string, old, after, options lumigl.Value) Change {
	return Change{
		"op": op, "type": typ, "urn": urn, "module": module, "environment": environment,
		"old": openOf(old), "new": openOf(after), "options": openOf(options),
	}
}

var overChanges = newRuleLanguage()

func newRuleLanguage() *language {
	object := cel.MapType(cel.StringType, cel.DynType)
	l := newLanguage("type", "new", "new.names", []variable{
		{name: "op", is: cel.StringType}, {name: "type", is: cel.StringType}, {name: "urn", is: cel.StringType},
		{name: "module", is: cel.StringType}, {name: "environment", is: cel.StringType},
		{name: "old", is: object}, {name: "new", is: object}, {name: "options", is: object}, {name: "steps", is: cel.ListType(object)},
	}, cel.CustomTypeAdapter(opaque{types.DefaultTypeAdapter}), cel.Function("isSecret",
		cel.Overload("is_secret_dyn", []*cel.Type{cel.DynType}, cel.BoolType, cel.OverloadIsNonStrict(), cel.UnaryBinding(isSecret)),
	))
	l.options = []cel.ProgramOption{cel.CustomDecoratorV2(compareOpenly)}
	return l
}

// CompileRule compiles a rule. Any error wraps one or more errors of type *[ExpressionError].
func CompileRule(source string) (*Rule, error) {
	program, tree, err := overChanges.compile(source)
	if err != nil {
		return nil, err
	}
	r := &Rule{program: program}
	var single ast.Expr
	ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.IdentKind {
			return
		}
		switch e.AsIdent() {
		case "steps":
			r.OverAll = true
		case "op", "type", "urn", "old", "new", "options":
			if single == nil {
				single = e
			}
		}
	}))
	if r.OverAll && single != nil {
		e := &ExpressionError{Message: fmt.Sprintf(
			"%s belongs to a single step; in a rule about steps, write it as in steps.exists(s, s.%[1]s != null)", single.AsIdent())}
		e.setPosition(tree.NativeRep(), single)
		return nil, e
	}
	return r, nil
}

// Holds reports whether the rule is true for the steps of a module, which is a single one unless OverAll is set. known is
// false if that depends on an unknown value. Any use of a secret except by isSecret and has is an error, and so is reading a
// missing property. Errors never contain secrets.
func (r *Rule) Holds(environment, module string, steps ...Change) (holds, known bool, err error) {
	variables := map[string]any{"environment": environment, "module": module, "steps": steps}
	if !r.OverAll {
		variables = steps[0]
	}
	result, _, err := r.program.Eval(variables)
	switch {
	case errors.Is(err, errSecret), err != nil && strings.Contains(err.Error(), "query.sealed"): // the latter for a key
		return false, true, errSecret
	case err != nil && strings.Contains(err.Error(), "no such key"):
		return false, true, fmt.Errorf("%w; has tests whether a property exists", err)
	case err != nil && strings.Contains(err.Error(), "no such overload"):
		return false, true, errors.New("the type of a value does not fit its operator or function")
	case err != nil && strings.Contains(err.Error(), "cost limit exceeded"):
		return false, true, errors.New("the expression exceeds the cost limit")
	case err != nil:
		return false, true, err
	case types.IsUnknown(result):
		return false, false, nil
	}
	b, ok := result.(types.Bool)
	if !ok {
		return false, true, fmt.Errorf("the expression must be a bool, got %s", result.Type().TypeName())
	}
	return bool(b), true, nil
}

var errSecret = errors.New("it uses the content of a secret; only isSecret and has accept secrets")

// sealed is a secret inside a value. Evaluating an expression to it is an error; see [opaque].
type sealed struct{ ref.Val }

var secret = sealed{types.NullValue}

// opaque converts secrets to errors. Maps and lists are converted by the embedded adapter, so that has finds secrets in
// them.
type opaque struct{ types.Adapter }

// NativeToValue implements [types.Adapter].
func (a opaque) NativeToValue(v any) ref.Val {
	if _, ok := v.(sealed); ok {
		return types.WrapErr(errSecret)
	}
	return a.Adapter.NativeToValue(v)
}

func isSecret(v ref.Val) ref.Val {
	if e, ok := v.(*types.Err); ok && errors.Is(e, errSecret) {
		return types.True
	}
	if types.IsUnknownOrError(v) {
		return v
	}
	return types.False
}

// unknown is the value of all unknown properties.
var unknown = types.NewUnknown(1, types.NewAttributeTrail("unknown"))

// object is a map without the shortcut of maps of Go values, for which has is true of unknown values.
type object struct{ traits.Mapper }

// openOf converts an object for a rule.
func openOf(v lumigl.Value) any {
	if !v.Exists() {
		v = lumigl.ObjectOf()
	}
	return plainWith(v, func(part lumigl.Value) (any, bool) {
		_, output, isReference := part.Target()
		switch {
		case part.IsSecret():
			return secret, true
		case part.IsUnknown(), part.IsExpression(), output != "":
			return unknown, true
		case isReference || part.Kind() != lumigl.Object:
			return nil, false
		}
		members := make(map[string]any, part.Len())
		for key, member := range part.Members() {
			members[key] = openOf(member)
		}
		return object{types.NewStringInterfaceMap(types.DefaultTypeAdapter, members)}, true
	})
}

// comparison compares values that may contain secrets or unknown values, which CEL considers different from all others.
type comparison struct{ interpreter.InterpretableCall }

// compareOpenly decorates comparisons.
func compareOpenly(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	switch call.Function() {
	case celops.Equals, celops.NotEquals, celops.In:
		return comparison{call}, nil
	}
	return i, nil
}

// Exec implements [interpreter.InterpretableV2].
func (c comparison) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	left, right := c.Args()[0].Exec(frame), c.Args()[1].Exec(frame)
	result := hidden(left)
	if _, isMap := right.(traits.Mapper); result == nil && (!isMap || c.Function() != celops.In) { // in compares only keys
		result = hidden(right)
	}
	if result == nil {
		switch c.Function() {
		case celops.Equals:
			result = types.Equal(left, right)
		case celops.NotEquals:
			result = types.Bool(types.Equal(left, right) != types.True)
		default:
			if container, ok := right.(traits.Container); ok {
				result = container.Contains(left)
			} else {
				result = types.MaybeNoSuchOverloadErr(right)
			}
		}
	}
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalBinary(frame, c.ID(), c.InterpretableCall, left, right, result)
	}
	return result
}

// Eval implements [interpreter.Interpretable].
func (c comparison) Eval(a cel.Activation) ref.Val { return interpreter.EvalActivation(a, c.Exec) }

// hidden returns an error if a value is or contains a secret, an unknown value if it contains one, and otherwise nil.
func hidden(v ref.Val) (found ref.Val) {
	add := func(part ref.Val) {
		if h := hidden(part); h != nil && (found == nil || types.IsError(h)) {
			found = h
		}
	}
	switch v := v.(type) {
	case sealed:
		return types.WrapErr(errSecret)
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			part, _ := v.Find(it.Next())
			add(part)
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			add(it.Next())
		}
	default:
		if types.IsUnknownOrError(v) {
			return v
		}
	}
	return found
}
