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

// Update is how a folder differs from the files that belong there. [Compare] makes it without touching anything, so that
// the updates of several folders can be known to be good before the first of them is carried out.
type Update struct {
	root      string   // the folder, as the caller named it
	changes   []Change // first what is missing or different and then what is stale, each sorted by path
	leftovers []string // temporary files of runs that were killed
	unchanged int
	// wanted maps the paths of all files, in lower case, to the paths.
	wanted map[string]string
}

// Change is one thing that an update does: it writes a file, which may not be rendered yet, or removes one.
type Change struct {
	File
	// Remove tells that the file is removed. Then it has no content.
	Remove bool
}

// Changes returns what the update does, first what it writes and then what it removes, each sorted by path.
func (u *Update) Changes() []Change { return u.changes }

// ahead is how many files are rendered at once before they are used and dropped. It bounds the memory they take.
const ahead = 64

// each calls do for every change with its content, up to the first error.
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

// Counts returns what [Write] would count, without scaffolds.
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

// Compare finds out how the folder root differs from files. Root need not exist, and may be a symbolic link.
//
// A file is written if it is missing, if its content differs, or if it is a symbolic link: then the link itself is
// replaced, and its target stays as it is. A scaffold is written only if it is missing. A file is stale, and removed, if
// it starts with the [Header] of a generated file, has the extension of one of the files and is not among them. No other
// file is ever replaced or removed: none without the header, none that is hidden, none in a hidden folder or in
// node_modules, and none that only a symbolic link leads to.
//
// The error names each path that cannot be written: because a file without the header, a folder or a device is in its
// place, because a file or a symbolic link is in the place of its folder, or because the system says so. Two files whose
// paths differ by case only are an error too, and so is a path that is not local or leads into a hidden folder or
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

// CompareFile finds out whether the file has the content. It has no header and may replace any regular file, since the
// user named it; for the same reason, a symbolic link is followed. Nothing is stale.
func CompareFile(name string, content []byte) (*Update, error) {
	switch real, err := filepath.EvalSymlinks(name); {
	case err == nil:
		name = real
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot write %s: %w", name, cause(err))
	default:
		// Where a link leads nowhere, or to what has no name such as the pipe behind /dev/stdout, the link itself
		// is not to be lost.
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

// At returns the path of a file below the root, for the system and for people.
func (u *Update) At(name string) string { return filepath.Join(u.root, filepath.FromSlash(name)) }

// want notes the files' paths and holds that the files can stand beside each other.
func (u *Update) want(files []File) error {
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." || slices.ContainsFunc(strings.Split(f.Path, "/"), offLimits) {
			return fmt.Errorf("%q is not a valid path for a generated file", f.Path)
		}
		// On many systems, names that differ by case only are the same.
		folded := strings.ToLower(f.Path)
		if other, taken := u.wanted[folded]; taken {
			return fmt.Errorf("%s and %s collide on case-insensitive file systems", u.At(other), u.At(f.Path))
		}
		u.wanted[folded] = f.Path
	}
	return nil
}

// offLimits reports whether a file or folder of that name is none of our business.
func offLimits(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// look returns what there is below the root by its slash-separated path, without what is off limits, and notes
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
			return nil // Another process took it away.
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

// fits holds that a file of the given path can be put among what was found.
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

// compare sorts out which files are to be written. Of existing files, only those with our content may be replaced.
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
		// Where case does not count, a file can exist that was found under another name.
		content, err := os.ReadFile(u.At(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			differs[i] = true
			return nil
		case err != nil && e == nil: // The name is too long, for example.
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

// findStale notes what was found, is ours, and is not wanted any more.
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
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // Another process may have removed it.
			return fmt.Errorf("cannot read %s: %w", u.At(name), cause(err))
		}
		if ours {
			u.changes = append(u.changes, Change{File: File{Path: name}, Remove: true})
		}
	}
	return nil
}

// cause strips the path from errors of package os, for messages that name it themselves.
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
