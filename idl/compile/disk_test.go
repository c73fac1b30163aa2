package compile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// newModule writes a module named example.com/shop that can import the marker package of this checkout. It returns the
// folder of the module. The keys of files are slash-separated paths; a go.mod among them replaces the default one.
func newModule(t testing.TB, files map[string]string) string {
	t.Helper()
	temp := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	checkout := must.Get(filepath.Abs("../.."))(t)
	dir := filepath.Join(temp, "shop")
	write(t, dir, "go.mod", fmt.Sprintf(`module example.com/shop

go 1.26.0

require github.com/lumi-idl/lumi v0.0.0

replace github.com/lumi-idl/lumi => %s
`, checkout))
	for name, content := range files {
		write(t, dir, name, strings.ReplaceAll(content, "$LUMI", checkout))
	}
	return dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(content), 0o644))
}

// load calls [compile.Load] and checks that it returns exactly one of a model, diagnostics with errors, and an error.
func load(t testing.TB, opts compile.Options) (*schema.Package, []diag.Diagnostic, error) {
	t.Helper()
	pkg, diags, err := compile.Load(context.Background(), opts)
	switch {
	case err != nil && (pkg != nil || len(diags) > 0):
		t.Errorf("Load returned a model or diagnostics together with the error %v", err)
	case err == nil && (pkg == nil) != (diag.Errors(diags) > 0):
		t.Errorf("Load returned %d error diagnostics, model = %t, want exactly one of them", diag.Errors(diags), pkg != nil)
	}
	return pkg, diags, err
}
