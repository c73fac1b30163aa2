package compile_test

import (
	"bytes"
	"go/ast"
	gofmt "go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/internal/nodetest"
	"github.com/lumi-idl/lumi/internal/randidl"
)

// TestAcceptedIsAccepted holds that whatever the compiler accepts is accepted by the compilers behind it.
func TestAcceptedIsAccepted(t *testing.T) {
	var modules []string
	accepted := 0
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "package.json"), `{"type": "module"}`)
	rapid.Check(t, func(t *rapid.T) {
		files := generate(t, randidl.Source(t))
		for _, f := range files.stubs {
			judgeGo(t, f)
		}
		for _, f := range files.modules {
			name := filepath.Join(root, strconv.Itoa(accepted), filepath.FromSlash(f.Path))
			writeFile(t, name, string(f.Content))
			modules = append(modules, name)
		}
		accepted++
	})
	if len(modules) == 0 {
		t.Fatal("nothing was accepted")
	}
	nodetest.TypeCheck(t, "../..", modules)
}

// FuzzAccepted is TestAcceptedIsAccepted for Go alone, driven by coverage.
func FuzzAccepted(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		for _, stub := range generate(t, randidl.Source(t)).stubs {
			judgeGo(t, stub)
		}
	}))
}

type output struct{ modules, stubs []gen.File }

// generate compiles a source and generates all output, or gives up if the source is refused.
func generate(t *rapid.T, src string) output {
	pkg, diags, err := compile.CompileSource(src)
	if err != nil {
		t.Fatal(err)
	}
	if pkg == nil {
		t.Skip(diags)
	}
	t.Logf("%s", src)
	modules, _, err := typescript.Generate(pkg, typescript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stubs, err := gostubs.Generate(pkg, gostubs.Options{ImportPath: "example.com/shop/provider"})
	if err != nil {
		t.Fatal(err)
	}
	var o output
	for _, f := range modules {
		if !f.Scaffold {
			o.modules = append(o.modules, f)
		}
	}
	o.stubs = stubs
	return o
}

// judgeGo holds that a stub is formatted and that it compiles.
func judgeGo(t *rapid.T, f gen.File) {
	formatted, err := gofmt.Source(f.Content)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Content)
	}
	if !bytes.Equal(formatted, f.Content) {
		t.Fatalf("not formatted:\n%s", f.Content)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.Path, f.Content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imports, err := stubImports()
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: imports}
	if _, err := conf.Check("example.com/shop/provider", fset, []*ast.File{file}, nil); err != nil {
		t.Fatalf("%v\n%s", err, f.Content)
	}
}

// stubImports finds what stubs import, checked once.
var stubImports = sync.OnceValues(func() (types.Importer, error) {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
	}
	pkgs, err := packages.Load(cfg, "github.com/lumi-idl/lumi/runtime/...", "context")
	if err != nil {
		return nil, err
	}
	found := packageMap{}
	for _, pkg := range pkgs {
		found[pkg.PkgPath] = pkg.Types
	}
	return found, nil
})

type packageMap map[string]*types.Package

func (m packageMap) Import(path string) (*types.Package, error) {
	if pkg := m[path]; pkg != nil {
		return pkg, nil
	}
	return importer.Default().Import(path)
}

func writeFile(t interface{ Fatal(...any) }, name, content string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
