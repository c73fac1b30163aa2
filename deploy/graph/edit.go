package graph

import (
	"maps"
	"slices"
)

// all returns all versions: modules sorted, and the versions of each, oldest first.
func (g *Graph) all() []*Version {
	var all []*Version
	for _, module := range slices.Sorted(maps.Keys(g.versions)) {
		all = append(all, g.versions[module]...)
	}
	return all
}

// edges returns the edges of all versions, and where they lead now.
func (g *Graph) edges() []Binding {
	var edges []Binding
	for _, from := range g.all() {
		for i, e := range from.Uses {
			edges = append(edges, Binding{From: from.VersionID, Edge: e, Was: e.To, place: i})
		}
	}
	return edges
}

// clone returns a graph in which put, set and the like replace what they change. It shares all versions with g.
func (g *Graph) clone() *Graph {
	other := *g
	other.newest, other.versions, other.pending = copied(g.newest), copied(g.versions), copied(g.pending)
	return &other
}

// copied returns a copy that is never nil.
func copied[K comparable, V any](m map[K]V) map[K]V { return maps.Collect(maps.All(m)) }

// set sets what a map has of a module. None leaves no trace.
func set[T any](m map[string][]T, module string, all []T) {
	m[module] = all
	if len(all) == 0 {
		delete(m, module)
	}
}

// put replaces the version that has the ID of v.
func (g *Graph) put(v *Version) {
	versions := slices.Clone(g.versions[v.Module])
	versions[slices.IndexFunc(versions, func(old *Version) bool { return old.VersionID == v.VersionID })] = v
	g.versions[v.Module] = versions
}

// putEdges replaces the edges that bindings are about, which are sorted by version.
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

// breakEdge marks an edge as broken.
func (g *Graph) breakEdge(b Binding, reason string) {
	b.Edge.Broken = reason
	g.putEdges(b)
}

// recheck marks the edges to a version as broken that it does not fulfill any more.
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

// led returns the versions that the root or another version leads to.
func (g *Graph) led() map[VersionID]bool {
	led := map[VersionID]bool{}
	for _, id := range g.newest {
		led[id] = true
	}
	for _, b := range g.edges() {
		led[b.Edge.To] = true
	}
	return led
}

// Unused returns the modules with versions that nothing leads to, sorted. A partial version waits for its deployment.
func (g *Graph) Unused() []string {
	led := g.led()
	var modules []string
	for _, v := range g.all() {
		if !led[v.VersionID] && !v.Partial {
			modules = append(modules, v.Module)
		}
	}
	return slices.Compact(modules)
}
