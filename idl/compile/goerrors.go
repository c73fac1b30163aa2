package compile

import (
	"cmp"
	"fmt"
	"go/ast"
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
	"github.com/lumi-idl/lumi/internal/suggest"
)

// blind records that Go ignores some files in the folder of rel, so that its errors about undefined names in that
// folder are unreliable.
func (c *checker) blind(rel string) { c.blindFolders[path.Dir(rel)] = true }

// misled reports whether Go's errors in a package may be caused by ignored files in it or in its imports. Memo caches
// results.
func (c *checker) misled(pkg *packages.Package, memo map[*packages.Package]bool) bool {
	if known, ok := memo[pkg]; ok {
		return known
	}
	memo[pkg] = false // in progress; ends import cycles
	memo[pkg] = c.anyBlind(pkg.GoFiles)
	for _, imported := range pkg.Imports {
		if c.misled(imported, memo) || len(imported.GoFiles) == 0 && len(c.blindFolders) > 0 {
			memo[pkg] = true
		}
	}
	return memo[pkg]
}

// anyBlind reports whether Go ignores files in the folder of any of the given files.
func (c *checker) anyBlind(files []string) bool {
	return slices.ContainsFunc(c.rels(files), func(rel string) bool { return c.blindFolders[path.Dir(rel)] })
}

// reportGoErrors converts errors from the go command, the parser, and go/types to diagnostics. If there are no
// diagnostics, it returns the first error without a position in the IDL, or nil.
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
					failure = cmp.Or(failure, fmt.Errorf("the go command cannot load %s: %s", c.tree.arg, e.Msg))
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

// importErrors matches go/types errors about packages that failed to load. The go command reports these too.
var importErrors = regexp.MustCompile(`^could not import |^import cycle not allowed`)

// nameErrors matches errors that remain valid if predeclared names are shadowed.
var nameErrors = regexp.MustCompile(`^undefined: | redeclared |^"[^"]+" imported .*and not used$`)

func (c *checker) reportTypeError(s *source, e types.Error) {
	switch {
	case c.has(diag.GoSyntax) && !e.Soft,
		importErrors.MatchString(e.Msg) && (c.has(diag.GoPackage) || c.has(diag.FolderName)),
		strings.HasPrefix(e.Msg, "invalid import path ") && c.has(diag.FolderName),
		slices.ContainsFunc(s.Types.Scope().Names(), shadowsPredeclared) && !nameErrors.MatchString(e.Msg):
		return
	}
	// Messages that start with a tab continue the previous error, for example to point at the other declaration.
	if detail, ok := strings.CutPrefix(e.Msg, "\t"); ok && len(c.diags) > 0 {
		last := c.diags[len(c.diags)-1]
		if at := c.wordAt(e.Pos); last.Code == diag.GoType {
			last.Notes = append(last.Notes, diag.Note{Span: at, Message: detail})
		}
		return
	}
	if s.inFunc(e.Pos) {
		return // the function itself is reported as an error
	}
	at := c.wordAt(e.Pos)
	if c.followsFromImport(s, e, at) {
		return
	}
	d := c.reportAt(diag.GoType, at, "%s", e.Msg)
	// Suggestions search all names, which would be too slow for thousands of errors.
	const enough = 100
	switch {
	case strings.HasPrefix(e.Msg, "invalid map key type "):
		d.Suggestion = keyHelp
	case e.Msg == "undefined: idl" && c.qualifies(e):
		d.Suggestion = "import " + strconv.Quote(ownMarkers)
	case len(c.diags) < enough:
		d.Suggestion = didYouMean(nearestName(s.Types, e.Msg))
	}
}

// inFunc reports whether pos is inside a function declaration.
func (s *source) inFunc(pos token.Pos) bool {
	f := s.fileAt(pos)
	return f != nil && slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		_, isFunc := d.(*ast.FuncDecl)
		return isFunc && d.Pos() <= pos && pos < d.End()
	})
}

