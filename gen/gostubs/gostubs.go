// Package gostubs generates the Go half of a resource package: for every file of the IDL, a file of stubs that link
// against the runtime.
//
// A stub holds what differs by type and nothing else: structs, with one method each that walks their properties; the
// names of these; enums and constants; and for every resource its token, the interface TProviderOps that the author of
// the provider implements, and TProvider, which makes a lumi.ResourceProvider of that.
package gostubs

import (
	"path"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Options say how stubs fit in where they are written to.
type Options struct {
	// ImportPath is the import path of the output's root. Stubs of different modules import each other below it.
	ImportPath string
	// Digests are what [schema.Package.Digests] returned, or nil if nobody needs the files' inputs.
	Digests schema.Digests
}

// Generate returns the stubs of a package, one for each file of the IDL, in the order of the model. The only error of
// rendering is that a type which another module's Go code cannot name is used there.
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
