package graph

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// Changes returns the differences between the [Graph.LumiGL] forms of two graphs: put holds the added and changed
// vertices, sorted by key, and gone the keys of the removed vertices, sorted. Versions and resources are compared by
// identity, so an equal copy counts as changed. A graph without modules counts as empty, without even a root. The cost
// is proportional to the number of changes, plus a constant per version.
func Changes(before, after *Graph) (put []*lumigl.Vertex, gone []string) {
	w := writer{&lumigl.Graph{}}
	after.unshared(before, w.put)
	for v := range w.doc.Vertices() {
		if v.Properties.Exists() { // A vertex without properties is only the target of a reference.
			put = append(put, v)
		}
	}
	before.unshared(after, func(key string, _ any) {
		if w.doc.Vertex(key) == nil {
			gone = append(gone, key)
		}
	})
	slices.SortFunc(put, func(a, b *lumigl.Vertex) int { return cmp.Compare(a.Key(), b.Key()) })
	slices.Sort(gone)
	return put, slices.Compact(gone)
}

// unshared calls f with the key and the Go value of each vertex of g that is not in other. It may call f twice for a
// vertex.
func (g *Graph) unshared(other *Graph, f func(key string, x any)) {
	modules := g.Modules()
	for _, module := range modules {
		for _, v := range g.versions[module] {
			if slices.Contains(other.versions[module], v) {
				continue
			}
			f(v.String(), versionVertex{Version: *v, Resources: v.resources})
			for _, r := range v.resources {
				if !slices.ContainsFunc(other.versions[module], func(v *Version) bool { return v.Holds(r) }) {
					f(r.Key(), *r)
				}
			}
		}
		shared := map[*Resource]bool{}
		for _, p := range other.pending[module] {
			shared[p.Resource] = true
		}
		for _, p := range g.pending[module] {
			if !shared[p.Resource] {
				f(keyWithID(p.Resource), *p.Resource)
			}
		}
	}
	if root := g.root(); len(modules) > 0 && (len(other.Modules()) == 0 || !root.equal(other.root())) {
		f("root", root)
	}
}

func (r rootVertex) equal(other rootVertex) bool {
	return r.Environment == other.Environment && r.Lineage == other.Lineage && slices.Equal(r.Modules, other.Modules) &&
		slices.EqualFunc(r.Pending, other.Pending, func(a, b Pending) bool {
			return a.Resource == b.Resource && a.Held == b.Held && a.Configuration.Equal(b.Configuration)
		})
}

// LumiGL returns the properties of the resource's vertex in [Graph.LumiGL].
func (r *Resource) LumiGL() lumigl.Value { return writer{&lumigl.Graph{}}.value(*r) }
