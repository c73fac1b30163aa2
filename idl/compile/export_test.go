package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// CompileSource compiles an IDL of one file that exists in memory only. It does what Load does, but for the go command,
// which would take a fuzzer most of its time; the only package that the file can import is the one of the markers.
func CompileSource(src string) (*schema.Package, []diag.Diagnostic, error) {
	const name = "/shop/idl/source.go"
	c := newChecker(&tree{arg: "idl", root: filepath.Dir(name), files: []string{"source.go"}}, "shop", Options{})
	pkg := &packages.Package{
		PkgPath: "example.com/shop/idl", GoFiles: []string{name}, Fset: c.fset,
		TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Defs:  map[*ast.Ident]types.Object{},
			Uses:  map[*ast.Ident]types.Object{},
		},
	}
	file, err := c.parse(c.fset, name, []byte(src))
	if err != nil {
		pkg.Errors = append(pkg.Errors, packages.Error{Pos: name + ":1:1", Msg: err.Error(), Kind: packages.ParseError})
	}
	pkg.Name = file.Name.Name
	pkg.Syntax = []*ast.File{file}
	conf := types.Config{
		Importer: markersOnly{},
		Error:    func(err error) { pkg.TypeErrors = append(pkg.TypeErrors, err.(types.Error)) },
	}
	pkg.Types, _ = conf.Check(pkg.PkgPath, c.fset, pkg.Syntax, pkg.TypesInfo)
	return c.finish([]*packages.Package{pkg})
}

type markersOnly struct{}

func (markersOnly) Import(path string) (*types.Package, error) {
	if path != ownMarkers {
		return nil, types.Error{Msg: "no package " + path}
	}
	return markersPackage()
}

var markersPackage = sync.OnceValues(func() (*types.Package, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "../idl.go", nil, 0)
	if err != nil {
		return nil, err
	}
	return new(types.Config).Check(ownMarkers, fset, []*ast.File{file}, nil)
})
