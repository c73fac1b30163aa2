package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// Expression selects vertices. It is written in CEL, the Common Expression Language, and may use these variables:
//
//	key          string        the vertex's key; for a resource, its URN
//	type         string        a resource's type, such as "aws:ec2:VPC"
//	id           string        the id assigned by the provider, "" before the resource exists
//	name         string        the last part of the URN
//	environment  string        the parts of the URN before the type
//	pkg          string        (the package; "package" is reserved in CEL)
//	module       string
//	properties   map           the properties
//	options      map           how deployments treat it
//	dependencies list(string)  the keys of its dependencies
//	dependents   list(string)  the keys of its dependents
//
// In properties and options, a reference is a map with the key "ref" and optionally "property", a secret is a map with
// the key "secret", and an unknown value is a map with the key "unknown". An expression is false for a vertex that
// lacks a property used in it. An Expression is safe for concurrent use.
type Expression struct {
	program cel.Program
	source  string
	types   []string // strings compared with the type
}

// ExpressionError reports an error in the text of an expression.
type ExpressionError struct {
	Line, Column int
	Message      string
}

// Error returns the position and the message on one line.
func (e *ExpressionError) Error() string {
	return fmt.Sprintf("expression, %d:%d: %s", e.Line, e.Column, e.Message)
}

func atStart(format string, args ...any) *ExpressionError {
	return &ExpressionError{Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}
}

// Limits of expressions. maxLength and maxDepth are CEL's own.
const (
	maxLength = 100_000 // characters
	maxDepth  = 250     // levels
	maxCost   = 1 << 20 // for each vertex
)

// Compile compiles an expression. Any error wraps one or more errors of type *[ExpressionError].
func Compile(source string) (*Expression, error) {
	program, ast, err := overVertices.compile(source)
	if err != nil {
		return nil, err
	}
	return &Expression{program: program, source: source, types: comparedTypes(ast.NativeRep())}, nil
}

// language is a CEL environment with a set of variables.
type language struct {
	names []string
	// text, object, and list are the names of variables of these types, used in examples in messages.
	text, object, list string
	env                func() (*cel.Env, error)
	// options are added to the options of programs.
	options []cel.ProgramOption
}

var overVertices = newLanguage("type", "properties", "dependencies", variables)

func newLanguage(text, object, list string, variables []variable, options ...cel.EnvOption) *language {
	l := &language{text: text, object: object, list: list}
	options = append(options,
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ParserRecursionLimit(maxDepth),
		cel.CrossTypeNumericComparisons(true),
	)
	for _, v := range variables {
		l.names = append(l.names, v.name)
		options = append(options, cel.Variable(v.name, v.is))
	}
	l.env = sync.OnceValues(func() (*cel.Env, error) { return cel.NewEnv(options...) })
	return l
}

func (l *language) compile(source string) (cel.Program, *cel.Ast, error) {
	if n := utf8.RuneCountInString(source); n > maxLength {
		return nil, nil, atStart("the expression is too long: %d characters, the maximum is %d", n, maxLength)
	}
	env, err := l.env()
	if err != nil {
		return nil, nil, err
	}
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, nil, l.wrong(source, issues.Errors())
	}
	if ast.OutputType() != cel.BoolType && ast.OutputType() != cel.DynType {
		return nil, nil, atStart("the expression must be a bool, got %s", ast.OutputType())
	}
	program, err := env.Program(ast, slices.Concat(l.options, []cel.ProgramOption{cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize)})...)
	if err != nil {
		return nil, nil, wrongConstant(source, ast.NativeRep(), err)
	}
	return program, ast, nil
}

// variable is a variable of expressions. Its value is computed lazily.
type variable struct {
	name  string
	is    *cel.Type
	value func(a *activation) any
}

