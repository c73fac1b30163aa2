package typescript

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// imports are the names that a file uses of other generated files.
type imports struct {
	to *schema.File
	// taken has every name that the file declares or imports.
	taken map[string]bool
	used  map[schema.Decl]*imported
}

// imported is one name of another file.
type imported struct {
	decl schema.Decl
	// alias is the name in this file.
	alias string
	// value says that the name is needed at run time too, and not as a type alone.
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

// name returns how the file refers to a declaration, and imports it where it is in another file.
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

// free returns a name for a declaration of another file that nothing else in this file has.
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

// put appends an import declaration for every file that is used, sorted by path.
func (i *imports) put(t *text) {
	byFile := map[*schema.File][]*imported{}
	for d, use := range i.used {
		file := d.Head().File
		byFile[file] = append(byFile[file], use)
	}
	files := slices.SortedFunc(maps.Keys(byFile), func(a, b *schema.File) int { return cmp.Compare(a.Path(), b.Path()) })
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

// clause returns the import of one name, in a declaration that imports values or types alone.
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

// separator returns what stands before the nth part of a sequence.
func separator(n int, first, others string) string {
	if n == 0 {
		return first
	}
	return others
}

// specifier is how a file in the given folder names the code for an IDL file.
func specifier(folder string, to *schema.File) string {
	return relative(folder, to.Module.Path) + baseName(to) + ".js"
}

// relative is the path from one folder to another, starting with a dot and ending with a slash.
func relative(from, to string) string {
	rel, _ := filepath.Rel("/"+from, "/"+to) // which both are absolute
	rel = filepath.ToSlash(rel) + "/"
	if !strings.HasPrefix(rel, ".") {
		return "./" + rel
	}
	return rel
}
