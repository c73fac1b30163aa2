package graph

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Renamed is a property that had other names, the last one first. State may have it under one of these.
type Renamed struct {
	Name string
	Was  []string
}

// WithNames returns the graph with the properties of a module's resources, and references to them, under the names that
// they have now. It is the same graph if they have them already.
func (g *Graph) WithNames(module string, renamed map[tokens.Type][]Renamed) *Graph {
	if len(renamed) == 0 {
		return g
	}
	w := naming{renamed: renamed, now: map[*Resource]*Resource{}}
	after := g.clone()
	for _, v := range g.versions[module] {
		after.put(w.version(v))
	}
	set(after.pending, module, slices.Clone(g.pending[module]))
	for i, p := range after.pending[module] {
		after.pending[module][i].Resource = w.resource(p.Resource)
	}
	if !w.changed {
		return g
	}
	return after
}

// naming gives properties their names.
type naming struct {
	renamed map[tokens.Type][]Renamed
	now     map[*Resource]*Resource // which versions share
	changed bool
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
	now := *r
	now.Inputs = w.references(r.Inputs)
	if renamed := w.renamed[r.Type()]; renamed != nil {
		for _, v := range []*lumigl.Value{&now.Inputs, &now.Checked, &now.Outputs} {
			*v = w.properties(*v, renamed)
		}
		now.Unread = slices.Clone(r.Unread)
		for i, name := range now.Unread {
			now.Unread[i] = nameOf(name, renamed)
		}
	}
	w.now[r] = &now
	return &now
}

// properties returns properties under their names. What is there under the name already stays.
func (w *naming) properties(v lumigl.Value, renamed []Renamed) lumigl.Value {
	for _, p := range renamed {
		for _, was := range p.Was {
			if stored := v.Get(was); stored.Exists() && !v.Get(p.Name).Exists() {
				v, w.changed = v.With(was, lumigl.Value{}).With(p.Name, stored), true
			}
		}
	}
	return v
}

// references returns a value with references to properties by their names.
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
		w.changed = true
		return lumigl.PropertyOf(target, name), true
	})
}

// nameOf returns the name that a property has now.
func nameOf(name string, renamed []Renamed) string {
	for _, p := range renamed {
		if slices.Contains(p.Was, name) {
			return p.Name
		}
	}
	return name
}
