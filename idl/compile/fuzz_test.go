package compile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	expression "github.com/lumi-idl/lumi/internal/rule"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// FuzzCompile checks that arbitrary text never makes the checker panic. Rejected sources have diagnostics with
// positions and messages; accepted sources have no errors.
func FuzzCompile(f *testing.F) {
	for _, src := range fuzzSeeds(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		pkg, diags, err := compile.CompileSource(src)
		if err != nil {
			t.Fatalf("CompileSource: %v", err)
		}
		if (pkg == nil) != (diag.Errors(diags) > 0) {
			t.Fatalf("CompileSource = package %v and %d errors, want exactly one of them", pkg, diag.Errors(diags))
		}
		for _, d := range diags {
			if d.Message == "" || d.Span.Start.File == "" || d.Span.Start.Line == 0 {
				t.Errorf("CompileSource: diagnostic without position or message: %+v", d)
			}
		}
	})
}

// FuzzRule compiles rules with arbitrary text. The expression of an accepted rule must be valid.
func FuzzRule(f *testing.F) {
	for _, text := range []string{
		`rule !A && (B <= -1.5 || has(C.B)) // m`, `rule len(S) + 0x1p-2*B != C.B == A // "m`, `rule E == "x" && E != Y // m`, `rule S[0].f(func() {}) / 2 //`,
		"rule " + strings.Repeat("!", 100) + "A // m", "rule " + strings.Repeat("(", 1e6) + " // m", "rule A" + strings.Repeat("||A", 1000) + " // m", `rules A // m`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\n\r\x00\ufeff") || !utf8.ValidString(text) {
			return // other comments, or rejected by Go
		}
		pkg, diags, err := compile.CompileSource("package shop\n\n//lumi:" + text + `
type T struct {
	A bool
	B float64
	C *T     ` + "`lumi:\"optional\"`" + `
	S string
	E Enum
}

type Enum string

const (
	X Enum = "x"
	Y Enum = "y"
)
`)
		if err != nil || (pkg == nil) != (diag.Errors(diags) > 0) {
			t.Fatalf("%v, package %v, %v", err, pkg, diags)
		}
		for _, d := range diags {
			if d.Span.Start.Line != 3 || d.Span.End.Column > len("//lumi:")+len(text)+1 || d.Span.Start.Column > d.Span.End.Column {
				t.Errorf("invalid position: %+v", d)
			}
		}
		if pkg == nil {
			return
		}
		for _, r := range schema.Rules(pkg.Modules[0].Files[0].Decls[0]) {
			if _, err := expression.Parse(r.JSON()); err != nil {
				t.Errorf("%s: %v", r.JSON(), err)
			}
		}
	})
}

// fuzzSeeds returns the source files of the example and the examples in the catalog.
func fuzzSeeds(f *testing.F) []string {
	f.Helper()
	var seeds []string
	for _, pattern := range []string{"../../examples/aws/idl/*.go", "../../examples/aws/idl/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("Glob(%s) found no seeds, error %v", pattern, err)
		}
		for _, file := range files {
			src := must.Get(os.ReadFile(file))(f)
			seeds = append(seeds, string(src))
		}
	}
	for _, e := range diag.Catalog() {
		for _, fence := range strings.Split(e.Text, "```go")[1:] {
			_, src, _ := strings.Cut(fence, "\n")
			src, _, _ = strings.Cut(src, "```")
			seeds = append(seeds, src)
		}
	}
	return seeds
}
