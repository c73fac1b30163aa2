package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// output is a kind of output. Flags, help, folder checks, and the pipeline are derived from [outputs].
type output struct {
	// flag is the name of the output's flag, and help is its description.
	flag, help string
	// folder is the name of the default folder, next to the IDL. It is empty for single-file outputs, whose flag
	// requires a value.
	folder string
	// imports is set if generate needs the import path of the output folder.
	imports bool
	// generate returns the files of the output and warnings about existing files in dir.
	generate func(pkg *schema.Package, dir, importPath string, digests schema.Digests) ([]gen.File, []string, error)
	// check reports names of the IDL, whose folder is idl, that the output or hand-written files in dir rule out. It may be nil.
	check func(pkg *schema.Package, idl, dir string) ([]diag.Diagnostic, error)
}

var outputs = []*output{
	{
		flag: "out-pack", help: "write the TypeScript package", folder: "pack",
		generate: func(pkg *schema.Package, dir, _ string, digests schema.Digests) ([]gen.File, []string, error) {
			files, warnings, err := typescript.Generate(pkg, typescript.Options{Digests: digests, Existing: existing(dir)})
			if err != nil {
				return nil, nil, fmt.Errorf("cannot read %s: %w", dir, err)
			}
			for i, w := range warnings {
				warnings[i] = filepath.Join(dir, "package.json") + ": " + w
			}
			return files, warnings, nil
		},
		check: func(pkg *schema.Package, idl, dir string) ([]diag.Diagnostic, error) {
			diags, err := typescript.Collisions(pkg, idl, dir, existing(dir))
			if err != nil {
				return nil, fmt.Errorf("cannot read %s: %w", dir, err)
			}
			return diags, nil
		},
	},
	{
		flag: "out-provider", help: "write the Go provider stubs and the schema in Go", folder: "provider", imports: true,
		generate: func(pkg *schema.Package, _, path string, digests schema.Digests) ([]gen.File, []string, error) {
			return gostubs.Generate(pkg, gostubs.Options{ImportPath: path, Digests: digests}), nil, nil
		},
	},
	{
		flag: "out-schema", help: "write the checked model as JSON, for other generators",
		generate: func(pkg *schema.Package, _, _ string, _ schema.Digests) ([]gen.File, []string, error) {
			var content bytes.Buffer
			err := schema.Write(&content, pkg)
			return []gen.File{{Content: content.Bytes()}}, nil, err
		},
	},
	{
		flag: "out-pulumi-schema", help: "write the schema of a Pulumi package",
		generate: func(pkg *schema.Package, _, _ string, _ schema.Digests) ([]gen.File, []string, error) {
			content, err := pulumischema.Of(pkg, "")
			return []gen.File{{Content: content}}, nil, err
		},
		check: func(pkg *schema.Package, idl, _ string) (diags []diag.Diagnostic, err error) {
			for _, e := range pulumischema.CheckNames(pkg) {
				at := diag.Position{File: filepath.Join(idl, filepath.FromSlash(e.Header.File.Path())), Line: e.Pos.Line, Column: e.Pos.Column}
				diags = append(diags, diag.Diagnostic{
					Code: diag.ReservedName, Severity: diag.Error, Span: diag.Span{Start: at, End: at}, Message: e.Message, Suggestion: e.Suggestion,
				})
			}
			return diags, nil
		},
	},
}

// existing returns the files in an output folder, or nil if there is none.
func existing(dir string) fs.FS {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	return os.DirFS(dir)
}

// target is an output selected on the command line. It is the value of the output's flag.
type target struct {
	*output
	asked bool
	value string
}

// noValue marks a flag without a value. Process arguments cannot contain a zero byte.
const noValue = "\x00"

// Set implements [pflag.Value].
func (t *target) Set(value string) error {
	if value == "" && t.folder != "" {
		return errors.New("missing folder after '='")
	}
	t.asked, t.value = true, strings.Trim(value, noValue)
	return nil
}

func (t *target) String() string { return t.value }

// Type implements [pflag.Value].
func (t *target) Type() string { return t.folder }

// stdout reports whether the output goes to standard output.
func (t *target) stdout() bool { return t.folder == "" && t.value == "-" }

// place returns the path of the folder or file to write.
func (t *target) place(idl string) string {
	if t.folder == "" {
		return t.value
	}
	return filepath.Clean(cmp.Or(t.value, filepath.Join(idl, "..", t.folder)))
}

// validate returns an error for an invalid flag value.
func (t *target) validate() error {
	ext := filepath.Ext(t.value)
	switch {
	case !t.asked || t.folder != "":
	case t.value == "":
		return fmt.Errorf("--%s= needs a value", t.flag)
	case ext == ".go" || ext == ".ts":
		return fmt.Errorf("--%s=%s: the schema is JSON and cannot be written to a source file", t.flag, t.value)
	}
	return nil
}

// checkOverlap returns an error if the output folder contains the IDL folder or the reverse.
func (t *target) checkOverlap(idl string) error {
	place := t.place(idl)
	real, err := resolve(place)
	if err != nil {
		return err
	}
	realIDL, err := resolve(idl)
	if err != nil {
		return err
	}
	hint := ""
	if t.folder != "" {
		hint = "; choose a sibling folder"
	}
	switch {
	case within(real, realIDL):
		return fmt.Errorf("--%s=%s: generated files cannot be in the IDL folder %s%s", t.flag, place, idl, hint)
	case t.folder != "" && within(realIDL, real):
		return fmt.Errorf("--%s=%s: the folder contains the IDL folder %s%s", t.flag, place, idl, hint)
	}
	return nil
}

// compare compares the generated files with the output on disk.
func (t *target) compare(idl string, files []gen.File) (*gen.Update, error) {
	if t.folder == "" {
		return gen.CompareFile(t.value, files[0].Content)
	}
	return gen.Compare(t.place(idl), files)
}
