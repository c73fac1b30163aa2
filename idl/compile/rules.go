package compile

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/rule"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// A rule is a comment line above a struct, //lumi:rule EXPR // message. The expression is Go with the struct's fields as
// operands. It is converted to JSON, which package internal/rule defines.

const (
	ruleForm = "expected //lumi:rule EXPRESSION // MESSAGE"
	ruleHelp = "rules consist of fields, constants, literals, has(…), len(…), and ! && || == != < <= > >= + - *"
)

// maxRule is the maximum size of an expression in bytes.
const maxRule = 4096

// ruleDirective matches directives that are rules, or almost, and nearRule comments that are almost such directives.
var (
	ruleDirective = regexp.MustCompile(`^\s*(?i:rules?)(?:[^\w,-]|$)`)
	nearRule      = regexp.MustCompile(`^/[/*]\s*\+?(?i:lum[ie])\s*[:=.;-]?\s*(?i:rules?)\s+(\S.*//.*\S)`)
)

// ruleLine is a parsed rule.
type ruleLine struct {
	*checker
	of         *decl
	start      token.Pos // of the source text of expr
	text       string
	expr       ast.Expr
	message    string
	properties []*schema.Property
}

// at returns the place of a node of the expression. The parser places missing nodes after the end.
func (r *ruleLine) at(n ast.Node) ast.Node {
	from, to := min(int(n.Pos())-1, len(r.text)), min(int(n.End())-1, len(r.text))
	return textRange{r.start + token.Pos(from), r.start + token.Pos(to)}
}

// reject reports an error in the expression and returns false.
func (r *ruleLine) reject(code diag.Code, n ast.Node, help, format string, args ...any) (term, bool) {
	r.report(code, r.at(n), format, args...).Suggestion = help
	return term{}, false
}

