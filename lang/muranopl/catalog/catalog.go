// Package catalog reads MuranoPL classes from YAML files in folders and in packages, which may be zip archives.
//
// A package contains a file manifest.yaml, which lists its classes and their files in the folder Classes. In a folder
// that is not a package, all *.yaml and *.yml files are read except hidden ones. Each document in a file is a class.
// Its Namespaces also apply to later documents in the file that have none.
package catalog

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/lang/muranopl"
)

// Limits on the size of the input.
const (
	maxFile    = 4 << 20
	maxTotal   = 64 << 20
	maxEntries = 10_000 // files and folders
	maxModel   = 64 << 20
)

// Catalog contains classes by full name. It implements [muranopl.Resolver].
type Catalog struct {
	muranopl.Declarations
	// Sources maps file names, as used in positions, to the contents of the files.
	Sources map[string]string
	// Errors lists the problems found in the files. Classes without errors can be used.
	Errors Errors

	dir           string
	files         fs.FS
	size, entries int
}

// Open reads folders and archives. It returns an error if one of them cannot be read.
func Open(names ...string) (*Catalog, error) {
	c := newCatalog()
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			c.folder(name, os.DirFS(name))
			continue
		}
		archive, err := zip.OpenReader(name)
		switch {
		case errors.Is(err, zip.ErrFormat):
			c.fail(muranopl.Position{File: name}, "neither a folder nor a zip archive")
		case err != nil:
			return nil, err
		default:
			c.folder(name, archive)
			_ = archive.Close() // no data is lost, since it was only read
		}
	}
	return c, nil
}

func newCatalog() *Catalog {
	return &Catalog{Declarations: muranopl.Declarations{}, Sources: map[string]string{}}
}

// Folder returns the classes in a folder and the errors found in it. Positions use dir as the name of the folder.
func Folder(dir string, files fs.FS) (muranopl.Declarations, []*muranopl.Error) {
	c := newCatalog()
	c.folder(dir, files)
	return c.Declarations, c.Errors
}

func (c *Catalog) fail(pos muranopl.Position, format string, args ...any) {
	c.Errors = append(c.Errors, failAt(pos, format, args...))
}

func (c *Catalog) position(file string) muranopl.Position {
	return muranopl.Position{File: filepath.Join(c.dir, file)}
}

func (c *Catalog) folder(dir string, files fs.FS) {
	c.dir, c.files = dir, files
	if _, err := fs.Stat(files, manifest); err == nil {
		c.pack()
		return
	}
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		c.entries++
		switch hidden := strings.HasPrefix(path.Base(name), ".") && name != "."; {
		case err != nil:
			c.fail(c.position(name), "%s", err)
		case c.entries > maxEntries:
			c.fail(c.position("."), "more than %d files and folders", maxEntries)
			return fs.SkipAll
		case d.IsDir() && hidden:
			return fs.SkipDir
		case !d.IsDir() && !hidden && (path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"):
			for _, d := range c.classes(c.position(name), name) {
				c.fail(d.Tree.Pos, "a class has no Name")
			}
		}
		return nil
	})
}

// read returns the contents of a file. If it cannot be read, read reports an error at pos and returns false.
func (c *Catalog) read(pos muranopl.Position, name string) ([]byte, bool) {
	var src []byte
	info, err := fs.Stat(c.files, name) // follows symbolic links
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err == nil {
		var f fs.File
		if f, err = c.files.Open(name); err == nil {
			src, err = io.ReadAll(io.LimitReader(f, maxFile+1))
			_ = f.Close() // no data is lost, since it was only read
		}
	}
	c.size += len(src)
	switch {
	case err != nil:
		c.fail(pos, "%s", err)
	case len(src) > maxFile:
		c.fail(pos, "%s is larger than %d MiB", name, maxFile>>20)
	case c.size > maxTotal:
		c.fail(pos, "%s exceeds the limit of %d MiB for all files", name, maxTotal>>20)
	default:
		c.Sources[c.position(name).File] = string(src)
		return src, true
	}
	return nil, false
}

