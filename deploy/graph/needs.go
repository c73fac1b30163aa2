package graph

import (
	"slices"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// Needs returns the resources of a version needed by reachable users, with the edges that need each of them. An edge
// needs the sources of its value and their transitive dependencies. If the value contains a verb, the edge needs all
// resources.
func (g *Graph) Needs(id VersionID) map[*Resource][]Binding {
	needed := map[*Resource][]Binding{}
	reached := g.reached()
	for _, b := range g.edges() {
		if b.Edge.To == id && reached[b.From] {
			for _, r := range g.Version(id).neededFor(b.Edge) {
				needed[r] = append(needed[r], b)
			}
		}
	}
	return needed
}

// neededFor returns the resources that an edge to v needs.
func (v *Version) neededFor(e Edge) []*Resource {
	p := v.Provided(e.Name)
	if e.Type.hasVerb() || p != nil && p.Type.hasVerb() {
		return v.resources
	}
	return v.withDependencies(v.sources(e.Name))
}

// sources returns the version's resources referenced by a provided value, directly or through a look-up or a call.
func (v *Version) sources(name string) []*Resource {
	p := v.Provided(name)
	if p == nil {
		return nil
	}
	var sources []*Resource
	add := func(u urn.URN) (r *Resource) {
		if r = v.byURN[u]; r != nil && !slices.Contains(sources, r) {
			sources = append(sources, r)
		}
		return r
	}
	for vertex := range p.Value.References() {
		if r := add(urn.URN(vertex.Key())); r != nil && r.IsRead() {
			for _, u := range r.Dependencies {
				add(u)
			}
		}
	}
	return sources
}

// withDependencies appends the transitive dependencies of resources, as found in the version.
func (v *Version) withDependencies(resources []*Resource) []*Resource {
	has := make(map[urn.URN]bool, len(resources))
	for _, r := range resources {
		has[r.URN] = true
	}
	for i := 0; i < len(resources); i++ {
		for _, u := range resources[i].Dependencies {
			if r := v.byURN[u]; r != nil && !has[u] {
				has[u] = true
				resources = append(resources, r)
			}
		}
	}
	return resources
}

// isVerb reports whether the type is a verb, whose values are called rather than read.
func (t Type) isVerb() bool { return t.Form.Get("verb").Exists() }

// hasVerb reports whether the type is or contains a verb.
func (t Type) hasVerb() bool {
	switch kind, of := t.parts(); kind {
	case "verb":
		return true
	case "list", "map":
		return Type{of}.hasVerb()
	case "object":
		for _, property := range of.Members() {
			if (Type{property}).hasVerb() {
				return true
			}
		}
	}
	return false
}
