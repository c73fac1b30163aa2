package graph

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Find returns the resource with the given URN, deployment, and ID, or nil if there is none. The combination is unique
// in a graph.
func (g *Graph) Find(u urn.URN, d Deployment, id string) *Resource {
	for _, v := range slices.Backward(g.versions[packageOf(u)]) {
		if r := v.Resource(u); r != nil && r.Deployment == d && r.ID == id {
			return r
		}
	}
	for _, p := range g.pending[packageOf(u)] {
		if r := p.Resource; r.URN == u && r.Deployment == d && r.ID == id {
			return r
		}
	}
	return nil
}

// Configuration returns the provider configuration used to deploy a resource. It is absent if the resource is not in
// the graph.
func (g *Graph) Configuration(r *Resource) lumigl.Value {
	module := packageOf(r.URN)
	for _, p := range g.pending[module] {
		if p.Resource == r {
			return p.Configuration
		}
	}
	for _, v := range g.versions[module] {
		if v.Holds(r) {
			return v.Configuration
		}
	}
	return lumigl.Value{}
}

// References returns the existing resources referenced by r's checked properties, by URN.
func (g *Graph) References(r *Resource) map[urn.URN]*Resource {
	var all map[urn.URN]*Resource
	for target := range r.Checked.References() {
		if to := g.target(r, target.URN()); to != nil {
			if all == nil {
				all = map[urn.URN]*Resource{}
			}
			all[to.URN] = to
		}
	}
	return all
}

// target returns the resource with URN u that a resource refers to, or nil. It looks in the versions that contain the
// referring resource, then in the versions that they use. A resource of a failed deployment may be in no version that
// resolves the reference, so target finally looks for the newest resource with that URN, or a pending one.
func (g *Graph) target(of *Resource, u urn.URN) *Resource {
	var used, any *Resource
	for _, v := range slices.Backward(g.versions[packageOf(of.URN)]) {
		if r := v.Resource(u); r != nil && v.Holds(of) {
			return r
		}
		if used == nil && v.Holds(of) {
			used = g.Used(v.Uses, u)
		}
	}
	for _, v := range g.versions[packageOf(u)] {
		if r := v.Resource(u); r != nil {
			any = r
		}
	}
	for _, p := range g.pending[packageOf(u)] {
		if any == nil && p.Resource.URN == u {
			any = p.Resource
		}
	}
	if used != nil {
		return used
	}
	return any
}

// Used returns the resource with URN u in the versions that edges refer to, or nil. If several versions have one, edges
// whose values refer to it take precedence, and then the newest version.
func (g *Graph) Used(uses []Edge, u urn.URN) (found *Resource) {
	newest, isProvided := Deployment(0), false
	for _, e := range uses {
		v := g.Version(e.To)
		if v == nil || v.Resource(u) == nil {
			continue
		}
		provides := v.Provided(e.Name).refersTo(u)
		if found == nil || provides && !isProvided || provides == isProvided && v.Deployment > newest {
			found, newest, isProvided = v.Resource(u), v.Deployment, provides
		}
	}
	return found
}

// refersTo reports whether the value is or contains a reference to the resource u itself.
func (p *Provided) refersTo(u urn.URN) bool {
	if p != nil {
		for target, property := range p.Result.References() {
			if target.URN() == u && property == "" {
				return true
			}
		}
	}
	return false
}

// Rebase converts an update of graph from to an update of graph to, which must contain equal resources of the module.
func (u Update) Rebase(from, to *Graph) Update {
	module := u.Version.Module
	same := func(r *Resource) *Resource {
		isOf := slices.ContainsFunc(from.versions[module], func(v *Version) bool { return v.Holds(r) }) ||
			slices.ContainsFunc(from.pending[module], func(p Pending) bool { return p.Resource == r })
		if now := to.Find(r.URN, r.Deployment, r.ID); isOf && now != nil {
			return now
		}
		return r
	}
	became := map[*Resource]*Resource{}
	for old, now := range maps.All(u.Became) {
		became[same(old)] = now
	}
	u.Became, u.Removed = became, slices.Clone(u.Removed)
	for i, r := range u.Removed {
		u.Removed[i] = same(r)
	}
	resources := slices.Clone(u.Version.resources)
	for i, r := range resources {
		resources[i] = same(r)
	}
	u.Version = u.Version.with(resources)
	return u
}
