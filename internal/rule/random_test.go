package rule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

const source = `package shop

const Limit = 3

%s
type Thing struct {
	Size   *float64 ”optional”
	Port   *int     ”optional,default=3”
	Must   float64
	Label  *string  ”optional”
	Scheme *string  ”optional,default=tcp”
	Color  *Color   ”optional,default=red”
	Public *bool    ”optional”
	Fast   *bool    ”optional,default=true”
	Zones  *Zones   ”optional”
	Tags   *Tags    ”optional”
	Part   *Part    ”optional”
}

type Part struct {
	Size  *float64 ”optional”
	Label *string  ”optional,default=ab”
	Must  bool
	Inner *Part    ”optional”
}

type Zones []string

type Tags map[string]string

type Color string

const (
	Red  Color = "red"
	Blue Color = "blue"
)
`

// randomRule returns the text of a random rule.
func randomRule(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var number, boolean func(depth int) string
	number = func(depth int) string {
		if depth > 0 && r.IntN(3) == 0 {
			return "(" + number(depth-1) + pick(" + ", " - ", " * ") + number(depth-1) + ")"
		}
		return pick("Size", "Port", "Must", "Part.Size", "Part.Inner.Size", "1", "2.5", "-0.5", "0x10", "1e3", "Limit", "-Size",
			"len(Label)", "len(Scheme)", "len(Zones)", "len(Tags)", "len(Part.Label)", `len("äß")`)
	}
	compare := func() string { return pick(" == ", " != ") }
	boolean = func(depth int) string {
		if depth > 0 && r.IntN(3) > 0 {
			switch r.IntN(5) {
			case 0:
				return "!(" + boolean(depth-1) + ")"
			case 1:
				return "(" + boolean(depth-1) + ")" + compare() + "(" + boolean(depth-1) + ")"
			case 2:
				return boolean(depth-1) + " && " + boolean(depth-1)
			}
			return "(" + boolean(depth-1) + " || " + boolean(depth-1) + ")"
		}
		switch r.IntN(6) {
		case 0:
			return number(2) + compare() + number(2)
		case 1:
			return pick("Color", "Blue") + compare() + pick("Red", `"blue"`)
		case 2:
			return pick("Label", "Scheme", "Part.Label", "Part.Inner.Label") + compare() + pick("Label", "Scheme", `"tcp"`, `"ab"`, `"// 😀"`)
		case 3:
			return "has(" + pick("Size", "Port", "Label", "Zones", "Tags", "Color", "Part", "Part.Size", "Part.Label", "Part.Must",
				"Part.Inner", "Part.Inner.Size", "Part.Inner.Label", "Must") + ")"
		case 4:
			return pick("Public", "Fast", "Part.Must", "Part.Inner.Must", "true", "false")
		}
		return number(2) + pick(" < ", " <= ", " > ", " >= ") + number(2)
	}
	return boolean(4)
}

// unknown marks an unknown value in JSON; {"$secret": v} marks a secret.
var unknown = map[string]any{"$unknown": true}

// randomPart returns random properties of a struct whose fields have these values.
func randomPart(r *rand.Rand, fields map[string][]any) map[string]any {
	part := map[string]any{}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range fields {
			if !yield(name) {
				return
			}
		}
	}) {
		value := fields[name][r.IntN(len(fields[name]))]
		switch r.IntN(8) {
		case 0:
			value = unknown
		case 1:
			value = map[string]any{"$secret": value}
		case 2, 3:
			if name == "must" {
				break
			}
			if value = nil; r.IntN(2) == 0 {
				continue
			}
		}
		part[name] = value
	}
	return part
}

