package tasktype

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// sources opens files in a workspace. It must not give users who can change a graph access to any other file on this
// machine.
type sources struct {
	root   *os.Root
	hidden []fs.FileInfo
}

// sources returns the files in the workspace. The caller must close the result. Files are hidden by identity, so hard
// links to them are hidden as well.
func (c *Call) sources() (*sources, error) {
	paths, err := c.hidden()
	if err != nil {
		return nil, err
	}
	s := &sources{}
	for _, name := range paths {
		info, err := os.Stat(name)
		if err != nil {
			continue // unreadable anyway
		}
		s.hidden = append(s.hidden, info)
		inside, _ := os.ReadDir(name)
		for _, entry := range inside { // files in the folder may have hard links elsewhere
			if info, err := os.Stat(filepath.Join(name, entry.Name())); err == nil {
				s.hidden = append(s.hidden, info)
			}
		}
	}
	s.root, err = os.OpenRoot(c.Folder)
	return s, err
}

func (s *sources) Close() error { return s.root.Close() }

var (
	errOutside = errors.New("outside the workspace")
	errLeaves  = errors.New("the link leads outside the workspace")
	errHidden  = errors.New("contains state, keys, or tokens, which tasks must not read")
	errChanged = errors.New("replaced while it was being opened")
	errSpecial = errors.New("neither a file nor a directory")
)

// states matches the names of files and folders that contain state, even in nested workspaces.
var states = regexp.MustCompile(`(?i)^(\.lumi|lumi-rescue-.*\.db.*)$`)

func (s *sources) hides(name string, info fs.FileInfo) bool {
	return states.MatchString(path.Base(name)) || slices.ContainsFunc(s.hidden, func(h fs.FileInfo) bool { return os.SameFile(h, info) })
}

// source is an open file or folder in the workspace.
type source struct {
	*os.File
	info fs.FileInfo
	// name is the slash-separated path in the workspace, with links resolved.
	name string
}

// open opens a file or folder. It follows links that stay within the workspace.
func (s *sources) open(src string) (*source, error) {
	wrong, name := errOutside, src
	for range 40 {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("src %s: %w", src, wrong)
		}
		name = path.Clean(filepath.ToSlash(name))
		file, link, err := s.walk(name)
		if system, ok := errors.AsType[*fs.PathError](err); ok {
			err = system.Err
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("src %s: %w", src, err)
		case file != nil:
			return file, nil
		}
		wrong, name = errLeaves, link
	}
	return nil, fmt.Errorf("src %s: too many links", src)
}

// walk opens a file, or returns the target of the first link on its path. It opens each folder relative to its parent
// and verifies that it is the folder checked before, so that concurrent renames cannot give access to other files.
func (s *sources) walk(name string) (file *source, link string, err error) {
	dir := s.root
	defer func() {
		if dir != s.root {
			_ = dir.Close()
		}
	}()
	for before, rest := "", name; ; {
		part, after, more := strings.Cut(rest, "/")
		seen, err := dir.Lstat(part)
		switch {
		case err != nil:
			return nil, "", err
		case s.hides(part, seen):
			return nil, "", errHidden
		case seen.Mode()&fs.ModeSymlink != 0:
			if link, err = dir.Readlink(part); filepath.IsAbs(link) {
				before = ""
				link, err = filepath.Rel(s.root.Name(), link)
			}
			return nil, path.Join(before, filepath.ToSlash(link), after), err
		case !seen.IsDir() && !seen.Mode().IsRegular():
			return nil, "", errSpecial
		case !more:
			// If the file has been replaced by a named pipe, opening it must not block.
			opened, err := dir.OpenFile(part, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				return nil, "", err
			}
			now, err := opened.Stat()
			if err != nil || !os.SameFile(seen, now) {
				return nil, "", errors.Join(errChanged, opened.Close())
			}
			return &source{opened, now, name}, "", nil
		}
		next, err := dir.OpenRoot(part)
		if err != nil {
			return nil, "", err
		}
		if dir != s.root {
			_ = dir.Close()
		}
		dir, before, rest = next, path.Join(before, part), after
		if now, err := dir.Stat("."); err != nil || !os.SameFile(seen, now) {
			return nil, "", errChanged
		}
	}
}

// entry is a file, a folder, or a symbolic link with its target.
type entry struct {
	fs.FileMode
	link string
}

func (e entry) isLink() bool { return e.FileMode&fs.ModeSymlink != 0 }

// kind returns the entry's kind as in listing.
func (e entry) kind() string {
	switch {
	case e.isLink():
		return "l"
	case e.IsDir():
		return "d"
	}
	return ""
}

// staysIn reports whether a link called name, relative to a folder, leads to a path in this folder. After its leading
// "..", the target must not go up again, since this could leave the folder through another link.
func staysIn(name, target string) bool {
	return path.Clean(target) == strings.TrimSuffix(target, "/") && !path.IsAbs(target) && filepath.IsLocal(path.Join(path.Dir(name), target))
}

// tree returns the path of src with links resolved, and the files, folders, and links in it by relative path. The path
// "." is src itself, which may be a file.
func (s *sources) tree(src string) (name string, all map[string]entry, err error) {
	file, err := s.open(src)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	all = map[string]entry{".": {FileMode: file.info.Mode()}}
	if !file.info.IsDir() {
		return file.name, all, nil
	}
	return file.name, all, fs.WalkDir(s.root.FS(), file.name, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == file.name {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(file.name, at)
		found, inside := entry{FileMode: info.Mode()}, filepath.ToSlash(inside)
		if err == nil && found.isLink() {
			found.link, err = s.root.Readlink(at)
		}
		switch {
		case err != nil:
			return err
		case s.hides(at, info):
			return fmt.Errorf("cannot copy %s: %w", at, errHidden)
		case found.isLink() && !staysIn(inside, found.link):
			return fmt.Errorf("cannot copy %s: the link to %q leaves %s; only relative links within it are copied", at, found.link, src)
		case !info.IsDir() && !info.Mode().IsRegular() && !found.isLink():
			return fmt.Errorf("cannot copy %s: %w", at, errSpecial)
		case strings.ContainsAny(at+found.link, "\n\\"):
			return fmt.Errorf("cannot copy %q: its name contains a line break or backslash", at)
		}
		all[inside] = found
		return nil
	})
}
