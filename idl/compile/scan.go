package compile

import (
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/module"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// tree is the folder tree of an IDL.
type tree struct {
	arg  string // the root as given by the user
	root string // the root, absolute and without symbolic links
	// above lists the names of the folders on the path from the module's folder to the root, including the root.
	above []string
	// files lists the slash-separated paths of all IDL files below the root, sorted.
	files []string
	// links lists symbolic links to folders, which the go command does not follow, and broken symbolic links.
	links []string
}

// scan lists the files of the IDL in dir. It reads the disk itself because the go command omits files excluded by build
// constraints.
func scan(dir string) (*tree, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &UsageError{fmt.Sprintf("%s: folder not found; pass the folder that contains the IDL's Go files", dir)}
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &UsageError{fmt.Sprintf("%s is not a folder; pass the folder that contains it: %s", dir, filepath.Dir(dir))}
	}
	t := &tree{arg: dir}
	if t.root, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if t.root, err = filepath.EvalSymlinks(t.root); err != nil {
		return nil, err
	}
	module := ModuleFolder(t.root)
	if module == "" {
		return nil, &UsageError{fmt.Sprintf(
			"%s is not inside a Go module; run 'go mod init example.com/mypackage' in %s", dir, filepath.Dir(t.root))}
	}
	if below, _ := filepath.Rel(module, t.root); below != "." {
		t.above = strings.Split(filepath.ToSlash(below), "/")
	}
	if err := CheckModule(module); err != nil {
		return nil, err
	}
	if err := t.walk(); err != nil {
		return nil, err
	}
	if len(t.files)+len(t.links) == 0 {
		return nil, &UsageError{fmt.Sprintf("%s contains no Go files; pass the folder that contains the IDL", dir)}
	}
	return t, nil
}

// ModuleFolder returns the folder of the Go module that contains the absolute path dir, or "" if there is none. Dir
// need not exist.
func ModuleFolder(dir string) string {
	for !isModule(dir) {
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func isModule(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && !info.IsDir()
}

// CheckModule returns an error if a module file would block its reader, such as a named pipe called go.work.
func CheckModule(module string) error {
	files := []string{filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")}
	work := os.Getenv("GOWORK")
	for dir := module; work == ""; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.work")); err == nil && !info.IsDir() {
			work = filepath.Join(dir, "go.work")
		} else if dir == filepath.Dir(dir) {
			work = "off"
		}
	}
	if work != "off" {
		files = append(files, work, strings.TrimSuffix(work, ".work")+".work.sum")
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return irregular(file)
		}
	}
	return nil
}

func irregular(file string) error {
	return &UsageError{file + " is not a regular file; remove or replace it"}
}

// walk records the files and links below the root, following the go command's rules for ./... patterns.
func (t *tree) walk() error {
	err := filepath.WalkDir(t.root, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		ignored := strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
		switch {
		case p == t.root:
			return nil
		case entry.IsDir() && (ignored || isIgnoredFolder(name) || isModule(p)):
			return fs.SkipDir
		case entry.IsDir() || ignored:
			return nil
		}
		rel, err := filepath.Rel(t.root, p)
		if err != nil {
			return err
		}
		info, statErr := os.Stat(p)
		switch isLink := entry.Type()&fs.ModeSymlink != 0; {
		case isLink && (statErr != nil || info.IsDir()): // a broken link may have pointed to a folder
			if !isIgnoredFolder(name) {
				t.links = append(t.links, filepath.ToSlash(rel))
			}
		case statErr == nil && !info.Mode().IsRegular(): // the go command may open it, whatever its name
			return irregular(t.display(filepath.ToSlash(rel)))
		case statErr == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			t.files = append(t.files, filepath.ToSlash(rel))
		}
		return nil
	})
	slices.Sort(t.files)
	return err
}

// isIgnoredFolder reports whether the go command ignores folders with that name.
func isIgnoredFolder(name string) bool { return name == "testdata" || name == "vendor" }

// packageName returns the name of the package, or a *[UsageError] if it is invalid.
func packageName(opts Options) (string, error) {
	if opts.Package != "" {
		if !packageNames.MatchString(opts.Package) {
			return "", &UsageError{fmt.Sprintf("--package=%s: %s", opts.Package, packageGrammar)}
		}
		return opts.Package, nil
	}
	abs, err := filepath.Abs(opts.Dir)
	if err != nil {
		return "", err
	}
	name := filepath.Base(filepath.Dir(abs))
	if !packageNames.MatchString(name) {
		return "", &UsageError{fmt.Sprintf(
			"cannot name the package after the folder %q: %s; choose one with --package=NAME",
			name, packageGrammar)}
	}
	return name, nil
}

