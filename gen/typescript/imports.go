package typescript

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// imports tracks the names that a file uses from other generated files.
type imports struct {
	to *schema.File
	// taken is the set of names that the file declares or imports.
	taken map[string]bool
	used  map[schema.Decl]*imported
}

// imported is a name imported from another file.
type imported struct {
	decl schema.Decl
	// alias is the local name.
	alias string
	// value is set if the name is needed at run time and not only as a type.
	value bool
}

func newImports(to *schema.File) *imports {
	taken := make(map[string]bool, len(to.Decls))
	for _, d := range to.Decls {
		for _, name := range schema.TSNames(d) {
			taken[name] = true
		}
	}
	return &imports{to: to, taken: taken, used: map[schema.Decl]*imported{}}
}

// name returns the local name of a declaration and imports it if necessary. Value is set if the name is needed at run
// time.
func (i *imports) name(d schema.Decl, value bool) string {
	h := d.Head()
	if h.File == i.to {
		return h.Name
	}
	use := i.used[d]
	if use == nil {
		use = &imported{decl: d, alias: i.free(h)}
		i.taken[use.alias] = true
		i.used[d] = use
	}
	use.value = use.value || value
	return use.alias
}

// free returns an unused local name for a declaration in another file.
func (i *imports) free(h *schema.Header) string {
	name := h.Name
	if i.taken[name] {
		name = h.File.Module.GoName + "$" + name
	}
	free := name
	for n := 2; i.taken[free]; n++ {
		free = name + "$" + strconv.Itoa(n)
	}
	return free
}

// put appends one import declaration for each imported file, sorted by path.
func (i *imports) put(t *text) {
	byFile := map[*schema.File][]*imported{}
	for d, use := range i.used {
		file := d.Head().File
		byFile[file] = append(byFile[file], use)
	}
	order := func(f *schema.File) string {
		if f.Module.Foreign != nil {
			return "\x00" + specifier("", f) // before the package's own files
		}
		return f.Path()
	}
	files := slices.SortedFunc(maps.Keys(byFile), func(a, b *schema.File) int { return cmp.Compare(order(a), order(b)) })
	for _, file := range files {
		uses := byFile[file]
		slices.SortFunc(uses, func(a, b *imported) int {
			return cmp.Compare(a.decl.Head().Name, b.decl.Head().Name)
		})
		values := slices.ContainsFunc(uses, func(use *imported) bool { return use.value })
		clause := make([]string, len(uses))
		for n, use := range uses {
			clause[n] = use.clause(values)
		}
		t.put("import ")
		if !values {
			t.put("type ")
		}
		t.from(clause, specifier(i.to.Module.Path, file))
	}
}

// clause returns the import specifier for one name. Values is set if the import declaration also imports values.
func (use *imported) clause(values bool) string {
	clause := use.decl.Head().Name
	if use.alias != clause {
		clause += " as " + use.alias
	}
	if values && !use.value {
		clause = "type " + clause
	}
	return clause
}

// separator returns first if n is 0 and others otherwise.
func separator(n int, first, others string) string {
	if n == 0 {
		return first
	}
	return others
}

// specifier returns the module specifier for an IDL file's code, as written in a file of the given folder.
func specifier(folder string, to *schema.File) string {
	if other := to.Module.Foreign; other != nil {
		return path.Join(other.NPM, to.Module.Path, baseName(to)) + ".js"
	}
	return relative(folder, to.Module.Path) + baseName(to) + ".js"
}

// relative returns the relative path between two folders, with a leading dot and a trailing slash.
func relative(from, to string) string {
	rel, _ := filepath.Rel("/"+from, "/"+to) // cannot fail, since both paths are absolute
	rel = filepath.ToSlash(rel) + "/"
	if !strings.HasPrefix(rel, ".") {
		return "./" + rel
	}
	return rel
}
