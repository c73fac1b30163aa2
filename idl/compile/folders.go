package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// The checks in this file suggest the right folder to a user who passed too much (a folder that also contains code) or
// too little (a part of an IDL).

// checkExtent rejects a folder that contains code next to a folder named idl, and a folder with generated stubs.
func (t *tree) checkExtent() error {
	meant, depth := "", 0
	var others []string
	for _, file := range t.files {
		folders := strings.Split(file, "/")
		i := slices.Index(folders[:len(folders)-1], "idl")
		switch {
		case i < 0:
			others = append(others, file)
		case meant == "" || i < depth:
			meant, depth = strings.Join(folders[:i+1], "/"), i
		}
	}
	if meant == "" {
		return t.checkStubs()
	}
	code := t.firstCode(others)
	if code == "" {
		return nil
	}
	return &UsageError{fmt.Sprintf("%s is not an IDL: there is code in %s; did you mean %s?",
		t.arg, t.display(code), t.display(meant))}
}

// checkStubs rejects a folder with generated stubs, which belongs to a provider. It suggests a folder named idl next to
// it or next to one of its parents in the module.
func (t *tree) checkStubs() error {
	i := slices.IndexFunc(t.files, func(rel string) bool {
		if !strings.HasSuffix(rel, "_stub.go") {
			return false
		}
		name := filepath.Join(t.root, filepath.FromSlash(rel))
		file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		return file != nil && ast.IsGenerated(file)
	})
	if i < 0 {
		return nil
	}
	advice := "pass the folder that contains the IDL"
	for n := range t.above {
		sibling := filepath.Join(strings.Repeat("../", n+1), "idl")
		if info, err := os.Stat(filepath.Join(t.root, sibling)); err == nil && info.IsDir() {
			advice = fmt.Sprintf("did you mean %s?", filepath.Join(t.arg, sibling))
			break
		}
	}
	return &UsageError{fmt.Sprintf("%s is a provider, not an IDL: cidlc generated %s; %s", t.arg, t.display(t.files[i]), advice)}
}

// firstCode returns the first file that cannot be part of an IDL because it is in package main or declares functions or
// variables. It returns "" if there is none.
func (t *tree) firstCode(files []string) string {
	for _, rel := range files {
		name := filepath.Join(t.root, filepath.FromSlash(rel))
		file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if file != nil && (file.Name.Name == "main" || slices.ContainsFunc(file.Decls, isCode)) {
			return rel
		}
	}
	return ""
}

func isCode(d ast.Decl) bool {
	gen, ok := d.(*ast.GenDecl)
	return !ok || gen.Tok == token.VAR
}

// outside suggests how to use a package that is in the same module but outside the IDL. It returns "" if the package is
// in another module or contains code.
func (c *checker) outside(from *source, pkg *types.Package) string {
	imported := from.Imports[pkg.Path()]
	if imported == nil || imported.Module == nil || from.Module == nil || imported.Module.Dir != from.Module.Dir ||
		len(imported.GoFiles) == 0 || c.declaresMarkers(pkg) {
		return ""
	}
	rel, err := filepath.Rel(c.tree.root, filepath.Dir(imported.GoFiles[0]))
	if err != nil {
		return ""
	}
	folder, up := filepath.Join(c.tree.arg, rel), ""
	for _, element := range strings.Split(filepath.ToSlash(rel), "/") {
		if element == ".." {
			up = filepath.Join(up, "..")
		}
	}
	whole := filepath.Join(c.tree.arg, up)
	switch {
	case up == "":
		return ""
	case !c.insideIDL(up) && c.plain(whole) && folder == whole:
		return fmt.Sprintf("run 'cidlc %s' to include the folder that declares it", c.arguments(whole))
	case !c.insideIDL(up) && c.plain(whole):
		return fmt.Sprintf("it is declared in %s; run 'cidlc %s' to include that folder", folder, c.arguments(whole))
	case c.plain(folder):
		name := filepath.Base(filepath.Dir(imported.GoFiles[0]))
		return fmt.Sprintf("it is declared in %s; move it to %s and import %s",
			folder, filepath.Join(c.tree.arg, name), path.Join(c.rootPath(), name))
	}
	return ""
}

// insideIDL reports whether a folder named idl is between the folder up, such as ../.., and the root. Such a folder
// is the whole IDL.
func (c *checker) insideIDL(up string) bool {
	below, err := filepath.Rel(filepath.Join(c.tree.root, up), c.tree.root)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(below), "/"), "idl")
}

// arguments returns the cidlc arguments that compile the folder whole, which contains the root. They include --package
// if this compilation does not use the default name or if the new default would be invalid.
func (c *checker) arguments(whole string) string {
	quoted := whole
	if strings.ContainsFunc(whole, func(r rune) bool { return !isNameRune(r) && !strings.ContainsRune(`./\-:+~@`, r) }) {
		quoted = strconv.Quote(whole)
	}
	usual, _ := packageName(Options{Dir: c.tree.arg})
	if _, err := packageName(Options{Dir: whole}); err != nil || usual != c.pkg.Name {
		quoted += " --package=" + c.pkg.Name
	}
	return quoted
}

// throughLink reports whether pkg was found through a symbolic link in the IDL.
func (c *checker) throughLink(pkg *packages.Package) bool {
	if pkg == nil || len(pkg.GoFiles) == 0 {
		return false
	}
	rel, err := filepath.Rel(c.tree.root, pkg.GoFiles[0])
	return err == nil && slices.ContainsFunc(c.tree.links, func(link string) bool {
		return strings.HasPrefix(filepath.ToSlash(rel), link+"/")
	})
}

// plain reports whether dir, a folder above the IDL, contains no code other than the IDL.
func (c *checker) plain(dir string) bool {
	plain, known := c.plainFolders[dir]
	if !known {
		t, err := scan(dir)
		plain = err == nil && t.firstCode(slices.DeleteFunc(t.files, func(rel string) bool {
			return c.rel(filepath.Join(t.root, filepath.FromSlash(rel))) != ""
		})) == ""
		c.plainFolders[dir] = plain
	}
	return plain
}