// parseRule parses the text of a rule directive above d.
func (c *checker) parseRule(d *decl, text string, at token.Pos) {
	malformed := func(from, to int, problem, help string) {
		c.report(diag.RuleSyntax, textRange{at + token.Pos(from), at + token.Pos(to)}, "%s", problem).Suggestion = help
	}
	const prefix = len("rule")
	source := text[min(prefix, len(text)):]
	if !strings.HasPrefix(text, "rule") || strings.TrimLeft(source, " \t") == source {
		malformed(0, len(text), "a rule must begin with //lumi:rule and a space", ruleForm)
		return
	}
	r := &ruleLine{checker: c, of: d, start: at + token.Pos(prefix), text: source}
	var scan scanner.Scanner
	scan.Init(token.NewFileSet().AddFile("", 1, len(source)), []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	for tok := token.ILLEGAL; tok != token.EOF && r.message == ""; {
		var pos token.Pos
		var comment string
		if pos, tok, comment = scan.Scan(); tok == token.COMMENT && strings.HasPrefix(comment, "//") {
			r.text, r.message = source[:pos-1], strings.TrimSpace(comment[len("//"):])
		}
	}
	var err error
	r.expr, err = parser.ParseExprFrom(token.NewFileSet(), "", r.text, 0)
	var problems scanner.ErrorList
	switch {
	case len(r.text) > maxRule:
		malformed(0, len(text), fmt.Sprintf("the rule is longer than %d bytes", maxRule), "split it")
	case strings.TrimSpace(r.text) == "":
		malformed(0, len(text), "the rule has no expression", ruleForm)
	case errors.As(err, &problems):
		malformed(prefix+min(problems[0].Pos.Offset, len(r.text)), prefix+len(r.text), strings.ReplaceAll(problems[0].Msg, "'EOF'", "the end"), ruleHelp)
	case r.message == "" || strings.ContainsFunc(r.message, unicode.IsControl):
		malformed(0, len(text), "the rule has no message", "describe the problem after the expression, as in // the first port is above the last")
	default:
		d.rules = append(d.rules, r)
	}
}

// checkRules converts the rules of all structs, and adds them to the models of these structs and their embedders.
func (c *checker) checkRules() {
	converted := map[*ruleLine]*schema.Rule{}
	for _, d := range c.order {
		for _, r := range d.rules {
			switch {
			case d.kind == broken || d.kind == unknownStruct:
			case d.struc == nil || d.kind == union:
				_, _ = r.reject(diag.MisplacedDirective, r.expr, "remove it",
					"rules apply to resources, structs, configurations, functions, and mixins, not to %s", schema.ValuesOf(&schema.Ref{Decl: d.model}))
			default:
				converted[r] = r.convert()
			}
		}
	}
	for _, d := range c.order {
		var rules []*schema.Rule
		for _, from := range d.embedded(nil) {
			for _, r := range from.rules {
				if converted[r] != nil {
					rules = append(rules, converted[r])
				}
			}
		}
		switch m := d.model.(type) {
		case *schema.Resource:
			m.Rules = rules
		case *schema.Struct:
			m.Rules = rules
		case *schema.Config:
			m.Rules = rules
		case *schema.Function:
			m.Rules = rules
		}
	}
}

// embedded appends d and the structs that it embeds to a list, each once.
func (d *decl) embedded(list []*decl) []*decl {
	if slices.Contains(list, d) {
		return list
	}
	list = append(list, d)
	for _, inner := range d.embeds {
		list = inner.embedded(list)
	}
	return list
}

// term is a converted expression.
type term struct {
	data   any          // in JSON
	values string       // the kind of its values, as returned by schema.ValuesOf; enums are strings
	enum   *schema.Enum // set for values of an enum
}

// convert returns the rule in the model, or nil if it is invalid.
func (r *ruleLine) convert() *schema.Rule {
	for _, f := range r.of.fields {
		r.properties = append(r.properties, f.Property)
	}
	t, ok := r.term(r.expr, 0)
	if ok {
		ok = r.require(r.expr, t, "a rule must be true or false", "booleans")
	}
	if value, is := t.data.(bool); is && ok {
		_, ok = r.constant(r.expr, value)
	}
	if !ok {
		return nil
	}
	return &schema.Rule{Message: r.message, Expr: t.data}
}

func (r *ruleLine) constant(e ast.Expr, value bool) (term, bool) {
	return r.reject(diag.RuleConstant, e, "remove it, or compare other fields", "%s is always %t", types.ExprString(e), value)
}

// require reports a term whose values are of none of the kinds, and returns false.
func (r *ruleLine) require(e ast.Expr, t term, what string, kinds ...string) bool {
	if !slices.Contains(kinds, t.values) {
		_, _ = r.reject(diag.RuleType, e, "", "%s, found %s: %s", what, t.values, types.ExprString(e))
	}
	return slices.Contains(kinds, t.values)
}

// term converts an expression. It returns false if the expression is invalid.
func (r *ruleLine) term(e ast.Expr, depth int) (term, bool) {
	if depth == rule.MaxDepth {
		return r.reject(diag.RuleSyntax, e, "split the rule", "the expression is nested too deep")
	}
	depth++
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.term(e.X, depth)
	case *ast.BasicLit:
		if e.Kind != token.CHAR && e.Kind != token.IMAG {
			return r.value(e, constant.MakeFromLiteral(e.Value, e.Kind, 0))
		}
	case *ast.Ident, *ast.SelectorExpr:
		return r.operand(e, false)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			return r.operation(e, "!", depth, e.X)
		case token.SUB:
			return r.operation(e, "-", depth, &ast.BasicLit{ValuePos: e.OpPos, Kind: token.INT, Value: "0"}, e.X)
		}
	case *ast.BinaryExpr:
		operands := []ast.Expr{e.X, e.Y}
		for e.Op == token.LAND || e.Op == token.LOR {
			left, ok := operands[0].(*ast.BinaryExpr)
			if !ok || left.Op != e.Op {
				break
			}
			operands = slices.Replace(operands, 0, 1, left.X, left.Y)
		}
		if ruleOperands[e.Op.String()] != nil {
			return r.operation(e, e.Op.String(), depth, operands...)
		}
	case *ast.CallExpr:
		switch name, _ := e.Fun.(*ast.Ident); {
		case name == nil || len(e.Args) != 1 || e.Ellipsis.IsValid():
		case name.Name == "has":
			return r.operand(ast.Unparen(e.Args[0]), true)
		case name.Name == "len":
			return r.operation(e, "len", depth, e.Args[0])
		}
	case *ast.IndexExpr:
		return r.reject(diag.RuleSyntax, e, "put the rule above the element's struct", "rules cannot use elements of lists and maps")
	}
	return r.reject(diag.RuleSyntax, e, ruleHelp, "rules cannot use %s", types.ExprString(e))
}

// ruleOperands maps operators to the kinds of their operands.
var ruleOperands = map[string][]string{
	"!": {"booleans"}, "&&": {"booleans"}, "||": {"booleans"}, "==": comparableValues, "!=": comparableValues,
	"<": {"numbers"}, "<=": {"numbers"}, ">": {"numbers"}, ">=": {"numbers"}, "+": {"numbers"}, "-": {"numbers"}, "*": {"numbers"},
	"len": {"strings", "lists", "maps"},
}

