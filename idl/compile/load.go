package compile

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// source is one folder of the IDL as Go sees it.
type source struct {
	*packages.Package
	module *schema.Module
	files  []*sourceFile
}

// sourceFile is one file of the IDL as Go sees it.
type sourceFile struct {
	*ast.File
	rel    string // slash-separated path below the root
	source *source
	schema *schema.File
}

// LoadMode is what the compiler asks of go/packages: everything from sources, which is cheaper than export data as
// long as an IDL imports nothing but other IDL and the markers.
const LoadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedModule

// load reads all folders in one call. What Go itself finds wrong is reported; the error is for a go command that does
// not work.
func (c *checker) load(ctx context.Context) error {
	cfg := &packages.Config{
		Context: ctx,
		Mode:    LoadMode,
		Dir:     c.tree.root,
		Fset:    c.fset,
		// Without cgo, a file that imports "C" is left out instead of being preprocessed; checkHeader reports it.
		Env:       append(os.Environ(), "CGO_ENABLED=0", "PWD="+c.tree.root),
		ParseFile: c.parse,
	}
	pkgs, err := packages.Load(cfg, "./...")
	if err != nil {
		return fmt.Errorf("the go command cannot load %s: %w", c.tree.arg, err)
	}
	for _, pkg := range pkgs {
		if s := c.addSource(pkg); s != nil {
			c.sources = append(c.sources, s)
			c.sourceOf[pkg.Types] = s
		}
	}
	slices.SortFunc(c.sources, func(a, b *source) int { return cmp.Compare(a.module.Path, b.module.Path) })
	c.checkHeaders()
	if err := c.reportGoErrors(pkgs); err != nil {
		return err
	}
	if len(c.sources) == 0 && len(c.diags) == 0 {
		return &UsageError{fmt.Sprintf("the go command finds no packages in %s; is it left out of a go.work file?", c.tree.arg)}
	}
	return nil
}

// parse keeps comments for the IDL's own files, where they are documentation, and skips the resolution of objects that
// go/types makes superfluous.
func (c *checker) parse(fset *token.FileSet, filename string, src []byte) (*ast.File, error) {
	mode := parser.AllErrors | parser.SkipObjectResolution
	if c.rel(filename) != "" {
		mode |= parser.ParseComments
	}
	return parser.ParseFile(fset, filename, src, mode)
}

// rel returns the path of a file of the IDL below the root, and "" for any other file.
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

// addSource returns nil for a package without files of the IDL, such as one that only an error stands for.
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

// checkHeaders looks at what stands above a file's declarations: in the files that were loaded, and in those that the
// go command left out.
func (c *checker) checkHeaders() {
	loaded := map[string]bool{}
	for _, s := range c.sources {
		for _, f := range s.files {
			loaded[f.rel] = true
			c.checkHeader(f.rel, f.File)
		}
		if s.module.GoName == "main" {
			c.report(diag.PackageName, s.files[0].Name, "stubs of a package main could not be imported by a provider").
				Suggestion = "name the package after its folder"
		}
	}
	for _, rel := range c.tree.files {
		if loaded[rel] {
			continue
		}
		name := filepath.Join(c.tree.root, filepath.FromSlash(rel))
		// Syntax errors are the go command's to report; the header is complete all the same.
		if file, _ := parser.ParseFile(c.fset, name, nil, parser.ImportsOnly|parser.ParseComments); file != nil {
			c.checkHeader(rel, file)
		}
	}
}

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
			c.report(diag.DotImport, spec.Name, "a dot import hides where names come from").
				Suggestion = "import the package under its own name"
		}
	}
}

// blind notes that Go does not see all that stands in a file's folder, so that what it says of names it cannot find
// there is not to be trusted.
func (c *checker) blind(rel string) { c.blindFolders[path.Dir(rel)] = true }

// misled reports whether Go's findings on a package may follow from files that Go did not see.
func (c *checker) misled(pkg *packages.Package, memo map[*packages.Package]bool) bool {
	if known, ok := memo[pkg]; ok {
		return known
	}
	memo[pkg] = false
	for _, file := range pkg.GoFiles {
		if rel := c.rel(file); rel != "" && c.blindFolders[path.Dir(rel)] {
			memo[pkg] = true
			return true
		}
	}
	for _, imported := range pkg.Imports {
		if c.misled(imported, memo) || len(imported.GoFiles) == 0 && len(c.blindFolders) > 0 {
			memo[pkg] = true
			return true
		}
	}
	return false
}

// reportGoErrors turns what the go command, the parser and go/types say into diagnostics.
func (c *checker) reportGoErrors(roots []*packages.Package) error {
	var failure error
	memo := map[*packages.Package]bool{}
	listed := map[string]bool{}
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		misled := c.misled(pkg, memo)
		for _, e := range pkg.Errors {
			switch e.Kind {
			case packages.ParseError:
				c.reportSyntax(e)
			case packages.ListError, packages.UnknownError:
				if misled || listed[e.Msg] {
					continue
				}
				listed[e.Msg] = true
				if !c.reportListError(pkg, e) {
					failure = cmp.Or(failure, fmt.Errorf("the go command cannot load %s: %w", cmp.Or(pkg.PkgPath, c.tree.arg), e))
				}
			}
		}
	})
	for _, s := range c.sources {
		if c.misled(s.Package, memo) {
			continue
		}
		for _, e := range s.TypeErrors {
			c.reportTypeError(s, e)
		}
	}
	if len(c.diags) > 0 {
		return nil
	}
	return failure
}

func (c *checker) reportSyntax(e packages.Error) {
	at, ok := c.parsePosition(e.Pos)
	if !ok {
		return
	}
	c.reportAt(diag.GoSyntax, at, "%s", e.Msg)
}

