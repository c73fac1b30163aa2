package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Cleanup returns the transition that removes a module's unreferenced versions and the resources found only in them.
// The transition's Cleanups lists the modules that still have unreferenced versions.
func (g *Graph) Cleanup(module string) *Transition {
	referenced := g.referenced()
	var left []*Version
	for _, v := range g.versions[module] {
		if referenced[v.VersionID] || v.Partial {
			left = append(left, v)
		}
	}
	return g.reduce(module, left)
}

// Destroy returns the transition that removes a module. A version used by a version pending cleanup is kept without its
// resources. It returns a *[RefusedError] if the module does not exist or is used by a reachable version of another
// module.
func (g *Graph) Destroy(module string) (*Transition, error) {
	if g.Newest(module) == nil {
		problem := fmt.Sprintf("module %s not found", module)
		switch {
		case len(g.versions[module]) > 0:
			problem = fmt.Sprintf("%s has only resources of a failed deployment: run 'lumi abort %[1]s' to delete them", module)
		case len(g.pending[module]) > 0:
			problem = fmt.Sprintf("%s has only resources that could not be deleted: run 'lumi retry %[1]s' to try again", module)
		}
		return nil, &RefusedError{Problems: []string{problem}}
	}
	var problems []string
	reached := g.reached()
	for _, b := range g.edges() {
		user := b.From.Module
		problem := fmt.Sprintf("%s uses %s.%s: deploy %[1]s without it, or destroy %[1]s first", user, module, b.Edge.Name)
		if b.Edge.To.Module == module && reached[b.From] && !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	if problems != nil {
		return nil, &RefusedError{Problems: problems}
	}
	other := g.clone()
	delete(other.newest, module)
	referenced := other.referenced()
	var left []*Version
	for _, v := range g.versions[module] {
		if referenced[v.VersionID] {
			left = append(left, v.with(nil))
		}
	}
	return other.reduce(module, left), nil
}

// reduce returns the transition that removes all versions of a module except those in left, and all pending resources.
func (g *Graph) reduce(module string, left []*Version) *Transition {
	after := g.clone()
	set(after.versions, module, left)
	delete(after.pending, module)
	same := func(r *Resource) *Resource { return r }
	t := &Transition{Graph: after, Deleted: g.deleted(module, left, same)}
	t.hold(g, module, nil)
	t.Cleanups = t.Graph.Unused()
	return t
}

// hold moves the resources whose deletion must wait from Deleted to Held, and makes them pending. Removed resources are
// never held.
func (t *Transition) hold(before *Graph, module string, removed []*Resource) {
	isRemoved := func(r *Resource) bool { return slices.Contains(removed, r) }
	t.Held = t.Graph.waiting(module, slices.DeleteFunc(slices.Clone(t.Deleted), isRemoved))
	isHeld := func(r *Resource) bool { return slices.Contains(t.Held, r) }
	t.Deleted = slices.DeleteFunc(t.Deleted, isHeld)
	var pending []Pending
	for _, r := range t.Held {
		configuration := before.Configuration(r)
		if newest := t.Graph.Newest(module); newest != nil {
			configuration = lumigl.Merged(configuration, newest.Configuration)
		}
		pending = append(pending, before.Leaving(t.Graph, Pending{r, configuration, true})...)
	}
	t.Graph = t.Graph.Leave(module, pending...)
}

// waiting returns the resources, of the given ones of a module, that cannot be deleted yet: pending resources of other modules
// refer to them, directly or indirectly.
func (g *Graph) waiting(module string, resources []*Resource) (held []*Resource) {
	needed, on := map[string]bool{}, map[urn.URN]bool{}
	need := func(r *Resource) {
		for key := range r.Referents.Members() {
			needed[key] = true
		}
		for _, key := range r.Sources {
			needed[key] = true
		}
	}
	for other, all := range g.pending {
		for _, p := range all {
			if other != module {
				need(p.Resource)
			}
		}
	}
	for found := len(needed) > 0; found; {
		found = false
		for _, r := range resources {
			if (needed[referentKey(r.Type(), r.ID)] || on[r.URN]) && !slices.Contains(held, r) {
				held, found = append(held, r), true
				need(r)
				for _, u := range r.Dependencies {
					on[u] = true
				}
			}
		}
	}
	return held
}

// deleted returns the resources to delete when a module keeps only the versions in left, sorted by key and ID. It
// includes resources whose current form, as returned by now, is in none of these versions, and pending resources that
// no version has adopted, but no look-ups and calls.
func (g *Graph) deleted(module string, left []*Version, now func(*Resource) *Resource) []*Resource {
	var deleted []*Resource
	seen := map[*Resource]bool{}
	for _, v := range g.versions[module] {
		for _, r := range v.resources {
			if !r.IsRead() && !holds(left, now(r)) && !seen[r] {
				seen[r] = true
				deleted = append(deleted, r)
			}
		}
	}
	for _, p := range g.pending[module] {
		isTaken := func(r *Resource) bool { return r.ID == p.Resource.ID && r.Type() == p.Resource.Type() && !r.IsRead() }
		if !p.Resource.IsRead() && !slices.ContainsFunc(left, func(v *Version) bool { return slices.ContainsFunc(v.resources, isTaken) }) {
			deleted = append(deleted, p.Resource)
		}
	}
	slices.SortFunc(deleted, func(a, b *Resource) int {
		return cmp.Or(cmp.Compare(a.URN, b.URN), cmp.Compare(a.Deployment, b.Deployment), cmp.Compare(a.ID, b.ID))
	})
	return deleted
}

// holds reports whether any of the versions contains r. It returns false if r is nil.
func holds(versions []*Version, r *Resource) bool {
	return r != nil && slices.ContainsFunc(versions, func(v *Version) bool { return v.Holds(r) })
}
