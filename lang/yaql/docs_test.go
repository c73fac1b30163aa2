package yaql

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "update docs/yaql.md")

const page = "../../docs/yaql.md"

// TestPage compares the generated sections of docs/yaql.md with the functions and error kinds, and its Go code with the
// examples of this package. With -update, it writes the sections.
func TestPage(t *testing.T) {
	text := string(must.Get(os.ReadFile(page))(t))
	for name, section := range map[string]string{"kinds": kindsTable(t), "functions": functionReference()} {
		begin, end := "<!-- "+name+", written by go test ./lang/yaql -run TestPage -update -->\n", "\n<!-- end -->\n"
		before, rest, ok := strings.Cut(text, begin)
		old, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("docs/yaql.md has no markers for section %s", name)
		}
		if old != section && !*update {
			t.Errorf("section %s of docs/yaql.md is out of date; run 'go test ./lang/yaql -run TestPage -update'", name)
		}
		text = before + begin + section + end + after
	}
	if *update {
		must.Do(t, os.WriteFile(page, []byte(text), 0o644))
	}
	examples := must.Get(os.ReadFile("example_test.go"))(t)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1)
	for _, block := range blocks {
		if !strings.Contains(strings.ReplaceAll(string(examples), "\n\t", "\n"), block[1]) {
			t.Errorf("docs/yaql.md contains code that is not in example_test.go:\n%s", block[1])
		}
	}
	if len(blocks) == 0 {
		t.Error("docs/yaql.md contains no Go code")
	}
}

func TestPageOptions(t *testing.T) {
	content := must.Get(os.ReadFile(page))(t)
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([\\d,]+|true|false) \\|").FindAllStringSubmatch(string(content), -1)
	var set Options
	for _, row := range rows {
		v, err := FromJSON([]byte(strings.ReplaceAll(row[2], ",", "")))
		if err == nil {
			err = set.Set(row[1], v)
		}
		if err != nil {
			t.Errorf("Set(%s): %v", row[0], err)
		}
	}
	if set != DefaultOptions() {
		t.Errorf("options in the table = %+v, want %+v", set, DefaultOptions())
	}
	if len(rows) != 9 {
		t.Errorf("the table has %d options, want 9", len(rows))
	}
}

// kindsTable returns a table of the error kinds and the corresponding exceptions of the reference.
func kindsTable(t *testing.T) string {
	source := must.Get(os.ReadFile("errors.go"))(t)
	exceptions := map[Kind][]string{}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if name != "Timeout" { // raised by testdata/reference.py
			exceptions[kinds[name]] = append(exceptions[kinds[name]], "`"+strings.Replace(name, "error", "re.error", 1)+"`")
		}
	}
	b := new(strings.Builder)
	b.WriteString("| kind | when | exceptions of the reference |\n|---|---|---|\n")
	for _, m := range regexp.MustCompile(`Kind = "([\w-]+)" +// (.*)`).FindAllStringSubmatch(string(source), -1) {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", m[1], m[2], strings.Join(exceptions[Kind(m[1])], ", "))
	}
	return b.String()
}

// functionReference returns the documentation of all functions, operators first. Overloads are grouped, and overloads
// with the same description are merged.
func functionReference() string {
	titles := map[bool][]string{}
	overloads := map[string][]*Function{}
	for _, f := range Standard(true).Functions() {
		title, operator := titleOf(f.Name)
		if overloads[title] == nil {
			titles[operator] = append(titles[operator], title)
		}
		overloads[title] = append(overloads[title], f)
	}
	b := new(strings.Builder)
	for _, operator := range []bool{true, false} {
		fmt.Fprintf(b, "\n### %s\n", map[bool]string{true: "Operators", false: "By name"}[operator])
		slices.Sort(titles[operator])
		for _, title := range titles[operator] {
			fmt.Fprintf(b, "\n#### %s\n", code(title))
			for rest := overloads[title]; len(rest) > 0; {
				n := slices.IndexFunc(rest, func(f *Function) bool { return f.Doc != rest[0].Doc })
				if n < 0 {
					n = len(rest)
				}
				describe(b, rest[:n])
				rest = rest[n:]
			}
		}
	}
	return b.String()
}

func describe(b *strings.Builder, same []*Function) {
	var signatures, examples []string
	for _, f := range same {
		signatures = append(signatures, "`"+usage(f)+"`")
		for _, e := range f.Examples {
			result := code(e.Result)
			if kind, failed := strings.CutPrefix(e.Result, "error: "); failed {
				result = "error " + code(kind)
			}
			example := fmt.Sprintf("- %s → %s\n", code(e.Expression), result)
			if !slices.Contains(examples, example) {
				examples = append(examples, example)
			}
		}
	}
	fmt.Fprintf(b, "\n%s\n\n%s\n", strings.Join(signatures, "\\\n"), same[0].Doc)
	if len(examples) > 0 {
		fmt.Fprintf(b, "\n%s", strings.Join(examples, ""))
	}
}

// titleOf returns the name of a function as shown to readers.
func titleOf(name string) (title string, operator bool) {
	if special := map[string]string{"#indexer": "x[]", "#list": "[…]", "#map": "{…}", "#call": "f(…) of a value", "*equal": "=", "*not_equal": "!="}[name]; special != "" {
		return special, true
	}
	for _, prefix := range []string{"#operator_", "#unary_operator_"} {
		if op, ok := strings.CutPrefix(name, prefix); ok {
			return op, true
		}
	}
	return name, strings.HasPrefix(name, "#")
}

func usage(f *Function) string {
	var params []string
	for i := range f.Params {
		params = append(params, declaration(&f.Params[i]))
	}
	if f.Rest != nil {
		params = append(params, "*"+declaration(f.Rest))
	}
	for i := range f.Keyword {
		params = append(params, declaration(&f.Keyword[i]))
	}
	if f.Others != nil {
		params = append(params, "**"+declaration(f.Others))
	}
	title, operator := titleOf(f.Name)
	all := strings.Join(params, ", ")
	switch {
	case f.Name == "#list":
		return "[" + all + "]"
	case f.Name == "#map":
		return "{" + all + "}"
	case f.Name == "#indexer":
		return "(" + params[0] + ")[" + strings.Join(params[1:], ", ") + "]"
	case f.Name == "#call":
		return "(" + params[0] + ")(" + strings.Join(params[1:], ", ") + ")"
	case strings.HasSuffix(title, ".") && len(params) == 2:
		return "(" + params[0] + ")" + title + "(" + params[1] + ")"
	case operator && len(params) == 2:
		return params[0] + " " + title + " " + params[1]
	case operator && len(params) == 1:
		return title + " " + params[0]
	case f.Method && len(f.Params) > 0:
		s := "(" + params[0] + ")." + title + "(" + strings.Join(params[1:], ", ") + ")"
		if f.Plain {
			s += "`\\\n`" + title + "(" + all + ")"
		}
		return s
	}
	return title + "(" + all + ")"
}

// declaration returns the declaration of a parameter in the syntax of [Func], but with spaces around the default.
func declaration(p *Param) string {
	s := p.Name + " " + p.typ.name
	if p.nullable && p.typ.passing == byValue && p.typ.accept&clNull == 0 {
		s += "?"
	}
	if !p.optional {
		return s
	}
	if _, none := p.value.(unset); none {
		return "[" + s + "]"
	}
	value, err := AppendJSON(nil, p.value)
	if err != nil {
		value = fmt.Append(nil, p.value)
	}
	return s + " = " + string(value)
}

// code formats text as inline code in Markdown.
func code(text string) string {
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}