var comparableValues = []string{"booleans", "numbers", "strings"}

// operation converts an operation.
func (r *ruleLine) operation(e ast.Expr, op string, depth int, operands ...ast.Expr) (term, bool) {
	data, terms, valid := []any{op}, []term{}, true
	for _, operand := range operands {
		t, ok := r.term(operand, depth)
		kinds := ruleOperands[op]
		valid = ok && r.require(operand, t, op+" requires "+strings.Join(kinds, " or "), kinds...) && valid
		data, terms = append(data, t.data), append(terms, t)
	}
	t := term{data: data, values: "booleans"}
	switch op {
	case "&&", "||":
		t.data = withoutConstants(op, data[1:])
		return t, valid
	case "+", "-", "*", "len":
		t.values = "numbers"
	case "==", "!=", "<", "<=", ">", ">=":
		if valid && !r.comparable(e, op, operands, terms) {
			return term{}, false
		}
	}
	if !valid {
		return term{}, false
	}
	x, err := rule.Of(t.data)
	if err != nil {
		return t, true // nested too deep, which is reported
	}
	for range x.Paths {
		return t, true
	}
	switch v := x.Eval(nil); v.Kind {
	case rule.Bool:
		t.data = v.Number == 1
	case rule.Number:
		t.data = v.Number
	default:
		return r.tooLarge(e)
	}
	return t, true
}

func (r *ruleLine) tooLarge(e ast.Expr) (term, bool) {
	return r.reject(diag.RuleType, e, "use another number", "%s cannot be represented exactly as a float64", types.ExprString(e))
}

// withoutConstants returns a conjunction or disjunction without operands that do not matter.
func withoutConstants(op string, operands []any) any {
	if slices.Contains(operands, any(op == "||")) {
		return op == "||"
	}
	operands = slices.DeleteFunc(operands, func(x any) bool { return x == any(op == "&&") })
	switch len(operands) {
	case 0:
		return op == "&&"
	case 1:
		return operands[0]
	}
	return append([]any{op}, operands...)
}

// comparable reports a comparison of different types or with a known result, and returns false.
func (r *ruleLine) comparable(e ast.Expr, op string, operands []ast.Expr, terms []term) bool {
	a, b, other := terms[0], terms[1], operands[1]
	if a.enum == nil {
		a, b, other = b, a, operands[0]
	}
	text, isLiteral := b.data.(string)
	nameOf := func(t term) string {
		if t.enum != nil {
			return "values of " + t.enum.Name
		}
		return t.values
	}
	switch {
	case a.values == b.values && a.enum != nil && b.enum == nil && isLiteral:
		problem, help := notInEnum(a.enum, text)
		if near, ok := strings.CutPrefix(help, "write default="); ok {
			near, _ = unquote(near)
			help = didYouMean(near)
		}
		if problem != "" {
			_, _ = r.reject(diag.RuleType, other, help, "%s", problem)
		}
		return problem == ""
	case a.values != b.values || a.enum != b.enum:
		_, _ = r.reject(diag.RuleType, e, "", "%s and %s cannot be compared", nameOf(a), nameOf(b))
		return false
	case reflect.TypeOf(a.data) == reflect.TypeFor[[]any]() && reflect.DeepEqual(a.data, b.data):
		_, _ = r.constant(e, strings.Contains(op, "=") && op != "!=")
		return false
	}
	return true
}

// value converts a constant.
func (r *ruleLine) value(e ast.Expr, v constant.Value) (term, bool) {
	switch v.Kind() {
	case constant.Bool:
		return term{data: constant.BoolVal(v), values: "booleans"}, true
	case constant.String:
		s := constant.StringVal(v)
		if !utf8.ValidString(s) {
			return r.reject(diag.RuleType, e, "use another string", "%s is not valid UTF-8", types.ExprString(e))
		}
		return term{data: s, values: "strings"}, true
	case constant.Int, constant.Float:
		if n, exact := constant.Float64Val(v); !math.IsInf(n, 0) && (exact || v.Kind() == constant.Float) {
			return term{data: n, values: "numbers"}, true
		}
		return r.tooLarge(e)
	}
	return term{}, false // reported with the constant
}

