package query

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"

	"github.com/lumi-idl/lumi/internal/nearest"
)

// comparedTypes are the texts that an expression compares the type with.
func comparedTypes(tree *ast.AST) []string {
	var texts []string
	collect := func(e ast.Expr) {
		if e.Kind() == ast.LiteralKind {
			if text, ok := e.AsLiteral().Value().(string); ok {
				texts = append(texts, text)
			}
		}
	}
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		if name := call.FunctionName(); name != "_==_" && name != "@in" {
			return
		}
		isType := func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "type" }
		if !slices.ContainsFunc(call.Args(), isType) {
			return
		}
		for _, arg := range call.Args() {
			collect(arg)
			if arg.Kind() == ast.ListKind {
				for _, element := range arg.AsList().Elements() {
					collect(element)
				}
			}
		}
	}))
	return texts
}

// MeantType returns a type that the expression compares with and no vertex has, and those types of vertices that were
// probably meant by it: what ends with it, or is spelled much like it. It is for expressions that nothing is found by. It
// returns none if there is nothing to suggest.
func (x *Index) MeantType(e *Expression) (given string, meant []string) {
	var all []string
	seen := map[string]bool{}
	for _, v := range x.vertices {
		if t := string(v.Type); t != "" && !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	for _, given := range e.types {
		if given == "" || seen[given] {
			continue
		}
		for _, t := range all {
			if end := len(t) - len(given); end > 0 && strings.ContainsRune(":/", rune(t[end-1])) && strings.EqualFold(t[end:], given) {
				meant = append(meant, t)
			}
		}
		if near := nearest.Name(given, all); len(meant) == 0 && near != "" {
			meant = []string{near}
		}
		if len(meant) > 0 {
			return given, meant
		}
	}
	return "", nil
}
