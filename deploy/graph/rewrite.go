package graph

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// rewrite maps resources to their new form in the versions that contain them.
type rewrite struct {
	// now maps changed and moved resources to their new form, and deleted ones to nil.
	now map[*Resource]*Resource
	// names maps old URNs to new ones for resources moved in newest. It applies to every resource with an old URN, even
	// one replaced by the moved resource, since dependents may be shared.
	names names
	// newest is the version made by a deployment. It is nil if the deployment failed, in which case dependents of a
	// deleted resource still exist.
	newest *Version
}

// of returns the new form of a resource, or nil if it is deleted. Versions that share r also share the result.
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

// rewritten returns v with its changed resources, or v itself if nothing changed. Dependents of deleted resources are
// removed, and new dependencies of changed ones are added.
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
			p.Result, _ = expr.Evaluate(p.Value, outputs) // absent if it can no longer be computed
		}
	}
	return rewritten
}

// names maps the URNs of moved resources to their new ones.
type names map[urn.URN]urn.URN

// ofResource returns a resource with the new URNs, or r itself if none apply.
func (n names) ofResource(r *Resource) *Resource {
	moves := func(u urn.URN) bool { return n[u] != "" }
	if !moves(r.URN) && !slices.ContainsFunc(r.Dependencies, moves) {
		return r
	}
	return n.renamed(r)
}

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

// ofVertex returns the new target of a reference.
func (n names) ofVertex(old *lumigl.Vertex) *lumigl.Vertex {
	now, err := lumigl.NewResource(n[old.URN()])
	if err != nil { // It did not move.
		return old
	}
	return now
}

func (v *Version) with(resources []*Resource) *Version {
	other := *v
	built := NewVersion(v.VersionID, resources)
	other.resources, other.byURN = built.resources, built.byURN
	return &other
}

// InOrder sorts resources in dependency order, stably.
func InOrder(resources []*Resource) []*Resource {
	sorted := make([]*Resource, len(resources))
	for i, place := range dependencies(resources).PostOrder() {
		sorted[i] = resources[place]
	}
	return sorted
}

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
