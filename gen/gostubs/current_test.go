package gostubs_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write the stubs of the test provider anew")

// The IDL of the test provider contains every kind of declaration, option, and type. Tests of the runtime use its
// stubs.
const (
	featureDir        = "../../test/testprovider"
	featureImportPath = "github.com/lumi-idl/lumi/test/testprovider"
)

func featureStubs(t *testing.T) []gen.File {
	t.Helper()
	pkg, diags, err := compile.Load(context.Background(), compile.Options{
		Dir: filepath.Join(featureDir, "idl"), Package: "feature",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Errorf("Load reported %s:%d: %s", d.Span.Start.File, d.Span.Start.Line, d.Message)
	}
	if pkg == nil {
		t.FailNow()
	}
	return must.Get(gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: featureImportPath})))(t)
}

func TestCurrent(t *testing.T) {
	for _, f := range featureStubs(t) {
		name := filepath.Join(featureDir, filepath.FromSlash(f.Path))
		if *update {
			write(t, name, f.Content)
		}
		found := must.Get(os.ReadFile(name))(t)
		if !bytes.Equal(found, f.Content) {
			t.Errorf("%s is stale; run go test ./gen/gostubs -run TestCurrent -update", name)
		}
	}
}