// classes declares the classes in a file. It returns the classes without a name.
func (c *Catalog) classes(pos muranopl.Position, file string) (unnamed []muranopl.Declaration) {
	src, ok := c.read(pos, file)
	if !ok {
		return nil
	}
	r := &reader{file: c.position(file).File, src: string(src), expressions: true}
	trees, errs := r.documents()
	c.Errors = append(c.Errors, errs...)
	var spaces *muranopl.Node
	for _, tree := range trees {
		entries, isDict := tree.Value.([]muranopl.Entry)
		name := tree.Get("Name")
		if own := tree.Get("Namespaces"); own != nil {
			spaces = own
		}
		switch {
		case !isDict:
			c.fail(tree.Pos, "a class must be a dictionary")
		case len(entries) == 1 && tree.Get("Namespaces") != nil:
		case name == nil || name.Value == nil:
			unnamed = append(unnamed, muranopl.Declaration{Tree: tree, Namespaces: spaces})
		default:
			full, err := muranopl.FullName(name, spaces)
			if wrong, ok := errors.AsType[*muranopl.Error](err); ok {
				c.Errors = append(c.Errors, wrong)
				continue
			}
			c.declare(name.Pos, &muranopl.Declaration{Name: full, Tree: tree, Namespaces: spaces})
		}
	}
	return unnamed
}

func (c *Catalog) declare(pos muranopl.Position, d *muranopl.Declaration) {
	if other := c.Declarations[d.Name]; other != nil {
		c.fail(pos, "class %s is declared twice; the other is at %s", d.Name, at(other.Tree, "Name"))
		return
	}
	c.Declarations[d.Name] = d
}

// at returns the position of the value of a key, or the position of the dictionary if the key is missing.
func at(n *muranopl.Node, key string) muranopl.Position {
	if v := n.Get(key); v != nil {
		return v.Pos
	}
	return n.Pos
}

const manifest = "manifest.yaml"

var (
	packageName = regexp.MustCompile(`^\w+(\.\w+)*$`)
	format      = regexp.MustCompile(`^(MuranoPL/)?1(\.\d+)*$`)
)

// pack reads the classes listed in the manifest of a package.
func (c *Catalog) pack() {
	src, ok := c.read(c.position(manifest), manifest)
	if !ok {
		return
	}
	root, err := Model(c.position(manifest).File, src)
	if errs, ok := errors.AsType[Errors](err); ok {
		c.Errors = append(c.Errors, errs...)
		return
	}
	if name, _ := root.Get("FullName").Text(); !packageName.MatchString(name) {
		c.fail(at(root, "FullName"), "FullName must be names joined with periods")
	}
	if kind, _ := root.Get("Type").Text(); kind != "Library" && kind != "Application" {
		c.fail(at(root, "Type"), "Type must be Library or Application")
	}
	if f := root.Get("Format"); f != nil && f.Value != nil && !format.MatchString(fmt.Sprint(f.Value)) {
		c.fail(f.Pos, "unsupported Format %v: it must be MuranoPL/1.0 or later", f.Value)
	}
	list := root.Get("Classes")
	if list == nil || list.Value == nil {
		return
	}
	entries, ok := list.Value.([]muranopl.Entry)
	if !ok {
		c.fail(list.Pos, "Classes must be a dictionary of classes and files")
	}
	unnamed, wrong := map[string][]muranopl.Declaration{}, map[string]bool{}
	for _, e := range entries {
		file, _ := e.Value.Text()
		if _, done := unnamed[file]; done {
			continue
		}
		before := len(c.Errors)
		if fs.ValidPath(file) {
			unnamed[file] = c.classes(e.Value.Pos, path.Join("Classes", file))
		} else {
			c.fail(e.Value.Pos, "the file of a class must be a path below Classes")
		}
		wrong[file] = len(c.Errors) > before
	}
	for _, e := range entries {
		name, _ := e.Key.Text()
		file, _ := e.Value.Text()
		switch found := unnamed[file]; {
		case c.Declarations[name] != nil || wrong[file]:
		case len(found) == 1:
			d := found[0]
			d.Name = name
			c.declare(e.Key.Pos, &d)
		default:
			c.fail(e.Key.Pos, "Classes/%s has no class %s, and %d without a name", file, name, len(found))
		}
	}
}
