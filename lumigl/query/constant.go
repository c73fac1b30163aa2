package query

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"
)

// wrongConstant describes an error in a constant subexpression, which CEL evaluates at compile time: the pattern of a
// call of matches, or a conversion such as int("10").
func wrongConstant(source string, tree *ast.AST, err error) error {
	var pattern *syntax.Error
	var failed *types.Err
	switch {
	case errors.As(err, &pattern):
		return wrongPattern(source, tree, pattern)
	case errors.As(err, &failed):
		call := first(tree, func(e ast.Expr) bool { return e.ID() == failed.NodeID() && e.Kind() == ast.CallKind })
		if call != nil && len(call.AsCall().Args()) == 1 {
			return wrongConversion(tree, call.AsCall())
		}
	}
	return atStart("%s", err)
}

// wrongPattern describes an error in a regular expression. It points to the error or, if the literal contains escapes,
// to the whole literal.
func wrongPattern(source string, tree *ast.AST, wrong *syntax.Error) error {
	e := atStart("invalid regular expression %q: %s", wrong.Expr, wrong.Code)
	call := first(tree, func(e ast.Expr) bool {
		pattern, text := patternOf(e)
		if pattern == nil {
			return false
		}
		_, err := regexp.Compile(text)
		return err != nil && err.Error() == wrong.Error()
	})
	if call == nil {
		return e // the pattern is not a literal
	}
	pattern, text := patternOf(call)
	e.setPosition(tree, pattern)
	_, rest := around(source, e.Line, e.Column)
	inside := strings.TrimLeft(rest, `rR"'`)
	if at := strings.Index(text, wrong.Expr); at >= 0 && strings.HasPrefix(inside, text) {
		e.Column += len(rest) - len(inside) + utf8.RuneCountInString(text[:at])
	}
	return e
}

// patternOf returns the pattern of a call of matches, if it is a literal, and its value. For other expressions, literal
// is nil.
func patternOf(e ast.Expr) (literal ast.Expr, text string) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" {
		return nil, ""
	}
	args := e.AsCall().Args()
	literal = args[len(args)-1]
	if literal.Kind() != ast.LiteralKind {
		return nil, ""
	}
	text, ok := literal.AsLiteral().Value().(string)
	if !ok {
		return nil, ""
	}
	return literal, text
}

func wrongConversion(tree *ast.AST, call ast.CallExpr) error {
	value, to := call.Args()[0], call.FunctionName()
	text, err := parser.Unparse(value, tree.SourceInfo())
	if err != nil {
		text = "this"
	}
	e := &ExpressionError{Message: fmt.Sprintf("%s is not a valid %s", text, to)}
	switch to {
	case "timestamp":
		e.Message += ` such as "2017-06-01T12:00:00Z"`
	case "duration":
		e.Message += ` such as "1h30m"`
	}
	e.setPosition(tree, value)
	return e
}

// setPosition sets the position of an error to the start of a subexpression.
func (e *ExpressionError) setPosition(tree *ast.AST, part ast.Expr) {
	at := tree.SourceInfo().GetStartLocation(part.ID())
	e.Line, e.Column = max(at.Line(), 1), max(at.Column()+1, 1)
}

// first returns the first subexpression, in evaluation order, for which is returns true, or nil.
func first(tree *ast.AST, is func(ast.Expr) bool) ast.Expr {
	var found ast.Expr
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if found == nil && is(e) {
			found = e
		}
	}))
	return found
}
