package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// notation formats a tree with the positions of expressions, as the Python half of [TestScalars] does.
func notation(n *muranopl.Node) string {
	var parts []string
	switch v := n.Value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", v)
	case muranopl.Expression:
		return "<" + strings.Join(strings.Fields(string(v)), " ") + ">"
	case []*muranopl.Node:
		for _, item := range v {
			parts = append(parts, notation(item))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case []muranopl.Entry:
		for _, e := range v {
			parts = append(parts, notation(e.Key)+": "+notation(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(n.Value)
}

const reference = `
import sys, json
from murano.common import config
from murano.engine import yaql_yaml_loader
def show(v):
    if type(v).__name__ == "YaqlExpression": return "<" + " ".join(str(v).split()) + ">"
    if isinstance(v, dict): return "{" + ", ".join(show(k) + ": " + show(x) for k, x in v.items()) + "}"
    if isinstance(v, list): return "[" + " ".join(map(show, v)) + "]"
    if isinstance(v, bool): return "true" if v else "false"
    if isinstance(v, float): return "%g" % v
    if isinstance(v, str): return json.dumps(v)
    return "null" if v is None else str(v)
for document in yaql_yaml_loader.get_loader("1.0")(sys.stdin.read(), "f"): print(show(document))
`

// TestScalars compares the decoding of scalars with the table and, if it is installed, with the reference.
func TestScalars(t *testing.T) {
	var src, want strings.Builder
	for _, row := range []struct{ yaml, want string }{
		{"text", `"text"`}, {"Some text", `"Some text"`}, {"1.2.3", `"1.2.3"`}, {"", "null"}, {"~", "null"}, {"nULL", `"nULL"`},
		{"$.something()", "<$.something()>"}, {`"$.something()"`, `"$.something()"`}, {"'$.x'", `"$.x"`},
		{"!!str $", `"$"`}, {`!yaql "text"`, "<text>"}, {"!yaql text", "<text>"}, {"! $.x", "<$.x>"},
		{"$", "<$>"}, {"1 + 1", "<1 + 1>"}, {"a-b", "<a-b>"}, {"std:Object", "<std:Object>"}, {":Object", "<:Object>"},
		{"hello, world", `"hello, world"`}, {"http://x.y/z", `"http://x.y/z"`}, {"foo => bar", `"foo => bar"`}, {"1 2", `"1 2"`},
		{"|\n    $.x", `"$.x\n"`}, {">-\n    $.x", `"$.x"`}, {"!yaql |\n    $.x +\n    $.y", "<$.x + $.y>"},
		{"$.x +\n    $.y", "<$.x + $.y>"}, {"'a\n    b'", `"a b"`}, {"$.x # comment", "<$.x>"},
		{"yes", "true"}, {"On", "true"}, {"TRUE", "true"}, {"off", "false"}, {"y", `"y"`}, {"tRue", `"tRue"`},
		{"12", "12"}, {"+12", "12"}, {"010", "8"}, {"08", `"08"`}, {"0o17", `"0o17"`}, {"1_000", "1000"}, {"0x1F", "31"}, {"0b11", "3"},
		{"12345678901234567890123", "12345678901234567890123"}, {`!!int "0x1F"`, "31"}, {"!!float 3", "3"}, {`!!bool "no"`, "false"},
		{"1.5", "1.5"}, {"1e3", `"1e3"`}, {"1.5e3", `"1.5e3"`}, {"1.5e+3", "1500"}, {"-.5", `"-.5"`}, {".5", "0.5"}, {"-0.25", "-0.25"}, {"1.", "1"},
		{"{$a: 1, yes: 2, 'b': $c}", `{<$a>: 1, true: 2, "b": <$c>}`}, {"{=: io.x}", `{"=": "io.x"}`},
		{"{<<: {a: 1, b: 2}, b: 3}", `{"a": 1, "b": 3}`},
	} {
		fmt.Fprintf(&src, "---\n- %s\n", row.yaml)
		fmt.Fprintf(&want, "[%s]\n", row.want)
	}
	documents := must.Get(Decode("f", []byte(src.String())))(t)
	var got strings.Builder
	for _, d := range documents {
		got.WriteString(notation(d) + "\n")
	}
	if got.String() != want.String() {
		t.Errorf("Decode =\n%s, want\n%s", &got, &want)
	}
	if exec.Command("/usr/bin/python3", "-c", "import murano.dsl").Run() != nil {
		t.Skip("python3-murano is not installed")
	}
	python := exec.Command("/usr/bin/python3", "-W", "ignore", "-c", reference)
	python.Stdin, python.Stderr = strings.NewReader(src.String()), os.Stderr
	out, err := python.Output()
	if err != nil || string(out) != want.String() {
		t.Errorf("the reference returned\n%s, want\n%s (error: %v)", out, &want, err)
	}
}

func TestTimestamps(t *testing.T) {
	documents := must.Get(Decode("f", []byte("[2001-12-14, 2001-12-14 10:00:00, 1:30, !!timestamp 2001-12-14, '1:30']")))(t)
	const want = `["2001-12-14" "2001-12-14 10:00:00" "1:30" "2001-12-14" "1:30"]`
	if got := notation(documents[0]); got != want {
		t.Errorf("Decode = %s, want %s", got, want)
	}
}

// TestPositions calls the unknown function here() in all kinds of scalars and checks the position of the error.
func TestPositions(t *testing.T) {
	for _, instruction := range []string{
		"!yaql here()", `!yaql "here()"`, "!yaql 'here()'", "!yaql    here()", "!yaql\n      'here()'",
		"&a list(here())", "!yaql &a list(here())", "$x: {ü: 'ü', y: here()}", "$x: here()", "!yaql $x:\n       here()",
		"list(1,\n        here())", "list(1,\n\n         'it', \"s\",\n     \t   here())", "list(1,\r\n        here())",
		"!yaql |\n        list(1,\n          here())", "!yaql >-\n\n        list(1, 2,\n        here())",
		"!yaql \"list(1,\n\n         here())\"", "!yaql 'list(1,\n         here())'", "Return: &a !yaql |+\n        here()",
	} {
		src := "Name: A\nMethods:\n  run:\n    Body:\n    - " + instruction + "\n"
		before, _, _ := strings.Cut(src, "here")
		want := fmt.Sprintf("A.yaml:%d:%d", strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndex(before, "\n")+1:]))+1)
		if _, err := run(t, src); err == nil || err.Pos.String() != want {
			t.Errorf("%s\nerror = %v, want one at %s", src, err, want)
		}
	}
}

func TestFoldedStrings(t *testing.T) {
	v, err := run(t, "Name: A\nMethods:\n  run:\n    Body:\n      Return: list('a\n        b', \"c\n\n        'd\")\n")
	if got, _ := yaql.AppendJSON(nil, v); err != nil || string(got) != `["a b", "c\n'd"]` {
		t.Errorf("result = %s, %v, want [\"a b\", \"c\\n'd\"]", got, err)
	}
}

// run calls method run of class A.
func run(t *testing.T, src string) (any, *muranopl.Error) {
	t.Helper()
	classes, errs := Folder("", fstest.MapFS{"A.yaml": {Data: []byte(src)}})
	if errs != nil {
		t.Fatal(src, errs)
	}
	in := muranopl.New(classes, muranopl.Options{})
	model := must.Get(Model("model", []byte(`{"?": {"type": "A"}}`)))(t)
	o := must.Get(in.Load(t.Context(), model))(t)
	v, err := in.Call(t.Context(), o, "run")
	wrong := new(muranopl.Error)
	if !errors.As(err, &wrong) {
		return v, nil
	}
	return nil, wrong
}

func FuzzDecode(f *testing.F) {
	for _, src := range []string{
		"a: 1\n---\nb: !yaql |\n  $.x\n", "&a [*a]", "- &a {x: 1}\n- <<: [*a, {y: 2}]", "!yaql", "? [a]\n: !yaql\n", "!yaql '", "\"\\ud800\"",
		"\xff", "a: !!int 0b\nb: 0x_\nc: 1_.e+1", "!yaql \"$.x +\n    y\"", "\ufeff!yaql $", "!yaql &a\r\r\u2028 $.x\u0085+ 1", "{\"a\": [1e3]}",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		defer func(start time.Time) {
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("Decode took %s, want at most 5s", d)
			}
		}(time.Now())
		lines := bytes.Count(src, []byte("\n")) + bytes.Count(src, []byte("\r")) + 2 // a value may be missing at the end
		documents, err := Decode("f", src)
		if errs := (Errors)(nil); errors.As(err, &errs) && errs[0].Pos.Line < 1 {
			t.Errorf("error %v has no position", errs[0])
		}
		var visit func(*muranopl.Node)
		visit = func(n *muranopl.Node) {
			if n.Pos.Line < 1 || n.Pos.Column < 1 || n.Pos.Line > lines+bytes.Count(src, []byte("\xe2\x80"))+bytes.Count(src, []byte("\xc2\x85")) {
				t.Errorf("position of %q = %s, want one in a text of %d lines", n.Value, n.Pos, lines)
			}
			switch v := n.Value.(type) {
			case []*muranopl.Node:
				for _, item := range v {
					visit(item)
				}
			case []muranopl.Entry:
				for _, e := range v {
					visit(e.Key)
					visit(e.Value)
				}
			}
		}
		for _, d := range documents {
			visit(d)
		}
		_, _ = Model("m", src)
	})
}
