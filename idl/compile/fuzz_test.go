package compile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
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
