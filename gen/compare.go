package gen

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Plan is how a folder differs from the files that belong there. [Compare] makes it without touching anything, so that
// the plans of several folders can be known to be good before the first of them is carried out.
type Plan struct {
	root      string   // the folder, as the caller named it
	write     []File   // what is missing or different, sorted by path
	stale     []string // what is to be removed, sorted
	leftovers []string // temporary files of runs that were killed
	unchanged int
	// wanted maps the paths of all files, in lower case, to the paths.
	wanted map[string]string
}

// Change is one thing that a plan does.
type Change struct {
	// Path is the file's path, which begins with the root as it was given to [Compare].
	Path string
	// Remove tells that the file is removed. Otherwise it is written.
	Remove bool
	// Scaffold tells that the file is written for the user to keep.
	Scaffold bool
}

// Changes returns what the plan does, first what it writes and then what it removes, each sorted by path.
func (p *Plan) Changes() []Change {
	var list []Change
	for _, f := range p.write {
		list = append(list, Change{Path: p.at(f.Path), Scaffold: f.Scaffold})
	}
	for _, name := range p.stale {
		list = append(list, Change{Path: p.at(name), Remove: true})
	}
	return list
}

// Unchanged counts the files that are already as they should be.
func (p *Plan) Unchanged() int { return p.unchanged }

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
func Compare(root string, files []File) (*Plan, error) {
	p := &Plan{root: root, wanted: make(map[string]string, len(files))}
	if err := p.want(files); err != nil {
		return nil, err
	}
	found, err := p.look()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := p.fits(f.Path, found); err != nil {
			return nil, err
		}
	}
	if err := p.compare(files, found, isGenerated); err != nil {
		return nil, err
	}
	if err := p.findStale(files, found); err != nil {
		return nil, err
	}
	return p, nil
}

// CompareFile finds out whether the file has the content. It has no header and may replace any regular file, since the
// user named it; for the same reason, a symbolic link is followed. Nothing is stale.
func CompareFile(name string, content []byte) (*Plan, error) {
	switch real, err := filepath.EvalSymlinks(name); {
	case err == nil:
		name = real
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot write %s: %w", name, cause(err))
	default:
		// Where a link leads nowhere, or to what has no name such as the pipe behind /dev/stdout, the link itself
		// is not to be lost.
		if _, err := os.Lstat(name); err == nil {
			return nil, fmt.Errorf("%s is a symbolic link that does not lead to a file", name)
		}
	}
	files := []File{{Path: filepath.Base(name), Content: content}}
	p := &Plan{root: filepath.Dir(name)}
	entries, err := os.ReadDir(p.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot write %s: %w", name, cause(err))
	}
	found := make(map[string]fs.DirEntry)
	for _, e := range entries {
		switch {
		case e.Name() == files[0].Path:
			found[e.Name()] = e
		case isTemporary(e):
			p.leftovers = append(p.leftovers, e.Name())
		}
	}
	if err := p.fits(files[0].Path, found); err != nil {
		return nil, err
	}
	if err := p.compare(files, found, func([]byte) bool { return true }); err != nil {
		return nil, err
	}
	return p, nil
}

// at returns the path of a file below the root, for the system and for people.
func (p *Plan) at(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

// want notes the files' paths and holds that the files can stand beside each other.
func (p *Plan) want(files []File) error {
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." || slices.ContainsFunc(strings.Split(f.Path, "/"), offLimits) {
			return fmt.Errorf("%q is no path for a generated file", f.Path)
		}
		// On many systems, names that differ by case only are the same.
		folded := strings.ToLower(f.Path)
		if other, taken := p.wanted[folded]; taken {
			return fmt.Errorf("%s and %s would be one file where case does not count", p.at(other), p.at(f.Path))
		}
		p.wanted[folded] = f.Path
	}
	return nil
}

