// Package typescript turns the checked model into a TypeScript package: one module for each file of the IDL, a barrel
// for each folder, and, where they are missing, the package.json and tsconfig.json of a package.
//
// Generated code is ESM and links against the npm package @lumi/lumi, whose sources are in runtime/typescript. It
// refers to no global name of TypeScript's, since an IDL may declare a type called Record or Array. Names which the
// generator makes up contain a dollar sign, as no name of the IDL can.
package typescript

import (
	"io/fs"
	"path"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Options say what the output depends on beside the model.
type Options struct {
	// Existing is what the output folder holds now; nil means that it holds nothing. Barrels also export the
	// hand-written files in it, and a hand-written index.ts takes the place of a generated one.
	Existing fs.FS
	// Digests are what [schema.Package.Digests] returned, or nil if nobody needs the files' inputs.
	Digests schema.Digests
}

// Generate returns the files of the package, sorted by folder, and warnings about what exists already. An error is one
// of reading Options.Existing.
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

// nothing is a folder that does not exist.
type nothing struct{}

func (nothing) Open(string) (fs.File, error) { return nil, fs.ErrNotExist }

// outputPath is where the code for an IDL file goes, slash-separated and relative to the output folder.
func outputPath(f *schema.File) string { return path.Join(f.Module.Path, baseName(f)+".ts") }

// baseName is the name of an IDL file, and of the code for it, without an extension.
func baseName(f *schema.File) string { return strings.TrimSuffix(f.Name, ".go") }
