package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// name returns a new name. Some names equal an import or a receiver in generated code.
func (w *workshop) name() string {
	w.names++
	special := []string{"S", "P", "Ops", "Lumi", "Context", "Urn", "Tokens", "Any", "Props", "B", "C"}
	name := fmt.Sprintf("N%d", w.names)
	if w.IntN(3) == 0 {
		name = special[w.IntN(len(special))]
	}
	if w.IntN(5) == 0 {
		name = strings.ToLower(name)
	}
	for d := range w.pkg.Decls() {
		if strings.EqualFold(d.Head().Name, name) {
			return fmt.Sprintf("M%d", w.names)
		}
	}
	return name
}

func pick[T any](w *workshop, list []T) T { return list[w.IntN(len(list))] }

func (w *workshop) decls() []schema.Decl  { return slices.Collect(w.pkg.Decls()) }
func (w *workshop) files() []*schema.File { return slices.Collect(w.pkg.Files()) }

// referred returns the set of declarations referenced by others.
func (w *workshop) referred() map[schema.Decl]bool {
	all := map[schema.Decl]bool{}
	for d := range w.pkg.Decls() {
		types := []schema.Type{}
		if a, ok := d.(*schema.Alias); ok {
			types = append(types, a.Target)
		}
		for _, p := range schema.Properties(d) {
			types = append(types, p.Type)
		}
		for _, t := range types {
			for ref := range schema.Refs(t) {
				all[ref.Decl] = true
			}
		}
	}
	return all
}

// typ returns a random type. Aliases contain no other aliases, which prevents cycles.
func (w *workshop) typ(aliases bool) schema.Type {
	var refs []schema.Type
	for d := range w.pkg.Decls() {
		switch d.(type) {
		case *schema.Resource, *schema.Struct, *schema.Enum:
			refs = append(refs, &schema.Ref{Decl: d})
		case *schema.Alias:
			if aliases {
				refs = append(refs, &schema.Ref{Decl: d})
			}
		}
	}
	primitives := []schema.Type{schema.Bool, schema.Number, schema.String, schema.Any, schema.Asset, schema.AnyResource}
	t := pick(w, append(primitives, refs...))
	switch w.IntN(4) {
	case 0:
		return &schema.List{Elem: t}
	case 1:
		return &schema.Map{Key: schema.String, Elem: t}
	}
	return t
}

// properties returns the property list of a random declaration. It never chooses a named resource, whose first property
// must stay.
func (w *workshop) properties() *[]*schema.Property {
	lists := []*[]*schema.Property{{}} // the fallback if there are none
	for d := range w.pkg.Decls() {
		switch d := d.(type) {
		case *schema.Struct:
			lists = append(lists, &d.Properties)
		case *schema.Resource:
			if !d.Named {
				lists = append(lists, &d.Properties)
			}
		}
	}
	return pick(w, lists)
}

// property returns a random property, or nil if the chosen declaration has none.
func (w *workshop) property() *schema.Property {
	if list := w.properties(); len(*list) > 0 {
		return pick(w, *list)
	}
	return nil
}