func randomValue(r *rand.Rand) map[string]any {
	numbers, strs := []any{0.0, 1.0, 2.5, 3.0, -7.25, 1e3}, []any{"", "ab", "tcp", "// 😀", "a"}
	part := func(inner ...any) map[string]any {
		return randomPart(r, map[string][]any{"size": numbers, "label": strs, "must": {true, false}, "inner": inner})
	}
	return randomPart(r, map[string][]any{
		"size": numbers, "port": {0.0, 1.0, 3.0, 16.0}, "must": numbers, "label": strs, "scheme": strs, "color": {"red", "blue"},
		"public": {true, false}, "fast": {true, false}, "zones": {[]any{}, []any{"a"}, []any{"a", unknown, "c"}},
		"tags": {map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": "b", "c": nil, "d": unknown}},
		"part": {part(part(unknown)), part(part(unknown)), part(unknown)},
	})
}

// compileRules compiles the texts of rules and returns the valid ones and their expressions.
func compileRules(t *testing.T, texts []string) ([]string, []*schema.Rule) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/shop\n\ngo 1.24\n"), 0o600), os.Mkdir(filepath.Join(dir, "idl"), 0o700))
	for {
		lines := make([]string, len(texts))
		for i, text := range texts {
			lines[i] = fmt.Sprintf("//lumi:rule %s // %d", text, i)
		}
		text := fmt.Sprintf(strings.NewReplacer("”optional", "`lumi:\"optional", "”", "\"`").Replace(source), strings.Join(lines, "\n"))
		must.Do(t, os.WriteFile(filepath.Join(dir, "idl", "thing.go"), []byte(text), 0o600))
		pkg, diags, err := compile.Load(context.Background(), compile.Options{Dir: filepath.Join(dir, "idl"), Package: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		if pkg != nil {
			return texts, schema.Rules(pkg.Modules[0].Files[0].Decls[1])
		}
		wrong := map[int]bool{}
		for _, d := range diags {
			if d.Code != "RuleConstant" {
				t.Fatalf("%s: %s: %s", d.Code, d.Message, lines[d.Span.Start.Line-5])
			}
			wrong[d.Span.Start.Line-5] = true
		}
		var left []string
		for i, text := range texts {
			if !wrong[i] {
				left = append(left, text)
			}
		}
		texts = left
	}
}

// oracle evaluates the text of a rule, without a conversion. Undecided values are nil.
type oracle map[string]any

var defaults = map[string]any{"Port": 3.0, "Scheme": "tcp", "Color": "red", "Fast": true, "Part.Label": "ab", "Part.Inner.Label": "ab"}

// find returns a property, nil if it or an object around it is absent, and unknown.
func (o oracle) find(path string) (value any, below bool) {
	value = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		if object["$unknown"] != nil || value == nil {
			return value, true
		}
		value = object[strings.ToLower(name)]
		if secret, ok := value.(map[string]any); ok && secret["$secret"] != nil {
			value = secret["$secret"]
		}
	}
	return value, false
}

func isUnknown(value any) bool {
	object, ok := value.(map[string]any)
	return ok && object["$unknown"] != nil
}

func (o oracle) eval(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return o.eval(e.X)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return s
		}
		if n, err := strconv.ParseInt(e.Value, 0, 64); err == nil {
			return float64(n)
		}
		n, _ := strconv.ParseFloat(e.Value, 64)
		return n
	case *ast.Ident, *ast.SelectorExpr:
		path := pathOf(e)
		constants := map[string]any{"true": true, "false": false, "Limit": 3.0, "Red": "red", "Blue": "blue"}
		if value, ok := constants[path]; ok {
			return value
		}
		value, below := o.find(path)
		if value == nil && !below {
			return defaults[path]
		}
		if isUnknown(value) {
			return nil
		}
		return value
	case *ast.CallExpr:
		if e.Fun.(*ast.Ident).Name == "has" {
			path := pathOf(e.Args[0])
			if defaults[path] != nil || strings.HasSuffix(path, "Must") { // always present
				outer, isPart := strings.CutSuffix(path, "."+path[strings.LastIndex(path, ".")+1:])
				if !isPart {
					return true
				}
				path = outer
			}
			value, below := o.find(path)
			if below && isUnknown(value) {
				return nil
			}
			return value != nil
		}
		switch value := o.eval(e.Args[0]).(type) {
		case string:
			return float64(utf8.RuneCountInString(value))
		case []any:
			return float64(len(value))
		case map[string]any:
			count := 0.0
			for _, entry := range value {
				if entry != nil {
					count++
				}
			}
			return count
		}
		return nil
	case *ast.UnaryExpr:
		switch x := o.eval(e.X).(type) {
		case bool:
			return !x
		case float64:
			return -x
		}
		return nil
	}
	b := e.(*ast.BinaryExpr)
	x, y := o.eval(b.X), o.eval(b.Y)
	switch {
	case b.Op == token.LAND && (x == false || y == false):
		return false
	case b.Op == token.LOR && (x == true || y == true):
		return true
	case x == nil || y == nil:
		return nil
	}
	m, _ := x.(float64)
	n, _ := y.(float64)
	switch b.Op {
	case token.LAND:
		return true
	case token.LOR:
		return false
	case token.EQL:
		return x == y
	case token.NEQ:
		return x != y
	case token.LSS:
		return m < n
	case token.LEQ:
		return m <= n
	case token.GTR:
		return m > n
	case token.GEQ:
		return m >= n
	case token.ADD:
		return m + n
	case token.SUB:
		return m - n
	}
	return m * n
}

