package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// source is the loaded package of an IDL folder.
type source struct {
	*packages.Package
	module *schema.Module
	files  []*sourceFile
}

// sourceFile is a parsed IDL file.
type sourceFile struct {
	*ast.File
	rel    string // slash-separated path below the root
	source *source
	schema *schema.File
}

// LoadMode is the load mode for go/packages. Loading everything from source is cheaper than using export data as long
// as an IDL imports only other IDL packages and the markers.
const LoadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedModule

// load loads all folders in one call. It returns an error only if the go command fails; errors in the sources are
// recorded in the packages.
func (c *checker) load(ctx context.Context) ([]*packages.Package, error) {
	cfg := &packages.Config{
		Context: ctx,
		Mode:    LoadMode,
		Dir:     c.tree.root,
		Fset:    c.fset,
		// With a fixed platform, constants that depend on the size of int are the same on every machine. With cgo
		// disabled, files that import "C" are ignored instead of preprocessed; checkHeader reports them. Scan has
		// already checked that the IDL is in a module.
		Env:       append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GO111MODULE=on", "PWD="+c.tree.root),
		ParseFile: c.parse,
	}
	pkgs, err := packages.Load(cfg, "./...")
	if err != nil {
		if _, missing := exec.LookPath("go"); missing != nil {
			return nil, errors.New("go command not found in PATH; install Go from https://go.dev/dl")
		}
		return nil, fmt.Errorf("the go command cannot load %s: %s", c.tree.arg, goMessage(err))
	}
	return pkgs, nil
}

// goMessage returns the go command's message without the text added by go/packages.
func goMessage(err error) string {
	msg := err.Error()
	if _, said, ok := strings.Cut(msg, "stderr: "); ok && said != "" {
		msg = said
	}
	return strings.TrimSpace(msg)
}

// adopt records the packages of IDL folders, sorted by path.
func (c *checker) adopt(pkgs []*packages.Package) {
	for _, pkg := range pkgs {
		if s := c.addSource(pkg); s != nil {
			c.sources = append(c.sources, s)
			c.sourceOf[pkg.Types] = s
		}
	}
	slices.SortFunc(c.sources, func(a, b *source) int { return cmp.Compare(a.module.Path, b.module.Path) })
}

// parse is the ParseFile function for go/packages. It keeps comments only in IDL files, where they are documentation,
// and skips object resolution, which go/types makes redundant. It stops after about ten syntax errors per file and
// reports at most one per line.
func (c *checker) parse(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
	rel := c.rel(filename)
	file, err := parser.ParseFile(fset, filename, src, parser.SkipObjectResolution|parser.ParseComments)
	if name := c.unified[path.Dir(rel)]; rel != "" && name != "" && file != nil {
		file.Name.Name = name
	}
	return file, err
}

// unifyClauses records folders with conflicting package clauses and reports whether there are any. Go checks only the
// files that agree with the first one; in the next load, parse makes all of them agree.
func (c *checker) unifyClauses(pkgs []*packages.Package) bool {
	for _, pkg := range pkgs {
		for _, rel := range c.rels(pkg.GoFiles) {
			if slices.ContainsFunc(pkg.Errors, func(e packages.Error) bool { return strings.HasPrefix(e.Msg, severalPackages) }) {
				c.unified[path.Dir(rel)] = pkg.Name
			}
		}
	}
	return len(c.unified) > 0
}

// rel returns the slash-separated path of an IDL file below the root. It returns "" for files outside the IDL.
func (c *checker) rel(filename string) string {
	rel, err := filepath.Rel(c.tree.root, filename)
	if err != nil {
		return ""
	}
	rel = filepath.ToSlash(rel)
	if _, found := slices.BinarySearch(c.tree.files, rel); !found {
		return ""
	}
	return rel
}

// rels returns the paths, relative to the root, of the given files that belong to the IDL.
func (c *checker) rels(files []string) []string {
	var list []string
	for _, file := range files {
		if rel := c.rel(file); rel != "" {
			list = append(list, rel)
		}
	}
	return list
}

// addSource returns the source for a loaded package. It returns nil for a package without IDL files, such as a
// placeholder for an error.
func (c *checker) addSource(pkg *packages.Package) *source {
	s := &source{Package: pkg, module: &schema.Module{GoName: pkg.Name}}
	for _, file := range pkg.Syntax {
		rel := c.rel(c.fset.File(file.FileStart).Name())
		if rel == "" {
			continue
		}
		if s.module.Path = path.Dir(rel); s.module.Path == "." {
			s.module.Path = ""
		}
		s.files = append(s.files, &sourceFile{
			File: file, rel: rel, source: s,
			schema: &schema.File{Module: s.module, Name: path.Base(rel), Doc: docText(file.Doc)},
		})
	}
	if len(s.files) == 0 {
		return nil
	}
	slices.SortFunc(s.files, func(a, b *sourceFile) int { return cmp.Compare(a.rel, b.rel) })
	for _, f := range s.files {
		s.module.Files = append(s.module.Files, f.schema)
	}
	return s
}

// checkHeaders checks the package clause, imports, and build constraints of every file, including those ignored by the
// go command.
func (c *checker) checkHeaders() {
	loaded := map[string]bool{}
	for _, s := range c.sources {
		for _, f := range s.files {
			loaded[f.rel] = true
			c.checkHeader(f.rel, f.File)
		}
		switch name := s.module.GoName; name {
		case "main", "init", "_": // cannot be imported
			c.report(diag.PackageName, s.files[0].Name, "a provider cannot import stubs of package %s", name).
				Suggestion = nameAfterFolder
		}
	}
	for _, rel := range c.tree.files {
		if loaded[rel] {
			continue
		}
		name := filepath.Join(c.tree.root, filepath.FromSlash(rel))
		// Syntax errors are reported by the go command and do not affect the header.
		file, _ := parser.ParseFile(c.fset, name, nil, parser.ImportsOnly|parser.ParseComments)
		if file == nil {
			continue
		}
		c.checkHeader(rel, file)
		if file.Name.Name == "documentation" {
			c.report(diag.PackageName, file.Name, "the go command ignores files of package documentation").
				Suggestion = nameAfterFolder
			c.blind(rel)
		}
	}
}

const nameAfterFolder = "name the package after its folder"

func (c *checker) checkHeader(rel string, file *ast.File) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			isConstraint := constraint.IsGoBuild(comment.Text) || constraint.IsPlusBuild(comment.Text)
			if comment.Pos() < file.Package && isConstraint {
				c.report(diag.BuildConstraint, comment, "a build constraint would make the output depend on the host").
					Suggestion = "remove it"
				c.blind(rel)
			}
		}
	}
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value == `"C"`:
			c.report(diag.CgoImport, spec, "the IDL cannot import C").Suggestion = "remove the import"
			c.blind(rel)
		case spec.Name != nil && spec.Name.Name == ".":
			c.report(diag.DotImport, spec.Name, "dot imports are not allowed").
				Suggestion = "import the package under its own name"
		}
	}
}