// generated returns the path of a random generated file from the last run, relative to the root of all outputs.
func (w *workshop) generated() string {
	var names []string
	for name, content := range w.tree(w.at("warm")) {
		if isGenerated(content) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return pick(w, names)
}

func detach(d schema.Decl) {
	f := d.Head().File
	f.Decls = slices.DeleteFunc(f.Decls, func(other schema.Decl) bool { return other == d })
}

func (w *workshop) sortFiles() {
	slices.SortFunc(w.pkg.Modules, func(a, b *schema.Module) int { return cmp.Compare(a.Path, b.Path) })
	for _, m := range w.pkg.Modules {
		slices.SortFunc(m.Files, func(a, b *schema.File) int { return cmp.Compare(a.Name, b.Name) })
	}
}

func (w *workshop) freshFile() string {
	w.names++
	return fmt.Sprintf("%cile%d.go", 'a'+rune(w.IntN(26)), w.names)
}

// changes lists the changes that can be made between two runs.
var changes = []struct {
	name string
	do   func(*workshop)
}{
	{"no change", func(*workshop) {}},
	{"document a declaration", func(w *workshop) { pick(w, w.decls()).Head().Doc = w.name() + " is new." }},
	{"document a file", func(w *workshop) { pick(w, w.files()).Doc = "Package " + w.name() + "." }},
	{"document a property", func(w *workshop) {
		if p := w.property(); p != nil {
			p.Doc = w.name() + "\n\nis new."
		}
	}},
	{"rename a declaration", func(w *workshop) { pick(w, w.decls()).Head().Name = w.name() }},
	{"delete a declaration", func(w *workshop) {
		if d := pick(w, w.decls()); !w.referred()[d] && len(w.decls()) > 10 {
			detach(d)
		}
	}},
	{"move a declaration", func(w *workshop) {
		d, to := pick(w, w.decls()), pick(w, w.files())
		detach(d)
		to.Decls = append(to.Decls, d)
	}},
	{"swap declarations", func(w *workshop) {
		if f := pick(w, w.files()); len(f.Decls) > 1 {
			slices.Reverse(f.Decls)
		}
	}},
	{"add a struct", func(w *workshop) {
		f := pick(w, w.files())
		f.Decls = append(f.Decls, &schema.Struct{Header: schema.Header{Name: w.name()}})
	}},
	{"add a resource", func(w *workshop) {
		f, name := pick(w, w.files()), w.name()
		f.Decls = append(f.Decls, &schema.Resource{
			Header: schema.Header{Name: strings.ToUpper(name[:1]) + name[1:]}, Token: w.pkg.Name + ":" + f.Module.Token() + ":" + name,
		})
	}},
	{"add an alias", func(w *workshop) {
		f := pick(w, w.files())
		f.Decls = append(f.Decls, &schema.Alias{Header: schema.Header{Name: w.name()}, Target: w.typ(false)})
	}},
	{"change an alias", func(w *workshop) {
		if a, ok := pick(w, w.decls()).(*schema.Alias); ok {
			a.Target = w.typ(false)
		}
	}},
	{"add a property", func(w *workshop) {
		list := w.properties()
		w.names++
		field := fmt.Sprintf("Field%d", w.names)
		*list = append(*list, &schema.Property{Field: field, Name: schema.PropertyName(field), Type: w.typ(true)})
	}},
	{"delete a property", func(w *workshop) {
		if list := w.properties(); len(*list) > 0 {
			i := w.IntN(len(*list))
			*list = slices.Delete(*list, i, i+1)
		}
	}},
	{"change a type", func(w *workshop) {
		if p := w.property(); p != nil {
			p.Type = w.typ(true)
		}
	}},
	{"change a tag", func(w *workshop) {
		if p := w.property(); p != nil {
			flag := pick(w, []*bool{&p.Optional, &p.Out, &p.In, &p.Replaces, &p.Secret})
			*flag = !*flag
			p.Pointer = p.Optional
		}
	}},
	{"rename a property", func(w *workshop) {
		if p := w.property(); p != nil {
			w.names++
			p.Name = fmt.Sprintf("property%d", w.names)
		}
	}},
	{"change an enum", func(w *workshop) {
		if e, ok := pick(w, w.decls()).(*schema.Enum); ok {
			w.names++
			name := fmt.Sprintf("%sV%d", e.Name, w.names)
			if m := pick(w, e.Members); w.IntN(2) == 0 {
				m.Name, m.Value = name, name
			} else {
				e.Members = append(e.Members, &schema.Member{Name: name, Value: name})
			}
		}
	}},
	{"rename a file", func(w *workshop) {
		pick(w, w.files()).Name = w.freshFile()
		w.sortFiles()
	}},
	{"add a file", func(w *workshop) {
		m := pick(w, w.pkg.Modules)
		m.Files = append(m.Files, &schema.File{Name: w.freshFile()})
		w.sortFiles()
	}},
	{"delete a file", func(w *workshop) {
		f := pick(w, w.files())
		if len(f.Module.Files) < 2 {
			return
		}
		m, referred := f.Module, w.referred()
		for _, d := range f.Decls {
			if referred[d] {
				return
			}
		}
		m.Files = slices.DeleteFunc(m.Files, func(other *schema.File) bool { return other == f })
	}},
	{"add a folder", func(w *workshop) {
		if len(w.pkg.Modules) < 6 {
			w.names++
			name := fmt.Sprintf("%c%d", 'a'+rune(w.IntN(26)), w.names)
			w.pkg.Modules = append(w.pkg.Modules, &schema.Module{
				Path: path.Join(pick(w, w.pkg.Modules).Path, name), GoName: name, Files: []*schema.File{{Name: w.freshFile()}},
			})
			w.sortFiles()
		}
	}},
	{"rename a folder", func(w *workshop) {
		w.names++
		pick(w, w.pkg.Modules[1:]).Path = fmt.Sprintf("%c%d", 'a'+rune(w.IntN(26)), w.names)
		w.sortFiles()
	}},
	{"rename a Go package", func(w *workshop) {
		pick(w, w.pkg.Modules).GoName = pick(w, []string{"s", "ops", "lumi", "x", "n1", "m1"})
	}},
	{"--package", func(w *workshop) { w.pkg.Name = strings.ToLower(w.name()) }},
	{"--tokens", func(w *workshop) {
		for d := range w.pkg.Decls() {
			if r, ok := d.(*schema.Resource); ok {
				r.Token = w.pkg.Name + ":" + strings.TrimSuffix(r.File.Path(), ".go") + ":" + r.Name
			}
		}
	}},
	{"another Go module", func(w *workshop) { w.module = "example.com/" + strings.ToLower(w.name()) }},
	{"another compiler", func(w *workshop) { w.compiler = w.IntN(3) }},

	{"edit an output", func(w *workshop) {
		name := w.generated()
		w.put(w.at("warm", name), w.tree(w.at("warm"))[name]+"// changed\n")
	}},
	{"cut an output", func(w *workshop) {
		name := w.generated()
		line, _, _ := strings.Cut(w.tree(w.at("warm"))[name], "\n")
		w.put(w.at("warm", name), line+"\n")
	}},
	{"delete an output", func(w *workshop) { _ = os.Remove(w.at("warm", w.generated())) }},
	{"delete a folder", func(w *workshop) { _ = os.RemoveAll(filepath.Dir(w.at("warm", w.generated()))) }},
	{"exchange outputs", func(w *workshop) {
		a, b := w.generated(), w.generated()
		tree := w.tree(w.at("warm"))
		w.put(w.at("warm", a), tree[b])
		w.put(w.at("warm", b), tree[a])
	}},
	{"a link replaces an output", func(w *workshop) {
		name := w.at("warm", w.generated())
		w.put(w.at("elsewhere"), w.tree(w.at())[strings.TrimPrefix(name, w.root+"/")])
		_ = os.Remove(name)
		_ = os.Symlink(w.at("elsewhere"), name)
	}},
	{"a stale output", func(w *workshop) {
		name := w.generated()
		w.put(w.at("warm", filepath.Dir(name), fmt.Sprintf("stale%d%s", w.names, filepath.Ext(name))), w.tree(w.at("warm"))[name])
	}},
	{"a leftover", func(w *workshop) { w.put(w.at("warm", filepath.Dir(w.generated()), ".cidlc-X.tmp"), "// Code") }},
	{"a hand-written file", func(w *workshop) {
		w.names++
		w.put(w.at("warm", filepath.Dir(w.generated()), fmt.Sprintf("mine%d.ts", w.names)), "export const mine = 1;\n")
	}},
	{"a hand-written barrel", func(w *workshop) { w.put(w.at("warm", filepath.Dir(w.generated()), "index.ts"), "export {};\n") }},
	{"a hand-written output", func(w *workshop) { w.put(w.at("warm", w.generated()), "// mine\n") }},
	{"no hand-written files", func(w *workshop) {
		for name, content := range w.tree(w.at("warm")) {
			if !isGenerated(content) {
				_ = os.Remove(w.at("warm", name))
			}
		}
	}},
	{"keep the outputs", func(w *workshop) { w.old = w.tree(w.at("warm")) }},
	{"go back to old outputs", func(w *workshop) {
		if w.old != nil {
			w.restore(w.old)
		}
	}},

	{"damage the record", func(w *workshop) {
		for name, content := range w.tree(w.at("cache")) {
			damaged := []byte(content)
			for range 20 {
				damaged[w.IntN(len(damaged))] ^= 1
			}
			w.put(w.at("cache", name), string(damaged))
		}
	}},
	{"lose the record", func(w *workshop) { _ = os.RemoveAll(w.at("cache")) }},
}
