// Package gostubs generates the Go half of a resource package: one stub file for each IDL file, and the package
// [schema.GoSchema] with the model for adapters to other engines.
//
// A stub contains only code that depends on the types: structs with a method that describes their properties to the
// runtime, property names, enums, and constants. For each resource, it also contains the type token, the interface
// TProviderOps, which provider authors implement, and TProvider, which wraps an implementation as a
// lumi.ResourceProvider. For each function, it contains the token and FFunc, the type of the author's code.
package gostubs

import (
	"path"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Options configures [Generate].
type Options struct {
	// ImportPath is the import path of the output folder. Stubs of different modules import each other below this path.
	ImportPath string
	// Digests is the result of [schema.Package.Digests]. If it is nil, the files have no Input.
	Digests schema.Digests
}

// Generate returns one stub file per IDL file, in the order of the model, and the file with the schema. Rendering a stub
// fails only if its module uses an unexported type of another module.
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
	return append(files, schemaFile(pkg, opts.Digests))
}
