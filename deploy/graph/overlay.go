package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Result is the effect of a failed deployment on a resource: it created New, deleted Old, or changed Old to New in
// place. If both are set but their IDs differ, New was created as the replacement of Old, which still exists.
type Result struct{ Old, New *Resource }

func (r Result) creates() bool { return r.New != nil && (r.Old == nil || r.Old.ID != r.New.ID) }

// Overlay returns the graph updated with the results of a failed deployment, as the basis of the next plan or of an
// abort. Resources changed in place are updated in all versions, but keep their URNs, since moves take effect only when
// a deployment succeeds. Deleted resources are removed from all versions, which breaks the edges that need them.
// Created resources are added to a partial version. Each Result.Old must be in the graph or be the New of an earlier
// result. configuration is the deployment's provider configuration.
func (g *Graph) Overlay(failed VersionID, configuration lumigl.Value, results []Result) *Graph {
	now, created := outcome(results)
	w := rewrite{now: now}
	after := g.clone()
	for _, v := range g.versions[failed.Module] {
		rewritten := w.rewritten(g, v)
		if rewritten == v {
			continue
		}
		after.put(rewritten)
		needed := g.Needs(v.VersionID)
		for _, r := range v.resources {
			for _, b := range needed[r] {
				if w.of(r) == nil {
					after.breakEdge(b, fmt.Sprintf("%s deleted %s", failed, r.Key()))
				}
			}
		}
		after.recheck(rewritten)
	}
	isDeleted := func(p Pending) bool { return w.of(p.Resource) == nil }
	set(after.pending, failed.Module, slices.DeleteFunc(slices.Clone(g.pending[failed.Module]), isDeleted))
	return after.withPartial(failed, configuration, created)
}

// outcome combines results. It returns a map from each resource to its final form, nil if deleted, and the list of
// created resources.
func outcome(results []Result) (now map[*Resource]*Resource, created []*Resource) {
	moves := names{}
	for _, r := range results {
		if !r.creates() && r.New != nil && r.Old.URN != r.New.URN {
			moves[r.New.URN] = r.Old.URN
		}
	}
	now = map[*Resource]*Resource{}
	for _, r := range slices.Backward(results) {
		last, changedAgain := now[r.New]
		if !changedAgain && r.New != nil {
			last = moves.ofResource(r.New)
			if last.Provisioner != "" && last.URN != r.New.URN { // The provisioner knows the new URN, so force another call.
				moved := *last
				moved.Inputs, last = lumigl.Value{}, &moved
			}
		}
		if !r.creates() {
			now[r.Old] = last
		} else if last != nil {
			created = append(created, last)
		}
	}
	slices.Reverse(created)
	return now, created
}

// withPartial returns the graph with created resources added to the partial version of a failed deployment. If two
// resources have the same URN, the first becomes pending.
func (g *Graph) withPartial(failed VersionID, configuration lumigl.Value, created []*Resource) *Graph {
	partial := &Version{VersionID: failed, Partial: true, Configuration: configuration}
	var versions []*Version
	for _, v := range g.versions[failed.Module] {
		switch {
		case v.VersionID == failed:
			partial = v
		case !v.Partial || v.Len() > 0:
			versions = append(versions, v)
		}
	}
	var pending []Pending
	held := map[urn.URN]*Resource{}
	for _, r := range slices.Concat(partial.resources, created) {
		if first := held[r.URN]; first != nil {
			pending = append(pending, Pending{Resource: first, Configuration: partial.Configuration})
		}
		held[r.URN] = r
	}
	if len(held) > 0 {
		resources := slices.SortedFunc(maps.Values(held), func(a, b *Resource) int { return cmp.Compare(a.URN, b.URN) })
		versions = append(versions, partial.with(InOrder(resources)))
	}
	after := g.clone()
	set(after.versions, failed.Module, versions)
	return after.Leave(failed.Module, pending...)
}

// Leave returns the graph with additional pending resources, which the module's next deployment or cleanup will delete.
// Look-ups are kept while another pending resource refers to them, and then dropped.
func (g *Graph) Leave(module string, pending ...Pending) *Graph {
	all := slices.Clone(g.pending[module])
	for _, p := range pending {
		if !slices.ContainsFunc(all, func(other Pending) bool { return other.Resource == p.Resource }) {
			all = append(all, p)
		}
	}
	isIdle := func(p Pending) bool {
		return p.Resource.IsRead() && !slices.ContainsFunc(all, func(by Pending) bool { return by.Resource.refersTo(p.Resource.URN) })
	}
	after := g.clone()
	set(after.pending, module, slices.DeleteFunc(slices.Clone(all), isIdle))
	return after
}

// Leaving returns p, followed by the look-ups that its resource refers to and that no version of after contains any
// longer. The deletion needs them, too.
func (g *Graph) Leaving(after *Graph, p Pending) []Pending {
	all := []Pending{p}
	references := g.References(p.Resource)
	for _, u := range slices.Sorted(maps.Keys(references)) {
		if to := references[u]; to.IsRead() && after.Find(to.URN, to.Deployment, to.ID) != to {
			all = append(all, Pending{Resource: to, Configuration: g.Configuration(to)})
		}
	}
	return all
}

// Abandon returns the graph with all resources created by a module's failed deployments moved to pending.
func (g *Graph) Abandon(module string) *Graph {
	after := g.clone()
	var versions []*Version
	var pending []Pending
	for _, v := range g.versions[module] {
		if !v.Partial {
			versions = append(versions, v)
			continue
		}
		for _, r := range v.resources {
			pending = append(pending, Pending{Resource: r, Configuration: v.Configuration})
		}
	}
	set(after.versions, module, versions)
	return after.Leave(module, pending...)
}