// fileAt returns the file that contains pos, or nil.
func (s *source) fileAt(pos token.Pos) *sourceFile {
	for _, f := range s.files {
		if f.FileStart <= pos && pos <= f.FileEnd {
			return f
		}
	}
	return nil
}

var undefinedName = regexp.MustCompile(`^undefined: (?:(\w+)\.)?(\w+)$`)

// foreignNames maps type names from other languages to IDL types.
var foreignNames = map[string]string{
	"boolean": "bool",
	"decimal": "float64", "double": "float64", "float": "float64", "integer": "int", "long": "int",
	"number": "float64", "numeric": "float64",
	"char": "string", "date": "string", "datetime": "string", "str": "string", "text": "string", "timestamp": "string",
	"bytes": "string", "uuid": "string",
	"any": "any", "json": "any", "object": "any", "unknown": "any",
	"array": "[]any", "list": "[]any", "dict": "map[string]any",
}

// nearestName suggests a replacement for the undefined name in a go/types error. It returns "" if there is no
// suggestion.
func nearestName(pkg *types.Package, msg string) string {
	m := undefinedName.FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	qualifier, name := m[1], m[2]
	if qualifier == "" {
		names := slices.DeleteFunc(pkg.Scope().Names(), func(n string) bool {
			_, variable := pkg.Scope().Lookup(n).(*types.Var)
			return variable // variables are themselves errors
		})
		near := suggest.Name(name, append(names, "bool", "float64", "int", "string"))
		if goName := foreignNames[strings.ToLower(name)]; goName != "" && !strings.EqualFold(near, name) {
			return goName
		}
		return near
	}
	for _, imported := range pkg.Imports() {
		if imported.Name() == qualifier {
			exported := slices.DeleteFunc(imported.Scope().Names(), func(n string) bool { return !token.IsExported(n) })
			return suggest.Name(name, exported)
		}
	}
	return ""
}

// standardLibrary matches the path of the standard library in an error, which differs between machines.
var standardLibrary = regexp.MustCompile(`is not in std \(.*?\)`)

// toAdd matches the words before the command that the go command recommends. The command becomes the suggestion.
var toAdd = regexp.MustCompile(`(; to add( it)?)?[:;]*$`)

// badImport matches errors about invalid import paths. The type checker reports these too, at a better position.
var badImport = regexp.MustCompile(`^.+\.go:\d+:\d+: invalid import path: `)

// severalPackages is the prefix of the go command's error about conflicting package clauses in a folder.
const severalPackages = "found packages "

// notPath matches the go command's errors about broken links and about folder names that are invalid in import paths.
var notPath = regexp.MustCompile(`^malformed import path |^open .+\.go: |outside main module or its selected dependencies$`)

// unreadableHeader matches the go command's error about a file with an invalid package clause or invalid imports.
var unreadableHeader = regexp.MustCompile(`^read (.+\.go): (.+)$`)

// reportListError reports an error from go list. It returns false if the error has no position in the IDL.
func (c *checker) reportListError(pkg *packages.Package, e packages.Error) bool {
	msg := strings.ReplaceAll(strings.TrimSpace(e.Msg), c.tree.root, c.tree.arg)
	msg = standardLibrary.ReplaceAllString(msg, "is not in the standard library")
	onlyExcluded := c.anyBlind(pkg.IgnoredFiles) // all files are excluded by build constraints, which are reported
	if onlyExcluded || badImport.MatchString(msg) || c.has(diag.FolderName) && notPath.MatchString(msg) {
		return true
	}
	if strings.HasPrefix(msg, "expected ") || strings.HasPrefix(msg, "illegal ") {
		c.reportSyntax(e) // for example, a missing package clause or a binary file; the parser reports it too
		return true
	}
	if m := unreadableHeader.FindStringSubmatch(e.Msg); len(m) == 3 && c.rel(m[1]) != "" {
		c.reportAt(diag.GoSyntax, c.clauseOf(c.rel(m[1])), "%s", m[2])
		return true
	}
	if strings.HasPrefix(msg, severalPackages) && c.reportClauses(pkg) {
		return true
	}
	at, ok := c.parsePosition(e.Pos)
	if ok {
		at = c.importAt(at)
		if c.hasAt(diag.GoPackage, at) {
			return true // the go command reports some import errors twice
		}
	}
	if !ok {
		at, ok = c.importOf(pkg.PkgPath)
	}
	if m := quotedPath.FindStringSubmatch(msg); !ok && m != nil {
		at, ok = c.importOf(m[1])
	}
	if files := c.rels(slices.Concat(pkg.GoFiles, pkg.IgnoredFiles)); !ok && len(files) > 0 {
		at, ok = c.clauseOf(files[0]), true
	}
	if !ok {
		return notPath.MatchString(msg) // a folder that contains only tests; other causes have been reported
	}
	if m := importStack.FindStringSubmatch(msg); m != nil {
		c.reportCycle(at, strings.Fields(m[1]))
		return true
	}
	summary, rest, _ := strings.Cut(msg, "\n")
	d := c.reportAt(diag.GoPackage, at, "%s", toAdd.ReplaceAllString(summary, ""))
	d.Suggestion = c.importHelp(msg, strings.Join(strings.Fields(rest), " "))
	return true
}

