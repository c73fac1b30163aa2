package schema

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Link completes a model by setting back references and computed fields. Call it once, after building the package.
func (p *Package) Link() {
	p.attach()
	for _, m := range p.Modules {
		m.Imports = m.imports()
	}
}

// attach sets back references and the fields computed from a single declaration.
func (p *Package) attach() {
	for _, other := range p.Packages {
		other.attach()
		for _, m := range other.Modules {
			m.Foreign = other
		}
	}
	for _, m := range p.Modules {
		for _, f := range m.Files {
			f.Module = m
			for _, d := range f.Decls {
				h := d.Head()
				h.File, h.Kind = f, kindOf(d)
				if c, ok := d.(*Const); ok {
					c.Type = fmt.Sprintf("%T", c.Value)
				}
			}
		}
	}
}

// kindOf returns the kind of a declaration, which is its Go type name in lower case.
func kindOf(d Decl) string { return strings.ToLower(reflect.TypeOf(d).Elem().Name()) }

// imports returns the modules that m uses. It includes the modules of alias targets, since generators resolve aliases.
func (m *Module) imports() []*Module {
	modules := map[*Module]bool{}
	visit := func(ref *Ref) bool {
		if _, capability := ref.Decl.(*Resource); !capability {
			modules[ref.Decl.Head().File.Module] = true
		}
		return true
	}
	aliases := map[*Alias]bool{}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			if a, ok := d.(*Alias); ok {
				refs(a.Target, aliases, visit)
			}
			for _, p := range Properties(d) {
				refs(p.Type, aliases, visit)
			}
		}
	}
	delete(modules, m)
	return slices.SortedFunc(maps.Keys(modules), func(a, b *Module) int { return cmp.Compare(a.Path, b.Path) })
}
