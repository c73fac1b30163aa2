package query

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// comparedTypes returns the strings compared with the variable type in an expression.
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

// MeantType suggests types for an expression without results. It returns a type used in the expression that no vertex
// has, and similar types or type suffixes of vertices, in either form of type tokens. Both results are empty if there
// is no suggestion.
func (x *Index) MeantType(e *Expression) (given string, meant []string) {
	var all, names []string
	seen := map[string]bool{}
	for _, v := range x.vertices {
		if t := string(v.Type); t != "" && !seen[t] {
			seen[t] = true
			all, names = append(all, t), append(names, endings(t)...)
		}
	}
	for _, given := range e.types {
		near := suggest.Name(withoutFile(given), names)
		if near == "" || seen[given] {
			continue
		}
		for _, t := range all {
			if slices.Contains(endings(t), near) {
				meant = append(meant, t)
			}
		}
		return given, meant
	}
	return "", nil
}

// endings returns the suffixes of a type that start after a separator, in lower case and in both forms of type tokens.
func endings(t string) (all []string) {
	for _, form := range []string{t, withoutFile(t)} {
		form = strings.ToLower(form)
		for i := range form {
			if i == 0 || form[i-1] == ':' || form[i-1] == '/' {
				all = append(all, form[i:])
			}
		}
	}
	return all
}

// withoutFile removes the file name from a type or a type suffix: aws:ec2/vpc:VPC becomes aws:ec2:VPC.
func withoutFile(t string) string {
	colon := strings.LastIndexByte(t, ':')
	slash := strings.LastIndexByte(t[:max(0, colon)], '/')
	if slash < 0 || !strings.EqualFold(t[slash+1:colon], t[colon+1:]) {
		return t
	}
	return t[:slash] + t[colon:]
}
