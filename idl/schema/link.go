package schema

import (
	"cmp"
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

func (m *Module) imports() []*Module {
	seen := map[*Module]bool{m: true}
	var found []*Module
	visit := func(t Type) {
		ref, ok := t.(*Ref)
		if !ok {
			return
		}
		if _, capability := ref.Decl.(*Resource); capability {
			return
		}
		if other := ref.Decl.Head().File.Module; !seen[other] {
			seen[other] = true
			found = append(found, other)
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
	slices.SortFunc(found, func(a, b *Module) int { return cmp.Compare(a.Path, b.Path) })
	return found
}