var variables = []variable{
	{"key", cel.StringType, func(a *activation) any { return a.vertex().Key() }},
	{"type", cel.StringType, func(a *activation) any { return string(a.vertex().Type) }},
	{"id", cel.StringType, func(a *activation) any { return a.vertex().ID }},
	{"name", cel.StringType, func(a *activation) any { return a.vertex().URN().Name() }},
	{"environment", cel.StringType, func(a *activation) any { p, _ := a.vertex().URN().Parts(); return p.Environment }},
	{"pkg", cel.StringType, func(a *activation) any { p, _ := a.vertex().URN().Parts(); return p.Package }},
	{"module", cel.StringType, func(a *activation) any { p, _ := a.vertex().URN().Parts(); return p.Module }},
	{"properties", cel.MapType(cel.StringType, cel.DynType), (*activation).object},
	{"options", cel.MapType(cel.StringType, cel.DynType), func(a *activation) any { return mapOf(a.vertex().Options) }},
	{"dependencies", cel.ListType(cel.StringType), func(a *activation) any { return a.keys(&a.down, a.index.down) }},
	{"dependents", cel.ListType(cel.StringType), func(a *activation) any { return a.keys(&a.up, a.index.up) }},
}

// Select returns the vertices for which the expression is true. It returns an error if the result is not a boolean or
// if the evaluation is too expensive.
func (x *Index) Select(e *Expression) ([]*lumigl.Vertex, error) {
	var found []*lumigl.Vertex
	for i, v := range x.vertices {
		ok, err := evaluate(e.program, &activation{index: x, place: int32(i)})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Key(), err)
		}
		if ok {
			found = append(found, v)
		}
	}
	return found, nil
}

// evaluate runs a program. variables must be an activation or a map.
func evaluate(program cel.Program, variables any) (bool, error) {
	result, _, err := program.Eval(variables)
	if err != nil {
		if isMissing(err) {
			return false, nil
		}
		if strings.Contains(err.Error(), "cost limit exceeded") {
			return false, errors.New("the expression exceeds the cost limit")
		}
		return false, err
	}
	b, ok := result.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the expression must be a bool, got %s", result.Type().TypeName())
	}
	return bool(b), nil
}

// isMissing reports whether err means that a property is missing or has the wrong type.
func isMissing(err error) bool {
	message := err.Error()
	for _, missing := range []string{"no such key", "no such overload", "no such attribute", "index out of"} {
		if strings.Contains(message, missing) {
			return true
		}
	}
	return false
}

// activation computes variables lazily. It caches expensive ones, since an expression may use them for every element of
// a list.
type activation struct {
	index      *Index
	place      int32
	properties map[string]any
	down, up   []string
}

// ResolveName implements [cel.Activation].
func (a *activation) ResolveName(name string) (any, bool) {
	i := slices.IndexFunc(variables, func(v variable) bool { return v.name == name })
	if i < 0 {
		return nil, false
	}
	return variables[i].value(a), true
}

func (a *activation) vertex() *lumigl.Vertex { return a.index.vertices[a.place] }

func (a *activation) object() any {
	if a.properties == nil {
		a.properties = mapOf(a.vertex().Properties)
	}
	return a.properties
}

// Parent implements [cel.Activation].
func (a *activation) Parent() cel.Activation { return nil }

func (a *activation) keys(keys *[]string, edges dag.Graph) []string {
	if *keys == nil {
		*keys = make([]string, 0, len(edges.Out(a.place)))
		for _, to := range edges.Out(a.place) {
			*keys = append(*keys, a.index.vertices[to].Key())
		}
	}
	return *keys
}

// mapOf converts an object to a map for CEL.
func mapOf(v lumigl.Value) map[string]any {
	m := make(map[string]any, v.Len())
	for key, member := range v.Members() {
		m[key] = plain(member)
	}
	return m
}

func plain(v lumigl.Value) any { return plainWith(v, nil) }

// plainWith converts a value for CEL. special, if it is not nil, converts some parts in another way.
func plainWith(v lumigl.Value, special func(part lumigl.Value) (any, bool)) any {
	return v.Plain(func(part lumigl.Value) (any, bool) {
		if special != nil {
			if converted, ok := special(part); ok {
				return converted, true
			}
		}
		switch target, property, ok := part.Target(); {
		case ok && property != "":
			return map[string]any{"ref": target.Key(), "property": property}, true
		case ok:
			return map[string]any{"ref": target.Key()}, true
		case part.IsSecret():
			return map[string]any{"secret": true}, true
		case part.IsUnknown():
			return map[string]any{"unknown": true}, true
		case part.Kind() == lumigl.Null || !part.Exists():
			return types.NullValue, true
		}
		n, ok := part.Int()
		return n, ok
	})
}
