package graph

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Renamed is a property that was renamed. Was lists its former names, most recent first. The state may contain any of
// them.
type Renamed struct {
	Name string
	Was  []string
}

// WithNames returns the graph with the current names of renamed properties, both in a module's resources and in
// references to them. It returns g if there are no changes.
func (g *Graph) WithNames(module string, renamed map[tokens.Type][]Renamed) *Graph {
	if len(renamed) == 0 {
		return g
	}
	w := naming{renamed: renamed, now: map[*Resource]*Resource{}}
	versions, pending := slices.Clone(g.versions[module]), slices.Clone(g.pending[module])
	for i, v := range versions {
		versions[i] = w.version(v)
	}
	for i, p := range pending {
		pending[i].Resource = w.resource(p.Resource)
	}
	if w.changes == 0 {
		return g
	}
	after := g.clone()
	set(after.versions, module, versions)
	set(after.pending, module, pending)
	return after
}

// naming replaces former property names with current ones.
type naming struct {
	renamed map[tokens.Type][]Renamed
	now     map[*Resource]*Resource // shared by versions
	changes int
}

func (w *naming) version(v *Version) *Version {
	resources := slices.Clone(v.resources)
	for i, r := range resources {
		resources[i] = w.resource(r)
	}
	now := v.with(resources)
	now.Provides = slices.Clone(v.Provides)
	for i := range now.Provides {
		now.Provides[i].Value = w.references(now.Provides[i].Value)
	}
	return now
}

func (w *naming) resource(r *Resource) *Resource {
	if now, known := w.now[r]; known {
		return now
	}
	before, now := w.changes, *r
	now.Inputs = w.references(r.Inputs)
	if renamed := w.renamed[r.Type()]; renamed != nil {
		for _, v := range []*lumigl.Value{&now.Inputs, &now.Checked, &now.Outputs} {
			*v = w.properties(*v, renamed)
		}
		now.Unread = slices.Clone(r.Unread)
		for i, name := range now.Unread {
			now.Unread[i] = nameOf(name, renamed)
		}
		now.Drifted = slices.Clone(r.Drifted)
		for i, name := range r.DriftedProperties() {
			now.Drifted[i] = nameOf(name, renamed) + r.Drifted[i][len(name):]
		}
	}
	if w.now[r] = &now; w.changes == before {
		w.now[r] = r // keep the identity of an unchanged resource
	}
	return w.now[r]
}

// properties returns v with former keys replaced by current ones. An existing value under a current key takes
// precedence.
func (w *naming) properties(v lumigl.Value, renamed []Renamed) lumigl.Value {
	for _, p := range renamed {
		for _, was := range p.Was {
			if stored := v.Get(was); stored.Exists() && !v.Get(p.Name).Exists() {
				v = v.With(was, lumigl.Value{}).With(p.Name, stored)
				w.changes++
			}
		}
	}
	return v
}

// references returns v with former property names in references replaced by current ones.
func (w *naming) references(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		target, property, _ := part.Target()
		name := property
		if property != "" {
			name = nameOf(property, w.renamed[target.URN().Type()])
		}
		if name == property {
			return part, false
		}
		w.changes++
		return lumigl.PropertyOf(target, name), true
	})
}

// nameOf returns the current name of a property, which may be name itself.
func nameOf(name string, renamed []Renamed) string {
	for _, p := range renamed {
		if slices.Contains(p.Was, name) {
			return p.Name
		}
	}
	return name
}
