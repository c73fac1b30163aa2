package yaql

import (
	"errors"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// run evaluates an expression. It returns the value as JSON, or "error: " and the error kind.
func run(t *testing.T, source string, data any, options ...Option) string {
	t.Helper()
	x, err := Compile(source, options...)
	var v any
	if err == nil {
		v, err = x.Evaluate(t.Context(), data)
	}
	var text []byte
	if err == nil {
		text, err = AppendJSON(nil, v)
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return "error: " + string(e.Kind)
	case err != nil:
		t.Fatalf("error of %s = %v, want an *Error", source, err)
	}
	return string(text)
}

func TestExamples(t *testing.T) {
	shown := map[string]bool{}
	functions := Standard(true).Functions()
	for _, f := range functions {
		if f.Doc == "" {
			t.Errorf("function %s has no description", f.Name)
		}
		for _, e := range f.Examples {
			shown[f.Name] = true
			if got := run(t, e.Expression, nil, delegates); got != e.Result {
				t.Errorf("example of %s: %s = %s, want %s", f.Name, e.Expression, got, e.Result)
			}
		}
	}
	for _, f := range functions {
		if !shown[f.Name] {
			t.Errorf("function %s has no example", f.Name)
		}
	}
}

func delegates(o *Options) { o.Delegates = true }

// TestSpecificationExamples evaluates the expressions in the specification's section on YAQL.
func TestSpecificationExamples(t *testing.T) {
	data := []any{
		map[string]any{"myObj": map[string]any{"myScalar": 7, "myArray": []any{9, 4}}},
		map[string]any{"myObj": map[string]any{"myScalar": 5, "myArray": []any{4}}},
		map[string]any{"myObj": map[string]any{"myScalar": 8, "myArray": []any{1, 2}}},
	}
	for source, want := range map[string]string{
		"2 + 2": "4", "true != false": "true", "foo() > bar()": "error: unknown-function",
		"$.where($.myObj.myScalar > 5 and $.myObj.myArray.len() > 0 and $.myObj.myArray.any($ = 4)).select($.myObj.myArray[0])": "[9]",
	} {
		if got := run(t, source, data); got != want {
			t.Errorf("%s = %s, want %s", source, got, want)
		}
	}

	in := New(Standard(false))
	in.Register(
		Func("foo", "", func(*Call) (any, error) { return int64(3), nil }),
		Func("foo", "a int, b int", func(c *Call) (any, error) { return c.Invoke("#operator_*", c.Arg(0), c.Arg(1)) }),
		Func("bar", "", func(*Call) (any, error) { return int64(2), nil }),
	)
	in.Set("variable", "x")
	for source, want := range map[string]any{"foo() > bar()": true, "2 * foo(3, 4)": int64(24), "$variable": "x"} {
		x := must.Get(Compile(source))(t)
		if got, err := x.EvaluateIn(t.Context(), in); err != nil || got != want {
			t.Errorf("%s = %v, %v, want %v", source, got, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ source, want, snippet string }{
		{"1 +\n  foo.x()", "2:7: unknown method x of string", "  foo.x()\n      ^"},
		{"'é' + qqq(1) + len()", "1:7: unknown function qqq", "'é' + qqq(1) + len()\n      ^"},
		{"$.selectt($)", "1:3: unknown method selectt of null (did you mean select?)", "$.selectt($)\n  ^"},
		{"1.x", `1:2: integer has no property "x"`, "1.x\n ^"},
		{"f(1,)", `1:5: unexpected ")"`, "f(1,)\n    ^"},
		{"'a", "1:1: missing closing '", "'a\n^"},
		{"", "1:1: unexpected end of expression", "\n^"},
		{"12ab", `1:1: invalid number "12ab"`, "12ab\n^"},
		{`'\uD800'`, `1:2: invalid escape \u: it takes 4 hexadecimal digits of a Unicode character`, "'\\uD800'\n ^"},
		{"f(a => 1, 2)", "1:11: positional argument after a keyword argument", "f(a => 1, 2)\n          ^"},
		{"$f(1)", `1:3: unexpected "("`, "$f(1)\n  ^"},
		{"let(1 => 2)", "1:1: the key of a keyword argument must be a name", "let(1 => 2)\n^"},
		{"{1}", "1:1: no overload of dictionary {...} accepts (integer)", "{1}\n^"},
		{"{a => 1} > 2", "1:10: no overload of operator > accepts (dictionary, integer)", "{a => 1} > 2\n         ^"},
	} {
		x, err := Compile(c.source)
		if err == nil {
			_, err = x.Evaluate(t.Context(), nil)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("error of %s = %v, want an *Error", c.source, err)
			continue
		}
		if e.Error() != c.want || e.Snippet() != c.snippet {
			t.Errorf("error of %s =\n%s\n%s\nwant\n%s\n%s", c.source, e, e.Snippet(), c.want, c.snippet)
		}
	}
}

func TestUnsupported(t *testing.T) {
	for source, want := range map[string]string{
		"'{!a}'.format(1)":       `1:8: unknown or unsupported conversion "a"`,
		"'{:{}}'.format(1, 5)":   "1:9: unmatched {, or an invalid or nested field, in format",
		"'{:#.3g}'.format(1.5)":  `1:11: invalid or unsupported format "#.3g" for float`,
		"regex('(?x)a')":         "1:1: regular expression: unknown or unsupported flag x at 4",
		"regex('(a)?(?(1)b|c)')": "1:1: regular expression: unknown, unsupported or incomplete group at 6",
	} {
		if _, err := evaluate(t.Context(), source, DefaultOptions()); err == nil || err.Error() != want {
			t.Errorf("error of %s = %v, want %s", source, err, want)
		}
	}
}