func pathOf(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return pathOf(s.X) + "." + s.Sel.Name
	}
	return e.(*ast.Ident).Name
}

// thing is the object of the rules.
type thing struct{ rules *lumi.RuleSet }

func (s *thing) Lumi(p *lumi.Props) {
	p.Rules(s.rules)
	lumi.Optional(p, "size", new(*float64), lumi.Number)
	lumi.Optional(p, "port", new(*int), lumi.With(lumi.Int, lumi.Default(3)))
	lumi.Required(p, "must", new(float64), lumi.Number)
	lumi.Optional(p, "label", new(*string), lumi.String)
	lumi.Optional(p, "scheme", new(*string), lumi.With(lumi.String, lumi.Default("tcp")))
	lumi.Optional(p, "color", new(*string), lumi.With(lumi.String, lumi.Default("red")))
	lumi.Optional(p, "public", new(*bool), lumi.Bool)
	lumi.Optional(p, "fast", new(*bool), lumi.With(lumi.Bool, lumi.Default(true)))
	lumi.Nilable(p, "zones", new([]string), lumi.List(lumi.String))
	lumi.Nilable(p, "tags", new(map[string]string), lumi.Map(lumi.String))
	lumi.Optional(p, "part", new(*part), lumi.Struct[*part]())
}

type part struct{}

func (s *part) Lumi(p *lumi.Props) {
	lumi.Optional(p, "size", new(*float64), lumi.Number)
	lumi.Optional(p, "label", new(*string), lumi.With(lumi.String, lumi.Default("ab")))
	lumi.Required(p, "must", new(bool), lumi.Bool)
	lumi.Optional(p, "inner", new(*part), lumi.Struct[*part]())
}

type things struct{ lumi.NamingOps[*thing] }

