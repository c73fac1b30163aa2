package gen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Update lists the differences between a folder and the files that should be in it. [Compare] computes an Update
// without touching the disk, so that the updates of several folders can all be checked before the first is applied.
type Update struct {
	root      string   // the folder as given by the caller
	changes   []Change // files to write, then stale files, each sorted by path
	leftovers []string // temporary files from killed runs
	unchanged int
	// wanted maps the lower-case path of each file to its path.
	wanted map[string]string
}

// Change writes or removes one file. The content of a file to write may not be rendered yet.
type Change struct {
	File
	// Remove is set if the file is removed. The File then has no content.
	Remove bool
}

// Changes returns the files to write, followed by the files to remove, each sorted by path.
func (u *Update) Changes() []Change { return u.changes }

// ahead is the number of files that are rendered at a time. It bounds memory use.
const ahead = 64

// each calls do for every change and its rendered content, in order. It stops at the first error and returns it.
func (u *Update) each(do func(c Change, content []byte) error) error {
	for changes := range slices.Chunk(u.changes, ahead) {
		contents := make([][]byte, len(changes))
		err := Parallel(len(changes), func(i int) (err error) {
			contents[i], err = changes[i].render()
			return err
		})
		if err != nil {
			return err
		}
		for i, c := range changes {
			if err := do(c, contents[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Counts returns the Result that a successful [Write] of this update would have. Scaffolds are not counted.
func (u *Update) Counts() Result {
	r := Result{Unchanged: u.unchanged}
	for _, c := range u.changes {
		switch {
		case c.Remove:
			r.Removed++
		case !c.Scaffold:
			r.Written++
		}
	}
	return r
}

// Compare compares the folder root with files. Root need not exist, and may be a symbolic link.
//
// A file is written if it is missing, if its content differs, or if it is a symbolic link. The link is replaced, and
// its target stays unchanged. A scaffold is written only if it is missing. An existing file is stale, and removed, if
// it starts with the [Header] of a generated file, has the extension of one of files, and is not among them. All other
// files are left alone: files without the header, hidden files, files in hidden folders or in node_modules, and files
// reached through a symbolic link.
//
// Compare returns an error that lists each path that cannot be written because a file without the header, a folder, or
// a device exists there, because a file or a symbolic link takes the place of its folder, or because of a system error.
// It also returns an error if two paths differ only in case, or if a path is not local or is inside a hidden folder or
// node_modules.
func Compare(root string, files []File) (*Update, error) {
	u := &Update{root: root, wanted: make(map[string]string, len(files))}
	if err := u.want(files); err != nil {
		return nil, err
	}
	found, err := u.look()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := u.fits(f.Path, found); err != nil {
			return nil, err
		}
	}
	if err := u.compare(files, found, hasHeader); err != nil {
		return nil, err
	}
	if err := u.findStale(files, found); err != nil {
		return nil, err
	}
	return u, nil
}

// CompareFile compares a single file with content. Since the user chose the file, it needs no header, it may replace
// any regular file, and symbolic links are followed. There are no stale files.
func CompareFile(name string, content []byte) (*Update, error) {
	switch real, err := filepath.EvalSymlinks(name); {
	case err == nil:
		name = real
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot write %s: %w", name, cause(err))
	default:
		// Never replace a dangling link, or a link to an unnamed file such as the pipe of /dev/stdout.
		if _, err := os.Lstat(name); err == nil {
			return nil, fmt.Errorf("%s is a symbolic link that does not point to a file", name)
		}
	}
	files := []File{{Path: filepath.Base(name), Content: content}}
	u := &Update{root: filepath.Dir(name)}
	entries, err := os.ReadDir(u.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot write %s: %w", name, cause(err))
	}
	found := make(map[string]fs.DirEntry)
	for _, e := range entries {
		switch {
		case e.Name() == files[0].Path:
			found[e.Name()] = e
		case isTemporary(e):
			u.leftovers = append(u.leftovers, e.Name())
		}
	}
	if err := u.fits(files[0].Path, found); err != nil {
		return nil, err
	}
	if err := u.compare(files, found, func([]byte) bool { return true }); err != nil {
		return nil, err
	}
	return u, nil
}

// At returns the path of a file below the root, given its slash-separated relative path.
func (u *Update) At(name string) string { return filepath.Join(u.root, filepath.FromSlash(name)) }

// want records the paths of files and checks that they are valid and distinct.
func (u *Update) want(files []File) error {
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." || slices.ContainsFunc(strings.Split(f.Path, "/"), offLimits) {
			return fmt.Errorf("%q is not a valid path for a generated file", f.Path)
		}
		// Many file systems ignore case.
		folded := strings.ToLower(f.Path)
		if other, taken := u.wanted[folded]; taken {
			return fmt.Errorf("%s and %s collide on case-insensitive file systems", u.At(other), u.At(f.Path))
		}
		u.wanted[folded] = f.Path
	}
	return nil
}

// offLimits reports whether files and folders with that name must not be touched.
func offLimits(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// look returns the entries below the root by slash-separated path, except entries that are off limits. It also records
// leftovers.
func (u *Update) look() (map[string]fs.DirEntry, error) {
	found := make(map[string]fs.DirEntry)
	if info, err := os.Stat(u.root); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(u.root); err == nil {
			return nil, fmt.Errorf("%s is a dangling symbolic link", u.root)
		}
		return found, nil
	} else if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder, but generated files belong there", u.root)
	}
	err := fs.WalkDir(os.DirFS(u.root), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed by another process in the meantime
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", u.At(name), cause(err))
		case name == ".":
			return nil
		case isTemporary(e):
			u.leftovers = append(u.leftovers, name)
		case !offLimits(e.Name()):
			found[name] = e
		case e.IsDir():
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// fits returns an error if an existing entry prevents writing the file name.
func (u *Update) fits(name string, found map[string]fs.DirEntry) error {
	if e := found[name]; e != nil && !e.Type().IsRegular() && e.Type() != fs.ModeSymlink {
		what := "not a regular file"
		if e.IsDir() {
			what = "a folder"
		}
		return fmt.Errorf("%s is %s, but a generated file belongs there: move it away", u.At(name), what)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		e := found[dir]
		switch {
		case e == nil || e.IsDir():
		case e.Type() == fs.ModeSymlink:
			return fmt.Errorf("%s is a symbolic link, and cidlc does not write through links: "+
				"replace it with a folder, or use its target as the output folder", u.At(dir))
		default:
			return fmt.Errorf("%s is not a folder, but generated files belong there: move it away", u.At(dir))
		}
	}
	return nil
}

// compare records the files to write. It returns an error if an existing file differs and ours rejects its content.
func (u *Update) compare(files []File, found map[string]fs.DirEntry, ours func(content []byte) bool) error {
	files = slices.Clone(files)
	differs := make([]bool, len(files))
	err := Parallel(len(files), func(i int) error {
		f := files[i]
		e := found[f.Path]
		if f.Scaffold {
			differs[i] = e == nil
			return nil
		}
		// On file systems that ignore case, the file may exist under a different spelling.
		content, err := os.ReadFile(u.At(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			differs[i] = true
			return nil
		case err != nil && e == nil: // for example, because the name is too long
			return fmt.Errorf("cannot write %s: %w", u.At(f.Path), cause(err))
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", u.At(f.Path), cause(err))
		}
		differs[i] = e == nil || e.Type() == fs.ModeSymlink
		if f.Current != nil && f.Current(content) {
			return nil
		}
		rendered, err := f.render()
		switch {
		case err != nil:
			return err
		case bytes.Equal(content, rendered):
		case !ours(content):
			return fmt.Errorf("%s was not generated by cidlc and will not be overwritten: move or rename it", u.At(f.Path))
		default:
			differs[i] = true
			files[i].Content, files[i].Render = rendered, nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, f := range files {
		switch {
		case differs[i]:
			u.changes = append(u.changes, Change{File: f})
		case !f.Scaffold:
			u.unchanged++
		}
	}
	slices.SortFunc(u.changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// findStale records the generated files that are no longer wanted.
func (u *Update) findStale(files []File, found map[string]fs.DirEntry) error {
	extensions := make(map[string]bool)
	for _, f := range files {
		if !f.Scaffold {
			extensions[path.Ext(f.Path)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if e := found[name]; !e.Type().IsRegular() || !extensions[path.Ext(name)] || u.wanted[strings.ToLower(name)] == name {
			continue
		}
		ours, err := IsGenerated(os.DirFS(u.root), name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // ErrNotExist means that another process removed the file
			return fmt.Errorf("cannot read %s: %w", u.At(name), cause(err))
		}
		if ours {
			u.changes = append(u.changes, Change{File: File{Path: name}, Remove: true})
		}
	}
	return nil
}

// cause removes the path from errors of package os, for use in messages that already contain it.
func cause(err error) error {
	var pathError *fs.PathError
	var linkError *os.LinkError
	switch {
	case errors.As(err, &pathError):
		return pathError.Err
	case errors.As(err, &linkError):
		return linkError.Err
	}
	return err
}