// importErrors are go/types' way of saying that a package could not be loaded, which the go command says better.
var importErrors = regexp.MustCompile(`^could not import |^import cycle not allowed`)

func (c *checker) reportTypeError(s *source, e types.Error) {
	if importErrors.MatchString(e.Msg) && c.has(diag.GoPackage) || c.has(diag.GoSyntax) && !e.Soft {
		return
	}
	// A detail of the error before, such as where the other declaration stands.
	if detail, ok := strings.CutPrefix(e.Msg, "\t"); ok && len(c.diags) > 0 {
		last := c.diags[len(c.diags)-1]
		if at := c.wordAt(e.Pos); last.Code == diag.GoType {
			last.Notes = append(last.Notes, diag.Note{Span: at, Message: detail})
		}
		return
	}
	for _, f := range s.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= e.Pos && e.Pos < fn.End() {
				return // the function itself is the mistake
			}
		}
	}
	c.reportAt(diag.GoType, c.wordAt(e.Pos), "%s", e.Msg)
}

// quotedPath finds the import path in what the go command says.
var quotedPath = regexp.MustCompile(`(?:package|import) "?([^\s":;]+)"?`)

// reportListError reports false if nothing in the IDL can be found that causes the error.
func (c *checker) reportListError(pkg *packages.Package, e packages.Error) bool {
	msg := strings.TrimSpace(e.Msg)
	if c.excluded(pkg) {
		return true
	}
	at, ok := c.parsePosition(e.Pos)
	if ok {
		at = c.importAt(at)
	}
	if !ok {
		at, ok = c.importOf(pkg.PkgPath)
	}
	if m := quotedPath.FindStringSubmatch(msg); !ok && m != nil {
		at, ok = c.importOf(m[1])
	}
	if !ok {
		at, ok = c.packageClause(pkg)
	}
	if !ok {
		return false
	}
	summary, rest, _ := strings.Cut(msg, "\n")
	d := c.reportAt(diag.GoPackage, at, "%s", strings.TrimRight(summary, ":;"))
	if hint := strings.Join(strings.Fields(rest), " "); hint != "" {
		d.Suggestion = hint
	}
	return true
}

// excluded reports whether the error only repeats that all files of a folder have build constraints.
func (c *checker) excluded(pkg *packages.Package) bool {
	for _, file := range pkg.IgnoredFiles {
		if rel := c.rel(file); rel != "" && c.blindFolders[path.Dir(rel)] {
			return true
		}
	}
	return false
}

// importOf finds the first import of a package in the IDL.
func (c *checker) importOf(importPath string) (diag.Span, bool) {
	for _, s := range c.sources {
		for _, f := range s.files {
			for _, spec := range f.Imports {
				if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == importPath {
					return c.span(spec.Path), true
				}
			}
		}
	}
	return diag.Span{}, false
}

// importAt widens the position of an import to the import.
func (c *checker) importAt(at diag.Span) diag.Span {
	for _, s := range c.sources {
		for _, f := range s.files {
			for _, spec := range f.Imports {
				if span := c.span(spec.Path); span.Start == at.Start {
					return span
				}
			}
		}
	}
	return at
}

// packageClause finds the package clause of the first file of a package that is part of the IDL.
func (c *checker) packageClause(pkg *packages.Package) (diag.Span, bool) {
	for _, name := range slices.Concat(pkg.GoFiles, pkg.IgnoredFiles) {
		if rel := c.rel(name); rel != "" {
			return c.clauseOf(rel), true
		}
	}
	return diag.Span{}, false
}

// clauseOf finds the package clause of a file, or its start where there is none.
func (c *checker) clauseOf(rel string) diag.Span {
	name := filepath.Join(c.tree.root, filepath.FromSlash(rel))
	file, _ := parser.ParseFile(c.fset, name, nil, parser.PackageClauseOnly)
	if file == nil || !file.Name.Pos().IsValid() {
		start := diag.Position{File: c.tree.display(rel), Line: 1, Column: 1}
		return diag.Span{Start: start, End: start}
	}
	return c.span(file.Name)
}

// parsePosition reads the position "file:line:col" or "file:line" that the go command prints.
func (c *checker) parsePosition(pos string) (diag.Span, bool) {
	m := positions.FindStringSubmatch(pos)
	if m == nil {
		return diag.Span{}, false
	}
	name := m[1]
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.tree.root, name)
	}
	rel := c.rel(name)
	if rel == "" {
		return diag.Span{}, false
	}
	at := diag.Position{File: c.tree.display(rel), Line: 1, Column: 1}
	at.Line, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		at.Column, _ = strconv.Atoi(m[3])
	}
	return diag.Span{Start: at, End: at}, true
}

var positions = regexp.MustCompile(`^(.+?):(\d+)(?::(\d+))?$`)

// wordAt spans the identifier, literal or operator at a position.
func (c *checker) wordAt(pos token.Pos) diag.Span {
	file := c.fset.File(pos)
	if file == nil {
		return diag.Span{}
	}
	src, err := os.ReadFile(file.Name())
	if err != nil || len(src) != file.Size() {
		return c.span(textRange{pos, pos})
	}
	offset := file.Offset(pos)
	var s scanner.Scanner
	rest := token.NewFileSet().AddFile("", -1, len(src)-offset)
	s.Init(rest, src[offset:], func(token.Position, string) {}, 0)
	start, tok, lit := s.Scan()
	if tok == token.EOF || rest.Offset(start) != 0 || strings.Contains(lit, "\n") {
		return c.span(textRange{pos, pos})
	}
	if lit == "" {
		lit = tok.String()
	}
	return c.span(textRange{pos, pos + token.Pos(len(lit))})
}
