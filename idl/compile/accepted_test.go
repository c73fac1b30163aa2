package compile_test

import (
	"bytes"
	"go/ast"
	gofmt "go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/test/kit/node"
	"github.com/lumi-idl/lumi/test/kit/randidl"
)

func TestGeneratedCodeCompiles(t *testing.T) {
	var modules []string
	accepted := 0
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "package.json"), `{"type": "module"}`)
	rapid.Check(t, func(t *rapid.T) {
		sources := map[string]string{"source.go": randidl.Source(t)}
		if rapid.Bool().Draw(t, "folders") {
			sources = randidl.Package(t)
		}
		files := generate(t, sources)
		checkGo(t, files.stubs)
		for _, f := range files.modules {
			name := filepath.Join(root, strconv.Itoa(accepted), filepath.FromSlash(f.Path))
			writeFile(t, name, string(f.Content))
			modules = append(modules, name)
		}
		accepted++
	})
	if len(modules) == 0 {
		t.Fatal("no random IDL compiled, want some")
	}
	node.TypeCheck(t, "../..", modules)
}

// Unicode treats U+2028 as white space, but gofmt does not.
func TestStubFormattedLineSeparator(t *testing.T) {
	source := strings.Join([]string{
		"// Package shop sells.",
		"package shop",
		"",
		`import "github.com/lumi-idl/lumi/idl"`,
		"",
		"// VPC is documented.",
		"type VPC struct {",
		"\tidl.NamedResource",
		"\tBar *VPC `lumi:\"secret,in,replaces,name=x,optional\"` // \u2028",
		"}",
		"",
	}, "\n")
	checkGo(t, generate(t, map[string]string{"source.go": source}).stubs)
}

// FuzzAccepted is a coverage-guided version of [TestGeneratedCodeCompiles] for Go code only.
func FuzzAccepted(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		checkGo(t, generate(t, map[string]string{"source.go": randidl.Source(t)}).stubs)
	}))
}

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Logf(format string, args ...any)
	Skip(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

type output struct{ modules, stubs []gen.File }

// generate compiles sources and generates all output. It skips the test if the sources are rejected.
func generate(t tester, sources map[string]string) output {
	pkg, diags, err := compile.CompileSources(sources)
	if err != nil {
		t.Fatal(err)
	}
	if pkg == nil {
		t.Skip(diags)
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		t.Logf("%s:\n%s", name, sources[name])
	}
	modules, _, err := typescript.Generate(pkg, typescript.Options{})
	if err == nil {
		modules, err = gen.Rendered(modules)
	}
	if err != nil {
		t.Fatal(err)
	}
	stubs, err := gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: stubRoot}))
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

// stubRoot is the import path of the generated stubs.
const stubRoot = "example.com/shop/provider"

// checkGo checks that stubs are formatted and pass the type checker.
func checkGo(t tester, stubs []gen.File) {
	imports, err := stubImports()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	c := &stubChecker{fset: fset, others: imports, folders: map[string][]*ast.File{}, done: packageMap{}}
	for _, f := range stubs {
		formatted, err := gofmt.Source(f.Content)
		if err != nil {
			t.Fatalf("gofmt of %s: %v\n%s", f.Path, err, f.Content)
		}
		if !bytes.Equal(formatted, f.Content) {
			t.Fatalf("%s is not gofmted:\n%s", f.Path, f.Content)
		}
		file, err := parser.ParseFile(fset, f.Path, f.Content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Join(stubRoot, path.Dir(f.Path))
		c.folders[folder] = append(c.folders[folder], file)
	}
	for folder := range c.folders {
		if _, err := c.Import(folder); err != nil {
			t.Fatal(err)
		}
	}
}

// stubChecker type-checks folders of stubs in import order.
type stubChecker struct {
	fset    *token.FileSet
	others  types.Importer
	folders map[string][]*ast.File
	done    packageMap
}

// Import implements types.Importer.
func (c *stubChecker) Import(importPath string) (*types.Package, error) {
	files, ours := c.folders[importPath]
	switch {
	case !ours:
		return c.others.Import(importPath)
	case c.done[importPath] != nil:
		return c.done[importPath], nil
	}
	pkg, err := (&types.Config{Importer: c}).Check(importPath, c.fset, files, nil)
	c.done[importPath] = pkg
	return pkg, err
}

// stubImports returns an importer for the packages that stubs import, which are type-checked only once.
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
