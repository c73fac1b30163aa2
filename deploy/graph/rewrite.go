package graph

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// rewrite replaces resources in existing versions with their new form.
type rewrite struct {
	// now maps changed and moved resources to their new form, and deleted ones to nil.
	now map[*Resource]*Resource
	// names maps the old URNs of resources moved in newest to their new URNs. It applies to every resource with an old
	// URN, even a replaced one, since dependents may be shared between versions.
	names names
	// newest is the version created by the deployment. It is nil after a failed deployment, in which case dependents of
	// a deleted resource still exist.
	newest *Version
}

// of returns the new form of a resource, or nil if it is deleted. It returns the same pointer for every version that
// shares r.
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

// rewritten returns v with resources replaced by their new form, or v itself if nothing changed. It drops dependents of
// deleted resources and adds new dependencies of changed ones.
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

// names maps the old URNs of moved resources to their new URNs.
type names map[urn.URN]urn.URN

// ofResource returns r with new URNs, or r itself if neither r nor its dependencies moved.
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

// ofVertex returns the new target of a reference, or old if the target did not move.
func (n names) ofVertex(old *lumigl.Vertex) *lumigl.Vertex {
	now, err := lumigl.NewResource(n[old.URN()])
	if err != nil { // The target did not move.
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

// InOrder returns the resources in dependency order. The sort is stable.
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
