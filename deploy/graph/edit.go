package graph

import (
	"maps"
	"slices"
)

// all returns the versions of all modules, sorted by module and deployment.
func (g *Graph) all() []*Version {
	var all []*Version
	for _, module := range slices.Sorted(maps.Keys(g.versions)) {
		all = append(all, g.versions[module]...)
	}
	return all
}

// edges returns the edges of all versions with their current targets.
func (g *Graph) edges() []Binding {
	var edges []Binding
	for _, from := range g.all() {
		for i, e := range from.Uses {
			edges = append(edges, Binding{From: from.VersionID, Edge: e, Was: e.To, place: i})
		}
	}
	return edges
}

// clone returns a mutable copy of the graph that shares its versions.
func (g *Graph) clone() *Graph {
	other := *g
	other.newest, other.versions, other.pending = copied(g.newest), copied(g.versions), copied(g.pending)
	return &other
}

// copied returns a shallow copy of m, which is never nil.
func copied[K comparable, V any](m map[K]V) map[K]V { return maps.Collect(maps.All(m)) }

// set stores all under a module, or deletes the entry if all is empty.
func set[T any](m map[string][]T, module string, all []T) {
	m[module] = all
	if len(all) == 0 {
		delete(m, module)
	}
}

// put replaces the version with the same ID as v.
func (g *Graph) put(v *Version) {
	versions := slices.Clone(g.versions[v.Module])
	versions[slices.IndexFunc(versions, func(old *Version) bool { return old.VersionID == v.VersionID })] = v
	g.versions[v.Module] = versions
}

// putEdges stores the edges of bindings, which must be grouped by version.
func (g *Graph) putEdges(bindings ...Binding) {
	for len(bindings) > 0 {
		from := *g.Version(bindings[0].From)
		from.Uses = slices.Clone(from.Uses)
		for len(bindings) > 0 && bindings[0].From == from.VersionID {
			from.Uses[bindings[0].place] = bindings[0].Edge
			bindings = bindings[1:]
		}
		g.put(&from)
	}
}

func (g *Graph) breakEdge(b Binding, reason string) {
	b.Edge.Broken = reason
	g.putEdges(b)
}

// recheck marks edges to v as broken if v does not satisfy their constraints.
func (g *Graph) recheck(v *Version) {
	var broken []Binding
	for _, b := range g.edges() {
		if b.Edge.To != v.VersionID || b.Edge.Broken != "" {
			continue
		}
		if b.Edge.Broken = v.Fulfills(b.Edge.Constraint).Reason; b.Edge.Broken != "" {
			broken = append(broken, b)
		}
	}
	g.putEdges(broken...)
}

// referenced returns the IDs of versions referenced by the root or another version.
func (g *Graph) referenced() map[VersionID]bool {
	referenced := map[VersionID]bool{}
	for _, id := range g.newest {
		referenced[id] = true
	}
	for _, b := range g.edges() {
		referenced[b.Edge.To] = true
	}
	return referenced
}

// Unused returns the modules with unreferenced versions, or with held deletions that no longer have to wait, sorted.
// Partial versions are not counted, since they wait for a deployment to finish.
func (g *Graph) Unused() []string {
	referenced := g.referenced()
	var modules []string
	for _, v := range g.all() {
		if !referenced[v.VersionID] && !v.Partial {
			modules = append(modules, v.Module)
		}
	}
	for module, pending := range g.pending {
		var held []*Resource
		for _, p := range pending {
			if p.Held {
				held = append(held, p.Resource)
			}
		}
		if len(g.waiting(module, held)) < len(held) {
			modules = append(modules, module)
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}
