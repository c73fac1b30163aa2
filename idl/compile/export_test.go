package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// CompileSource compiles an IDL consisting of one in-memory file. See [CompileSources].
func CompileSource(src string) (*schema.Package, []diag.Diagnostic, error) {
	return CompileSources(map[string]string{"source.go": src})
}

// CompileSources is [Load] for in-memory files, which are given by their slash-separated paths. It does not run the go
// command, which would dominate the running time of a fuzzer. Files can import only each other and the markers.
func CompileSources(files map[string]string) (*schema.Package, []diag.Diagnostic, error) {
	t := &tree{arg: "idl", root: "/shop/idl", files: slices.Sorted(maps.Keys(files))}
	m := &memory{checker: newChecker(t, Options{}), sources: files, pkgs: map[string]*packages.Package{}}
	m.pkg.Name = "shop"
	for _, file := range t.files {
		m.load(path.Dir(file))
	}
	return m.finish(m.list)
}

// memory compiles in-memory packages.
type memory struct {
	*checker
	sources map[string]string
	pkgs    map[string]*packages.Package // by folder path
	list    []*packages.Package
}

const memoryRoot = "example.com/shop/idl"

func (m *memory) load(dir string) *packages.Package {
	if pkg := m.pkgs[dir]; pkg != nil {
		return pkg
	}
	pkg := &packages.Package{
		PkgPath: path.Join(memoryRoot, dir), Fset: m.fset,
		TypesInfo: &types.Info{
			Types:  map[ast.Expr]types.TypeAndValue{},
			Defs:   map[*ast.Ident]types.Object{},
			Uses:   map[*ast.Ident]types.Object{},
			Scopes: map[ast.Node]*types.Scope{},
		},
	}
	m.pkgs[dir] = pkg
	for _, rel := range m.tree.files {
		if path.Dir(rel) != dir {
			continue
		}
		name := path.Join(m.tree.root, rel)
		file, err := m.parse(m.fset, name, []byte(m.sources[rel]))
		if err != nil {
			pkg.Errors = append(pkg.Errors, packages.Error{Pos: name + ":1:1", Msg: err.Error(), Kind: packages.ParseError})
		}
		pkg.Name = file.Name.Name
		pkg.GoFiles, pkg.Syntax = append(pkg.GoFiles, name), append(pkg.Syntax, file)
	}
	conf := types.Config{
		Importer: m,
		Error:    func(err error) { pkg.TypeErrors = append(pkg.TypeErrors, err.(types.Error)) },
	}
	pkg.Types, _ = conf.Check(pkg.PkgPath, m.fset, pkg.Syntax, pkg.TypesInfo)
	m.list = append(m.list, pkg)
	return pkg
}

// Import implements types.Importer.
func (m *memory) Import(importPath string) (*types.Package, error) {
	if importPath == ownMarkers {
		return markersPackage()
	}
	dir, inside := strings.CutPrefix(importPath, memoryRoot+"/")
	for _, file := range m.tree.files {
		if inside && path.Dir(file) == dir {
			if pkg := m.load(dir); pkg.Types != nil {
				return pkg.Types, nil
			}
		}
	}
	return nil, types.Error{Msg: "no package " + importPath}
}

var markersPackage = sync.OnceValues(func() (*types.Package, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "../idl.go", nil, 0)
	if err != nil {
		return nil, err
	}
	return new(types.Config).Check(ownMarkers, fset, []*ast.File{file}, nil)
})
