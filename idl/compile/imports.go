package compile

import (
	"go/ast"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// A bad import causes an error from the go command and further go/types errors for every name used from it. The
// functions in this file report only the cause and suggest the intended import.

// quotedPath matches the import path in go command errors.
var quotedPath = regexp.MustCompile(`(?:package|import) "?([^\s":;]+)"?`)

// importHelp suggests a fix for an import that the go command cannot resolve. Msg is the go command's error, and hint
// its own suggestion, which is returned if there is no better one.
func (c *checker) importHelp(msg, hint string) string {
	m := quotedPath.FindStringSubmatch(msg)
	if m == nil {
		return hint
	}
	own := len(c.sources) > 0 && c.sources[0].Module != nil && strings.HasPrefix(m[1], c.sources[0].Module.Path+"/")
	rel, inside := strings.CutPrefix(m[1], c.rootPath()+"/")
	if !inside {
		rel = path.Base(m[1]) // a folder moved into the IDL keeps its name
	}
	if own {
		_, err := os.Stat(filepath.Join(c.tree.root, filepath.FromSlash(rel)))
		switch {
		case err == nil && inside:
			return hint
		case err == nil:
			return didYouMean(path.Join(c.rootPath(), rel))
		}
		var folders []string
		for _, s := range c.sources {
			folders = append(folders, s.module.Path)
		}
		if near := suggest.Name(rel, folders); near != "" {
			return didYouMean(path.Join(c.rootPath(), near))
		}
	}
	if near := suggest.Name(m[1], append([]string{ownMarkers}, c.markers...)); near != "" && near != m[1] {
		return didYouMean(near)
	}
	if own {
		return "correct the path, or create the package"
	}
	return hint
}

// rootPath returns the import path of the IDL's root, or "" if no folder could be loaded.
func (c *checker) rootPath() string {
	if len(c.sources) == 0 {
		return ""
	}
	first := c.sources[0]
	return strings.TrimSuffix(strings.TrimSuffix(first.PkgPath, first.module.Path), "/")
}

// importStack matches the go command's description of an import cycle.
var importStack = regexp.MustCompile(`^import cycle not allowed: import stack: \[(.+)\]$`)

// reportCycle reports an import cycle. The last folder in stack also occurs earlier in it.
func (c *checker) reportCycle(at diag.Span, stack []string) {
	circle := stack[slices.Index(stack, stack[len(stack)-1]):]
	if len(circle) == 2 {
		c.reportAt(diag.GoPackage, at, "the folder %s imports itself", c.folderOf(circle[0])).
			Suggestion = "remove the import; files in one folder need none"
		return
	}
	for i, importPath := range circle {
		circle[i] = c.folderOf(importPath)
	}
	c.reportAt(diag.GoPackage, at, "import cycle: %s", strings.Join(circle, " → ")).
		Suggestion = "move the types that depend on each other into one folder"
}

// folderOf returns the path of a package's folder relative to the current folder, or the import path if the package is
// outside the IDL.
func (c *checker) folderOf(importPath string) string {
	if importPath == c.rootPath() {
		return c.tree.arg
	}
	if rel, inside := strings.CutPrefix(importPath, c.rootPath()+"/"); inside {
		return c.tree.display(rel)
	}
	return importPath
}

// unusedImport matches go/types errors about unused imports.
var unusedImport = regexp.MustCompile(`^"[^"]+" imported .*and not used$`)

// followsFromImport reports whether an error is a consequence of an unresolved import: the import seems unused, or a
// name from it is undefined.
func (c *checker) followsFromImport(s *source, e types.Error, at diag.Span) bool {
	f := s.fileAt(e.Pos)
	if f == nil {
		return false
	}
	if m := undefinedName.FindStringSubmatch(e.Msg); len(m) == 3 && m[1] != "" && c.isWrong(s, m[1]) {
		return true
	}
	unused := unusedImport.MatchString(e.Msg)
	if !unused && !c.qualifies(e) {
		return false
	}
	return slices.ContainsFunc(f.Imports, func(spec *ast.ImportSpec) bool {
		if unused {
			return c.span(spec).Start == at.Start && s.misses(spec)
		}
		return spec.Name == nil && s.misses(spec)
	})
}

// isWrong reports whether a folder imports a folder of that name of another IDL with errors.
func (c *checker) isWrong(s *source, name string) bool {
	return slices.ContainsFunc(s.Types.Imports(), func(p *types.Package) bool { return c.wrong[p] && p.Name() == name })
}

// misses reports whether the package imported by spec could not be loaded.
func (s *source) misses(spec *ast.ImportSpec) bool {
	importPath, err := strconv.Unquote(spec.Path.Value)
	if err != nil || module.CheckImportPath(importPath) != nil {
		return true
	}
	imported := s.Imports[importPath]
	return imported != nil && slices.ContainsFunc(imported.Errors, func(e packages.Error) bool {
		return e.Kind == packages.ListError
	})
}

// qualifies reports whether an error concerns an undefined name followed by a dot, which is likely a package name.
func (c *checker) qualifies(e types.Error) bool {
	m := undefinedName.FindStringSubmatch(e.Msg)
	file := c.fset.File(e.Pos)
	if len(m) != 3 || m[1] != "" || file == nil {
		return false
	}
	src := c.text(file.Name())
	after := file.Offset(e.Pos) + len(m[2])
	return len(src) == file.Size() && after < len(src) && src[after] == '.'
}

// importOf returns the span of the first import of importPath in the IDL. It returns false if there is none.
func (c *checker) importOf(importPath string) (diag.Span, bool) {
	return c.findImport(func(spec *ast.ImportSpec) bool {
		p, err := strconv.Unquote(spec.Path.Value)
		return err == nil && p == importPath
	})
}

// importAt returns the span of the import that starts at the given position, or at itself if there is none.
func (c *checker) importAt(at diag.Span) diag.Span {
	if span, ok := c.findImport(func(spec *ast.ImportSpec) bool { return c.span(spec.Path).Start == at.Start }); ok {
		return span
	}
	return at
}

func (c *checker) findImport(is func(*ast.ImportSpec) bool) (diag.Span, bool) {
	for _, s := range c.sources {
		for _, f := range s.files {
			if i := slices.IndexFunc(f.Imports, is); i >= 0 {
				return c.span(f.Imports[i].Path), true
			}
		}
	}
	return diag.Span{}, false
}
