package graph

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// rewrite is what became of resources, to be written into the versions that hold them.
type rewrite struct {
	// now has what resources that changed or moved are now, and nil for those that are deleted.
	now map[*Resource]*Resource
	// names has the new URNs of what moved to newest, for all that versions hold under the old ones, such as a resource that
	// the one which moved had replaced: what depends on either may be shared.
	names names
	// newest is the version that a deployment made. It is nil for one that failed: what depends on a resource that was
	// deleted is still there then.
	newest *Version
}

// of returns what a resource is now, or nil if it is deleted. Versions that share it still do.
func (w *rewrite) of(r *Resource) *Resource {
	if now, known := w.now[r]; known {
		return now
	}
	if len(w.names) == 0 || w.newest.Holds(r) {
		return r
	}
	now := w.names.ofResource(r)
	if now != r {
		w.now[r] = now
	}
	return now
}

// rewritten returns a version of g as it is now, or the same one if nothing in it changed. With a resource that is deleted
// leaves what depends on it, and with one that changed comes what that depends on now.
func (w *rewrite) rewritten(g *Graph, v *Version) *Version {
	changes := func(r *Resource) bool { return w.of(r) != r }
	if !slices.ContainsFunc(v.resources, changes) {
		return v
	}
	var resources []*Resource
	left := map[urn.URN]bool{}
	for _, r := range v.resources {
		now := w.of(r)
		if now == nil || w.newest != nil && slices.ContainsFunc(r.Dependencies, func(u urn.URN) bool { return left[u] }) {
			left[r.URN] = true
			continue
		}
		resources = append(resources, now)
	}
	if w.newest != nil {
		resources = w.newest.withDependencies(resources)
	}
	rewritten := v.with(InOrder(resources))
	rewritten.Provides = slices.Clone(v.Provides)
	outputs := g.Resolve(v.Uses, func(vertex *lumigl.Vertex) *Resource { return rewritten.Resource(vertex.URN()) })
	for i := range rewritten.Provides {
		p := &rewritten.Provides[i]
		if slices.ContainsFunc(v.sources(p.Name), changes) {
			p.Value = p.Value.Retarget(w.names.ofVertex)
			p.Result, _ = expr.Evaluate(p.Value, outputs) // Absent if it cannot be computed any more.
		}
	}
	return rewritten
}

// names has the new URNs of resources that moved.
type names map[urn.URN]urn.URN

// ofResource returns a resource with the new URNs, or the same one if it has none.
func (n names) ofResource(r *Resource) *Resource {
	moves := func(u urn.URN) bool { return n[u] != "" }
	if !moves(r.URN) && !slices.ContainsFunc(r.Dependencies, moves) {
		return r
	}
	return n.renamed(r)
}

// renamed returns a copy of a resource with the new URNs.
func (n names) renamed(r *Resource) *Resource {
	now := r.Retarget(n.ofVertex)
	now.URN = cmp.Or(n[r.URN], r.URN)
	now.Dependencies = slices.Clone(r.Dependencies)
	for i, u := range now.Dependencies {
		now.Dependencies[i] = cmp.Or(n[u], u)
	}
	slices.Sort(now.Dependencies)
	return now
}

// ofVertex returns what a reference leads to from now on.
func (n names) ofVertex(old *lumigl.Vertex) *lumigl.Vertex {
	now, err := lumigl.NewResource(n[old.URN()])
	if err != nil { // It did not move.
		return old
	}
	return now
}

// with returns the version with other resources.
func (v *Version) with(resources []*Resource) *Version {
	other := *v
	built := NewVersion(v.VersionID, resources)
	other.resources, other.byURN = built.resources, built.byURN
	return &other
}

// InOrder sorts resources so that each comes after those that it depends on. Otherwise they stay in order.
func InOrder(resources []*Resource) []*Resource {
	sorted := make([]*Resource, len(resources))
	for i, place := range dependencies(resources).PostOrder() {
		sorted[i] = resources[place]
	}
	return sorted
}

// dependencies returns what each of some resources depends on among them.
func dependencies(resources []*Resource) (g dag.Graph) {
	places := make(map[urn.URN]int32, len(resources))
	for i, r := range resources {
		places[r.URN] = int32(i)
	}
	for _, r := range resources {
		for _, u := range r.Dependencies {
			if place, ok := places[u]; ok {
				g.To = append(g.To, place)
			}
		}
		g.End()
	}
	return g
}