// wire converts a value from JSON.
func wire(value any) *structpb.Value {
	switch value := value.(type) {
	case map[string]any:
		if value["$unknown"] != nil {
			return lumi.NewUnknown()
		}
		if inner := value["$secret"]; inner != nil {
			return lumi.NewSecret(wire(inner))
		}
		fields := map[string]*structpb.Value{}
		for name, part := range value {
			fields[name] = wire(part)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	case []any:
		list := &structpb.ListValue{}
		for _, element := range value {
			list.Values = append(list.Values, wire(element))
		}
		return structpb.NewListValue(list)
	}
	v, err := structpb.NewValue(value)
	if err != nil {
		panic(err)
	}
	return v
}

// judge prints the numbers of the rules that each value breaks.
const judge = `
import { readFileSync } from "node:fs";
import * as lumi from "./dist/index.js";
class Thing extends lumi.Resource {
    constructor(args, shape) { super("test:index:Thing", args, shape); }
}
const { unknown } = new Thing({}, { unknown: lumi.out(lumi.any) });
const { rules, values } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { optional, number, string, boolean, required } = lumi;
const part = { size: optional(number), label: optional(string), must: required(boolean), inner: optional(lumi.struct(() => part)) };
const shape = lumi.ruled({
    size: optional(number), port: optional(lumi.integer), must: required(number), label: optional(string), scheme: optional(string),
    color: optional(lumi.enum(() => ({ Red: "red", Blue: "blue" }))), public: optional(boolean), fast: optional(boolean),
    zones: optional(lumi.list(string)), tags: optional(lumi.map(string)), part: optional(lumi.struct(() => part)),
}, ...rules);
function valueOf(form) {
    if (Array.isArray(form)) { return form.map(valueOf); }
    if (typeof form !== "object" || form === null) { return form; }
    if (form.$unknown) { return unknown; }
    if ("$secret" in form) { return lumi.secret(valueOf(form.$secret)); }
    return Object.fromEntries(Object.entries(form).map(([name, part]) => [name, valueOf(part)]));
}
function verdicts(value) {
    try {
        new Thing(valueOf(value), shape);
    } catch (error) {
        return error.faults.map(({ path, message }) => (path === "" ? message : path + ": " + message));
    }
    return [];
}
console.log(JSON.stringify(values.map(verdicts)));
`

// TestRandom compares the verdicts of providers, of programs, and of a naive evaluation of the IDL for random rules.
func TestRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	var texts []string
	for range 1500 {
		texts = append(texts, randomRule(r))
	}
	texts, rules := compileRules(t, texts)
	if len(texts) < 1000 || len(texts) != len(rules) {
		t.Fatalf("%d rules of %d texts", len(rules), len(texts))
	}
	texts, rules = texts[:1000], rules[:1000]
	var values []map[string]any
	for range 20 {
		values = append(values, randomValue(r))
	}
	forms := make([][]any, len(rules))
	for i, rule := range rules {
		forms[i] = []any{rule.Message, rule.Expr}
	}
	dir := node.Package(t, must.Get(filepath.Abs("../.."))(t))
	script, input := filepath.Join(dir, "judge.js"), filepath.Join(dir, "rules.json")
	must.Do(t, os.WriteFile(script, []byte(judge), 0o600),
		os.WriteFile(input, must.Get(json.Marshal(map[string]any{"rules": forms, "values": values}))(t), 0o600))
	var programs [][]string
	must.Do(t, json.Unmarshal([]byte(node.Run(t, dir, "node", script, input)), &programs))
	fails := 0
	for i, value := range values {
		for first := 0; first < len(rules); first += 50 { // a walk reports at most 100 errors
			var pairs, want []string
			for j, rule := range rules[first : first+50] {
				pairs = append(pairs, rule.Message, rule.JSON())
				if expr := must.Get(parser.ParseExpr(texts[first+j]))(t); oracle(value).eval(expr) == false {
					want = append(want, rule.Message)
				}
			}
			got := slices.DeleteFunc(slices.Clone(programs[i]), func(message string) bool { return !slices.Contains(pairs, message) })
			set := lumi.Rules(pairs...)
			p := lumi.NewProvider("test:index:Thing", func() *thing { return &thing{set} }, lumi.NamingOps[*thing](things{}))
			var invalid *lumi.InvalidError
			var provider []string
			if err := p.Validate(context.Background(), lumi.BagOf(wire(value).GetStructValue())); errors.As(err, &invalid) {
				for _, fault := range invalid.Faults {
					provider = append(provider, fault.Error())
				}
			}
			if !slices.Equal(provider, want) || !slices.Equal(got, want) {
				for j := first; j < first+50; j++ {
					m := rules[j].Message
					if a, b, c := slices.Contains(want, m), slices.Contains(provider, m), slices.Contains(got, m); a != b || a != c {
						t.Errorf("%s = %s of %s fails: %v; for a provider: %v; in a program: %v", texts[j], rules[j].JSON(), must.Get(json.Marshal(value))(t), a, b, c)
					}
				}
				t.Fatalf("value %d: provider %q, program %q, want %q", i, provider, got, want)
			}
			fails += len(want)
		}
	}
	if fails < 2000 || fails > 18000 {
		t.Errorf("%d verdicts of 20,000 are failures", fails)
	}
}