// operand converts a name: a field of the struct or of one in it, or a constant. has asks only for its presence.
func (r *ruleLine) operand(e ast.Expr, has bool) (term, bool) {
	if k := r.constantNamed(e); k != nil && !has {
		t, ok := r.value(e, k.Val())
		if named, isNamed := k.Type().(*types.Named); isNamed && r.decls[named.Obj()] != nil {
			t.enum, _ = r.decls[named.Obj()].model.(*schema.Enum)
		}
		return t, ok
	}
	steps, ok := r.path(e)
	if !ok {
		return term{}, false
	}
	p := steps[len(steps)-1]
	if has { // steps that are always present do not matter
		for len(steps) > 0 && whyPresent(steps[len(steps)-1]) != "" {
			steps = steps[:len(steps)-1]
		}
		if len(steps) == 0 {
			return term{data: true, values: "booleans"}, true
		}
	}
	t := term{data: []any{"get"}, values: schema.ValuesOf(p.Type)}
	switch {
	case has:
		t = term{data: []any{"has"}, values: "booleans"}
	case p.Default != nil:
		t.data = []any{"default", p.Default}
	}
	for _, step := range steps {
		t.data = append(t.data.([]any), step.Name)
	}
	if t.values == "enums" {
		t.values, t.enum = "strings", schema.Underlying(p.Type).(*schema.Ref).Decl.(*schema.Enum)
	}
	return t, true
}

// path returns the properties on the path that e names.
func (r *ruleLine) path(e ast.Expr) ([]*schema.Property, bool) {
	var steps []*schema.Property
	properties := r.properties
	name, _ := e.(*ast.Ident)
	if s, ok := e.(*ast.SelectorExpr); ok {
		if steps, ok = r.path(s.X); !ok {
			return nil, false
		}
		outer := steps[len(steps)-1].Type
		ref, _ := schema.Underlying(outer).(*schema.Ref)
		isObject := slices.Contains([]string{"structs", "unions"}, schema.ValuesOf(outer))
		if name = s.Sel; !isObject || schema.GoProperties(ref.Decl) == nil { // unions of resources have none
			_, _ = r.reject(diag.RuleName, e, "use fields of structs; a rule about elements belongs above their struct",
				"%s has %s, which have no fields", types.ExprString(s.X), schema.ValuesOf(outer))
			return nil, false
		}
		properties = schema.Properties(ref.Decl)
	}
	if name == nil {
		_, ok := r.reject(diag.RuleSyntax, e, ruleHelp, "%s is not a field", types.ExprString(e))
		return nil, ok
	}
	var fields, names []string
	for _, p := range properties {
		fields, names = append(fields, p.Field), append(names, p.Name)
	}
	i := slices.Index(fields, name.Name)
	switch {
	case i < 0 && !r.refused[name.Name]:
		help := "use the Go names of fields, and constants of the IDL"
		if at := slices.Index(names, name.Name); at >= 0 {
			help = didYouMean(fields[at])
		} else if near := suggest.Name(name.Name, fields); near != "" {
			help = didYouMean(near)
		}
		if scope := r.of.file.source.TypesInfo.Scopes[r.of.file.File]; scope != nil { // nil if Go gave up
			if _, isImport := scope.Lookup(name.Name).(*types.PkgName); isImport {
				help = "declare the constant in this IDL; rules cannot use other packages"
			}
		}
		_, ok := r.reject(diag.RuleName, name, help, "unknown name %s", name.Name)
		return nil, ok
	case i < 0:
		return nil, false // reported
	case properties[i].Type == invalidType:
		return nil, false // reported
	case properties[i].Out:
		_, ok := r.reject(diag.RuleName, e, "use properties that programs set", "%s is set by the provider, but rules apply to programs", name.Name)
		return nil, ok
	}
	return append(steps, properties[i]), true
}

// constantNamed returns the constant of this or an imported folder that e names, or nil. Fields hide constants.
func (r *ruleLine) constantNamed(e ast.Expr) *types.Const {
	file := r.of.file
	switch e := e.(type) {
	case *ast.Ident:
		if !slices.ContainsFunc(r.properties, func(p *schema.Property) bool { return p.Field == e.Name }) {
			_, obj := file.source.Types.Scope().LookupParent(e.Name, token.NoPos)
			k, _ := obj.(*types.Const)
			if e.Name != "iota" {
				return k
			}
		}
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if scope := file.source.TypesInfo.Scopes[file.File]; ok && scope != nil { // nil if Go gave up
			imported, _ := scope.Lookup(x.Name).(*types.PkgName)
			if imported != nil && r.sourceOf[imported.Imported()] != nil {
				k, _ := imported.Imported().Scope().Lookup(e.Sel.Name).(*types.Const)
				return k
			}
		}
	}
	return nil
}