// reportClauses reports the files of a folder, including tests, whose package clause differs from the majority.
// It returns false if all agree.
func (c *checker) reportClauses(pkg *packages.Package) bool {
	folder, found := "", map[string][]string{} // paths by package name
	for _, rel := range c.rels(pkg.GoFiles) {
		folder = path.Dir(rel)
	}
	var names []string // candidate package names, in file order
	dir := filepath.Join(c.tree.root, filepath.FromSlash(folder))
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		rel, full := path.Join(folder, entry.Name()), filepath.Join(dir, entry.Name())
		isTest := strings.HasSuffix(rel, "_test.go") && !strings.ContainsAny(entry.Name()[:1], "._")
		if !isTest && c.rel(full) == "" {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), full, nil, parser.PackageClauseOnly)
		if file == nil {
			continue
		}
		name := file.Name.Name
		if isTest { // tests may belong to an external test package
			name = strings.TrimSuffix(name, "_test")
		} else if name != "_" {
			names = append(names, name)
		}
		found[name] = append(found[name], rel)
	}
	if len(found) < 2 || len(names) == 0 {
		return false
	}
	usual := filepath.Base(filepath.Join(c.tree.root, filepath.FromSlash(folder)))
	if folder == "." {
		usual = path.Base(c.pkg.Name)
	}
	right := slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(len(found[a]), len(found[b])) })
	if len(found[usual]) == len(found[right]) {
		right = usual
	}
	for name, files := range found {
		for _, rel := range files {
			if name != right {
				c.reportAt(diag.GoPackage, c.clauseOf(rel), "this file is in package %s, but %s is in package %s",
					name, path.Base(found[right][0]), right).Suggestion = "write " + right
			}
		}
	}
	return true
}

// clauseOf returns the span of the name in a file's package clause. If there is no package clause, it returns the start
// of the file.
func (c *checker) clauseOf(rel string) diag.Span {
	file := c.header(filepath.Join(c.tree.root, filepath.FromSlash(rel)))
	if file == nil || !file.Name.Pos().IsValid() {
		start := diag.Position{File: c.tree.display(rel), Line: 1, Column: 1}
		return diag.Span{Start: start, End: start}
	}
	return c.span(file.Name)
}

// parsePosition parses a position printed by the go command, "file:line:col" or "file:line". It returns false if pos is
// not one.
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

// wordAt returns the span of the identifier, literal, or operator at pos.
func (c *checker) wordAt(pos token.Pos) diag.Span {
	file := c.fset.File(pos)
	if file == nil {
		return diag.Span{}
	}
	src := c.text(file.Name())
	if len(src) != file.Size() {
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

// text returns the content of a file, or nil if it cannot be read.
func (c *checker) text(name string) []byte {
	src, known := c.texts[name]
	if !known {
		src, _ = os.ReadFile(name) // the go command reports unreadable files
		c.texts[name] = src
	}
	return src
}
