// Package gostubs generates the Go half of a resource package: for every file of the IDL, a file of stubs that link
// against the runtime.
//
// A stub holds what differs by type and nothing else: structs, with one method each that walks their properties; the
// names of these; enums and constants; and for every resource its token, the interface TProviderOps that the author of
// the provider implements, and TProvider, which makes a lumi.ResourceProvider of that.
package gostubs

import (
	"slices"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Options say how stubs fit in where they are written to.
type Options struct {
	// ImportPath is the import path of the output's root. Stubs of different modules import each other below it.
	ImportPath string
}

// Generate returns the stubs of a package, one for each file of the IDL, in the order of the model. The only error is
// that a type which another module's Go code cannot name is used there.
func Generate(pkg *schema.Package, opts Options) ([]gen.File, error) {
	scopes := map[*schema.Module]*scope{}
	for _, m := range pkg.Modules {
		scopes[m] = newScope(m, opts)
	}
	sources := slices.Collect(pkg.Files())
	files := make([]gen.File, len(sources))
	err := gen.Parallel(len(files), func(i int) (err error) {
		files[i], err = emit(sources[i], scopes[sources[i].Module])
		return err
	})
	if err != nil {
		return nil, err
	}
	return files, nil
}
