package typescript

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

const barrelName = "index.ts"

// folder is a folder in the output.
type folder struct {
	path  string
	files []*schema.File
	// children lists the names of the sub-folders.
	children []string
}

// barrels returns an index.ts for every folder that does not have a hand-written one.
func barrels(pkg *schema.Package, existing fs.FS) ([]gen.File, error) {
	var files []gen.File
	for _, f := range folders(pkg) {
		neighbors, err := handWritten(existing, f)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(neighbors, barrelName) {
			files = append(files, gen.File{Path: path.Join(f.path, barrelName), Content: f.barrel(neighbors)})
		}
	}
	return files, nil
}

// folders returns the root, the folders of all modules, and the folders between them, sorted by path.
func folders(pkg *schema.Package) []*folder {
	above := func(dir string) string {
		parent, _ := path.Split(dir)
		return strings.TrimSuffix(parent, "/")
	}
	byPath := map[string]*folder{"": {}}
	for _, m := range pkg.Modules {
		for dir := m.Path; byPath[dir] == nil; dir = above(dir) {
			byPath[dir] = &folder{path: dir}
		}
		byPath[m.Path].files = m.Files
	}
	list := slices.SortedFunc(maps.Values(byPath), func(a, b *folder) int { return cmp.Compare(a.path, b.path) })
	for _, f := range list[1:] {
		parent := byPath[above(f.path)]
		parent.children = append(parent.children, path.Base(f.path))
	}
	return list
}

// barrel returns the content of an index.ts. It exports the names from the folder's generated files, everything from
// its hand-written files, and its sub-folders.
func (f *folder) barrel(neighbors []string) []byte {
	var t text
	t.put(gen.Header(gen.Slashes, path.Join(f.path, "*.go")), "\n/* eslint-disable */\n\n")
	start := len(t.buf)
	for _, file := range f.files {
		if names := exports(file); len(names) > 0 {
			t.put("export ")
			t.from(names, specifier(f.path, file))
		}
	}
	for _, neighbor := range neighbors {
		t.put("export * from ", quote("./"+strings.TrimSuffix(neighbor, ".ts")+".js"), ";\n")
	}
	for _, child := range f.children {
		t.put("export * as ", schema.TSModuleName(child), " from ", quote("./"+child+"/index.js"), ";\n")
	}
	if len(t.buf) == start {
		t.put("export {};\n")
	}
	return t.buf
}

// exports returns the export clauses for the names in a file. Names that are only types are marked with "type".
func exports(f *schema.File) []string {
	var names []string
	for _, d := range f.Decls {
		if !d.Head().Exported() {
			continue
		}
		for i, name := range schema.TSNames(d) {
			if isTypeOnly(d, i) {
				name = "type " + name
			}
			names = append(names, name)
		}
	}
	return names
}

// isTypeOnly reports whether the ith name of a declaration is only a type rather than also a value.
func isTypeOnly(d schema.Decl, i int) bool {
	switch d := d.(type) {
	case *schema.Resource, *schema.Function:
		return i > 0
	case *schema.Config:
		return i == 0
	case *schema.Union:
		return d.Tokens() != nil
	case *schema.Alias:
		return true
	}
	return false
}

// handWritten returns the sorted names of the hand-written TypeScript files in a folder on disk. It omits declaration
// files, tests, and files about to be replaced.
func handWritten(existing fs.FS, f *folder) ([]string, error) {
	entries, err := fs.ReadDir(existing, cmp.Or(f.path, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	generated := map[string]bool{}
	for _, file := range f.files {
		generated[baseName(file)+".ts"] = true
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		base, ok := strings.CutSuffix(name, ".ts")
		if !ok || generated[name] {
			continue
		}
		if ext := path.Ext(base); ext == ".d" || ext == ".test" || ext == ".spec" {
			continue
		}
		// Follow links, but do not open pipes, since reading would block.
		info, err := fs.Stat(existing, path.Join(f.path, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		ours, err := gen.IsGenerated(existing, path.Join(f.path, name))
		if err != nil {
			return nil, err
		}
		if !ours {
			names = append(names, name)
		}
	}
	return names, nil
}
