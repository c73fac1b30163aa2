// Package gostubs generates the Go half of a resource package: for every IDL file, a file of stubs that use the
// runtime.
//
// A stub contains only code that differs by type: structs with a method that lists their properties; property names;
// enums and constants; and for every resource its token, the interface TProviderOps for the provider's author, and
// TProvider, which turns an implementation of it into a lumi.ResourceProvider.
package gostubs

import (
	"path"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Options configures [Generate].
type Options struct {
	// ImportPath is the import path of the output's root, below which stubs of different modules import each other.
	ImportPath string
	// Digests is the result of [schema.Package.Digests], or nil if the files' inputs are not needed.
	Digests schema.Digests
}

// Generate returns the stubs of a package, one per IDL file, in model order. Rendering fails only if a module uses an
// unexported type of another one.
func Generate(pkg *schema.Package, opts Options) []gen.File {
	var files []gen.File
	for _, m := range pkg.Modules {
		scope := newScope(m, opts)
		for _, f := range m.Files {
			name := strings.TrimSuffix(f.Name, ".go") + "_stub.go"
			file := gen.File{Path: path.Join(m.Path, name), Render: func() ([]byte, error) { return emit(f, scope) }}
			if digest, ok := opts.Digests[f]; ok {
				file.Input = scope.input(digest)
			}
			files = append(files, file)
		}
	}
	return files
}