var packageNames = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*(/[a-z][a-z0-9]*([-_][a-z0-9]+)*)*$`)

const packageGrammar = "a package name consists of lower-case words joined by '-', '_', or '/'"

// checkFiles reports files and folders with invalid names, and file names that act as build constraints.
func (c *checker) checkFiles() {
	folded := map[string]string{}
	folders := map[string]bool{}
	for _, first := range c.tree.files[:min(1, len(c.tree.files))] {
		for _, name := range c.tree.above {
			c.checkImportable(name, first)
		}
	}
	for _, file := range c.tree.files {
		dir, name := path.Split(file)
		c.checkFolder(path.Clean(dir), file, folders)
		at := c.clauseOf(file)
		switch {
		case strings.EqualFold(name, "index.go"):
			c.reportAt(diag.FileName, at, "%s would become index.ts, which is reserved for the folder's exports", name).
				Suggestion = "rename the file"
		case strings.ContainsFunc(name, invalidInImport):
			c.reportAt(diag.FileName, at, "TypeScript cannot import a file named %s", strings.TrimSuffix(name, ".go")+".ts").
				Suggestion = "rename the file, using only letters, digits, '_', '-', and '.'"
		case strings.HasSuffix(name, ".d.go"):
			c.reportAt(diag.FileName, at, "%s would become a TypeScript declaration file", name).
				Suggestion = "rename the file to " + strings.TrimSuffix(name, ".d.go") + ".go"
		case hostSpecific(name):
			c.reportAt(diag.BuildConstraint, at,
				"the name %s restricts the file to some hosts, so the output would depend on the host", name).
				Suggestion = "rename the file so that its name does not end in an operating system or architecture"
			c.blind(file)
		}
		if other, clash := folded[strings.ToLower(file)]; clash {
			c.reportAt(diag.FileName, at, "%s and %s collide on case-insensitive file systems", other, file).
				Suggestion = "rename one of them"
		}
		folded[strings.ToLower(file)] = file
	}
	for _, link := range c.tree.links {
		c.reportAt(diag.FolderName, c.placeOf(link), "the go command does not follow the symbolic link %s",
			c.tree.display(link)).Suggestion = "replace the link with its target, or remove it"
	}
}

// placeOf returns a position for errors about a folder that is not read: the package clause of the first file next to
// it or, if there is none, the folder's path.
func (c *checker) placeOf(folder string) diag.Span {
	for _, file := range c.tree.files {
		if path.Dir(file) == path.Dir(folder) {
			return c.clauseOf(file)
		}
	}
	at := diag.Position{File: c.tree.display(folder)}
	return diag.Span{Start: at, End: at}
}

// invalidInImport reports whether r is unsafe in the URL of a TypeScript import.
func invalidInImport(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
}

// checkFolder checks the names of a folder and its parents. It checks each folder once and reports errors at file.
func (c *checker) checkFolder(dir, file string, seen map[string]bool) {
	if dir == "." || seen[dir] {
		return
	}
	seen[dir] = true
	c.checkFolder(path.Dir(dir), file, seen)
	switch name := path.Base(dir); {
	case dir == "index":
		c.reportAt(diag.FolderName, c.clauseOf(file),
			"type tokens in the folder index would collide with those in the root folder").
			Suggestion = "rename the folder"
	case strings.EqualFold(dir, schema.GoSchema):
		c.reportAt(diag.FolderName, c.clauseOf(file), "a folder named %s would collide with the generated package %s", name, schema.GoSchema).
			Suggestion = "rename the folder"
	case name == "node_modules":
		c.reportAt(diag.FolderName, c.clauseOf(file), "cannot generate files in a folder named node_modules").
			Suggestion = "rename the folder"
	case slices.Contains([]string{".ts", ".go", ".json"}, strings.ToLower(path.Ext(name))):
		c.reportAt(diag.FolderName, c.clauseOf(file), "a folder named %s could collide with a generated file", name).
			Suggestion = "rename the folder"
	default:
		c.checkImportable(name, file)
	}
}

// checkImportable rejects a folder name that is invalid in import paths, and reports it at file.
func (c *checker) checkImportable(name, file string) {
	var invalid *module.InvalidPathError
	if !errors.As(module.CheckImportPath(name), &invalid) {
		return
	}
	c.reportAt(diag.FolderName, c.clauseOf(file), "Go cannot import a folder named %q: %s", name, invalid.Err).
		Suggestion = "rename the folder"
	c.blind(file)
}

// hostSpecific reports whether the file name alone restricts the file to certain platforms. Asking go/build about a
// platform that does not exist avoids a list of all platforms.
func hostSpecific(name string) bool {
	nowhere := build.Context{
		GOOS: "nowhere", GOARCH: "nothing", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil },
	}
	match, err := nowhere.MatchFile("", name)
	return err == nil && !match
}
