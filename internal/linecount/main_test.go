package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestGoLines(t *testing.T) {
	const src = `// Package x is documented.
package x

/* A block
   of two lines. */
var a = 1 /* and code */ + 2

const text = ` + "`one\n\n// two`" + `

func f() { // a comment
	// nothing

}
`
	if n, err := goLines("x.go", []byte(src)); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := goLines("x.go", []byte("package x\nvar a = \"\n")); err == nil || err.Error() != "x.go:2:9: string literal not terminated" {
		t.Errorf("got %v", err)
	}
}

func TestTSLines(t *testing.T) {
	for src, want := range map[string]int{
		"":                               0,
		"// a\n\n  // b\nconst a = 1;\n": 1,
		"/** one line */\na();\n":        1,
		"/**\n * many\n\n * lines\n */\na();\nb(": 2,
	} {
		if n, err := tsLines("x.ts", []byte(src)); n != want || err != nil {
			t.Errorf("%q: got %d, %v", src, n, err)
		}
	}
	for src, want := range map[string]string{
		"a();\n/* b */ c();\n": "x.ts:2: there is code behind a comment",
		"/*\n":                 "x.ts: a comment has no end",
	} {
		if _, err := tsLines("x.ts", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

// example has a resource with a provider, one without, and what they share.
func example() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, lines := range map[string]int{
		"idl/net/thing.go": 3, "idl/net/thing_rule.go": 2, "idl/shared.go": 1,
		"provider/net/thing.go": 30, "provider/net/thing_rules.go": 5, "provider/net/thing_rule_order.go": 4,
		"provider/net/thing_test.go": 50, "provider/net/help.go": 6, "provider/internal/netserver/main.go": 70,
		"provider/shared_stub.go": 8, "provider/main.go": 9,
	} {
		fsys[name] = &fstest.MapFile{Data: []byte("package x\n" + strings.Repeat("var _ = 0\n", lines-1))}
	}
	for _, name := range []string{"thing", "thing_rule"} {
		fsys["provider/net/"+name+"_stub.go"] = &fstest.MapFile{Data: []byte("package x\n\ntype TProviderOps interface {\n}\n")}
	}
	fsys["pack/net/thing.ts"] = &fstest.MapFile{Data: []byte("a();\nb();\n")}
	fsys["pack/node_modules/net/thing.ts"] = &fstest.MapFile{Data: []byte("a();\n")}
	return fsys
}

func TestSurvey(t *testing.T) {
	runtime := fstest.MapFS{
		"props.go":             {Data: []byte("package lumi\n\nvar a = 1\n")},
		"props_test.go":        {Data: []byte("package lumi\n")},
		"lumirpc/x.pb.go":      {Data: []byte("package lumirpc\n")},
		"serve/plugin/p.go":    {Data: []byte("package plugin\n")},
		"providertest/test.go": {Data: []byte("package providertest\n")},
	}
	got, err := survey(example(), runtime)
	if err != nil {
		t.Fatal(err)
	}
	text := page(got)
	for _, line := range []string{
		"| `net/thing` | 3 | 35 | 3 | 2 | 88 % |",
		"| `net/thing_rule` | 2 | 4 | 3 | 0 | 67 % |",
		"| all of these | 5 | 39 | 6 | 2 | 85 % |",
		"| IDL files without resources | 1 |", "| their stubs | 8 |",
		"| by hand in `provider` | 9 |", "| by hand in `provider/net` | 6 |",
		"| the provider's tests, and the servers that they need | 120 |",
		"| the Go runtime in a plugin, for all providers | 2 |",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the page lacks %q:\n%s", line, text)
		}
	}
}

func TestSurveyFails(t *testing.T) {
	broken := example()
	broken["provider/net/bad.go"] = &fstest.MapFile{Data: []byte("package x\nvar a = '\n")}
	const want = "cannot count lines: provider/net/bad.go:2:9: rune literal not terminated"
	if _, err := survey(broken, fstest.MapFS{}); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
