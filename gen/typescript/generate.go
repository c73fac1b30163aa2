// Package typescript generates a TypeScript package from the checked model: one module per IDL file, one barrel per
// folder, and package.json and tsconfig.json files if they are missing.
//
// Generated code is ESM and imports the npm package @lumi/lumi, whose source is in runtime/typescript. It does not
// refer to any global TypeScript name, since an IDL may declare a type called Record or Array. Internal names contain a
// dollar sign, which is invalid in IDL names.
package typescript

import (
	"io/fs"
	"path"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Options configures [Generate].
type Options struct {
	// Existing contains the files in the output folder; nil means that the folder is empty. Barrels also export
	// hand-written files. A hand-written index.ts replaces the generated one.
	Existing fs.FS
	// Digests is the result of [schema.Package.Digests]. If it is nil, the files have no Input.
	Digests schema.Digests
}

// Generate returns the files of the package, sorted by folder, and warnings about existing files. It returns an error
// only if Options.Existing cannot be read.
func Generate(pkg *schema.Package, opts Options) ([]gen.File, []string, error) {
	var files []gen.File
	for src := range pkg.Files() {
		files = append(files, gen.File{
			Path: outputPath(src), Input: opts.Digests[src],
			Render: func() ([]byte, error) { return render(pkg, src), nil },
		})
	}
	if opts.Existing == nil {
		opts.Existing = nothing{}
	}
	barrels, err := barrels(pkg, opts.Existing)
	if err != nil {
		return nil, nil, err
	}
	scaffolds, warnings, err := scaffolds(pkg, opts.Existing)
	if err != nil {
		return nil, nil, err
	}
	files = append(files, barrels...)
	return append(files, scaffolds...), warnings, nil
}

// nothing is an empty file system.
type nothing struct{}

func (nothing) Open(string) (fs.File, error) { return nil, fs.ErrNotExist }

// outputPath returns the path of the code for an IDL file, slash-separated and relative to the output folder.
func outputPath(f *schema.File) string { return path.Join(f.Module.Path, baseName(f)+".ts") }

// baseName returns the name of an IDL file without its extension.
func baseName(f *schema.File) string { return strings.TrimSuffix(f.Name, ".go") }