// offLimits reports whether a file or folder of that name is none of our business.
func offLimits(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

// look returns what there is below the root by its slash-separated path, without what is off limits, and notes
// leftovers.
func (p *Plan) look() (map[string]fs.DirEntry, error) {
	found := make(map[string]fs.DirEntry)
	if info, err := os.Stat(p.root); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(p.root); err == nil {
			return nil, fmt.Errorf("%s is a dangling symbolic link", p.root)
		}
		return found, nil
	} else if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder, and generated files go there", p.root)
	}
	err := fs.WalkDir(os.DirFS(p.root), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // Another process took it away.
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", p.at(name), cause(err))
		case name == ".":
			return nil
		case isTemporary(e):
			p.leftovers = append(p.leftovers, name)
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
func (p *Plan) fits(name string, found map[string]fs.DirEntry) error {
	if e := found[name]; e != nil && !e.Type().IsRegular() && e.Type() != fs.ModeSymlink {
		what := "not a regular file"
		if e.IsDir() {
			what = "a folder"
		}
		return fmt.Errorf("%s is %s, but a generated file belongs there: move it away", p.at(name), what)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		e := found[dir]
		switch {
		case e == nil || e.IsDir():
		case e.Type() == fs.ModeSymlink:
			return fmt.Errorf("%s is a symbolic link, and cidlc does not write through links: "+
				"replace it by a folder, or give the folder behind it as output", p.at(dir))
		default:
			return fmt.Errorf("%s is not a folder, and generated files go there: move it away", p.at(dir))
		}
	}
	return nil
}

// compare sorts out which files are to be written. Of existing files, only those with our content may be replaced.
func (p *Plan) compare(files []File, found map[string]fs.DirEntry, ours func(content []byte) bool) error {
	differs := make([]bool, len(files))
	err := parallel(len(files), func(i int) error {
		f := files[i]
		e := found[f.Path]
		if f.Scaffold {
			differs[i] = e == nil
			return nil
		}
		// Where case does not count, a file can exist that was found under another name.
		content, err := os.ReadFile(p.at(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			differs[i] = true
		case err != nil && e == nil: // The name is too long, for example.
			return fmt.Errorf("cannot write %s: %w", p.at(f.Path), cause(err))
		case err != nil:
			return fmt.Errorf("cannot read %s: %w", p.at(f.Path), cause(err))
		case !bytes.Equal(content, f.Content) && !ours(content):
			return fmt.Errorf("%s was not generated by cidlc and will not be overwritten: move or rename it", p.at(f.Path))
		default:
			differs[i] = e == nil || e.Type() == fs.ModeSymlink || !bytes.Equal(content, f.Content)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, f := range files {
		switch {
		case differs[i]:
			p.write = append(p.write, f)
		case !f.Scaffold:
			p.unchanged++
		}
	}
	slices.SortFunc(p.write, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// parallel calls do for every number below n, several at once, and joins the errors in order.
func parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = g.Wait() // The errors are in errs.
	return errors.Join(errs...)
}

// findStale notes what was found, is ours, and is not wanted any more.
func (p *Plan) findStale(files []File, found map[string]fs.DirEntry) error {
	extensions := make(map[string]bool)
	for _, f := range files {
		if !f.Scaffold {
			extensions[path.Ext(f.Path)] = true
		}
	}
	for name, e := range found {
		if !e.Type().IsRegular() || !extensions[path.Ext(name)] || p.wanted[strings.ToLower(name)] == name {
			continue
		}
		start, err := readStart(p.at(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // Another process may have removed it.
			return fmt.Errorf("cannot read %s: %w", p.at(name), cause(err))
		}
		if isGenerated(start) {
			p.stale = append(p.stale, name)
		}
	}
	slices.Sort(p.stale)
	return nil
}

// readStart returns enough of a file to tell whether it is ours.
func readStart(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4096))
}

// isGenerated reports whether a file's content starts with our header.
func isGenerated(content []byte) bool {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	return bytes.HasPrefix(line, []byte(headerStart)) && bytes.HasSuffix(line, []byte(headerEnd))
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
