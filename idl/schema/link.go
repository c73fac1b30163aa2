package schema

import (
	"cmp"
	"maps"
	"slices"
)

// Link completes a model whose declarations and references are in place: it sets what points upwards, and what is
// computed from the whole. Whoever builds a Package calls it once, before anybody reads it.
func (p *Package) Link() {
	for _, m := range p.Modules {
		for _, f := range m.Files {
			f.Module = m
			for _, d := range f.Decls {
				d.Head().File = f
			}
		}
	}
	for _, m := range p.Modules {
		m.Imports = m.imports()
	}
}

// imports finds the modules that m needs. Generators look through aliases, so that what an alias of another module stands
// for counts as used here.
func (m *Module) imports() []*Module {
	modules := map[*Module]bool{m: true}
	aliases := map[*Alias]bool{}
	var visit func(t Type)
	visit = func(t Type) {
		ref, ok := t.(*Ref)
		if !ok {
			return
		}
		if _, capability := ref.Decl.(*Resource); capability {
			return
		}
		modules[ref.Decl.Head().File.Module] = true
		if a, ok := ref.Decl.(*Alias); ok && !aliases[a] {
			aliases[a] = true
			Walk(a.Target, visit)
		}
	}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			if a, ok := d.(*Alias); ok {
				Walk(a.Target, visit)
			}
			for _, prop := range Properties(d) {
				Walk(prop.Type, visit)
			}
		}
	}
	delete(modules, m)
	return slices.SortedFunc(maps.Keys(modules), func(a, b *Module) int { return cmp.Compare(a.Path, b.Path) })
}
