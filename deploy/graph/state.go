package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Rename returns the graph with a resource renamed within its module and type, including all references to it. Vertices
// keep their deployment numbers. It returns a *[RefusedError] if from does not exist or is a call, or to already exists.
func (g *Graph) Rename(from, to urn.URN) (*Graph, error) {
	exists, taken, isCall := false, false, false
	g.each(func(r *Resource) {
		exists, taken, isCall = exists || r.URN == from, taken || r.URN == to, isCall || r.URN == from && r.Flag(CallOption)
	})
	switch {
	case isCall:
		return nil, &RefusedError{Problems: []string{fmt.Sprintf("%s is a call of a function: the program numbers these", from.Name())}}
	case !exists:
		return nil, &RefusedError{Problems: []string{fmt.Sprintf("resource %s not found", from)}}
	case taken:
		return nil, &RefusedError{Problems: []string{fmt.Sprintf("resource %s already exists", to)}}
	}
	n, now := names{from: to}, map[*Resource]*Resource{}
	g.each(func(r *Resource) {
		if now[r] = r; r.URN == from || slices.Contains(r.Dependencies, from) || r.refersTo(from) {
			now[r] = n.renamed(r)
		}
		if r.URN == from {
			now[r].Label, now[r].Computed = "", "" // The program has the new name.
			_, now[r].AutoName = r.PhysicalName()
		}
	})
	after := g.clone()
	for _, v := range g.all() {
		resources := slices.Clone(v.resources)
		for i, r := range resources {
			resources[i] = now[r]
		}
		provides := slices.Clone(v.Provides)
		for i := range provides {
			p := &provides[i]
			p.Value, p.Result = p.Value.Retarget(n.ofVertex), p.Result.Retarget(n.ofVertex)
		}
		isSame := func(a, b Provided) bool { return a.Value.Equal(b.Value) && a.Result.Equal(b.Result) }
		if !slices.Equal(resources, v.resources) || !slices.EqualFunc(provides, v.Provides, isSame) {
			renamed := v.with(resources)
			renamed.Provides = provides
			after.put(renamed)
		}
	}
	for module, all := range g.pending {
		all = slices.Clone(all)
		for i, p := range all {
			all[i].Resource = now[p.Resource]
		}
		after.pending[module] = all
	}
	return after, nil
}

// Count returns the number of distinct managed resources in all versions, including pending ones.
func (g *Graph) Count() int {
	seen := map[*Resource]bool{}
	g.each(func(r *Resource) {
		if !r.IsRead() {
			seen[r] = true
		}
	})
	return len(seen)
}

// refersTo reports whether a value of r contains a reference to u.
func (r *Resource) refersTo(u urn.URN) bool {
	return slices.ContainsFunc([]lumigl.Value{r.Inputs, r.Checked, r.Outputs, r.Referents, r.Options}, func(v lumigl.Value) bool {
		for target := range v.References() {
			if target.URN() == u {
				return true
			}
		}
		return false
	})
}

// Forget returns the graph without the given resources, which must be in a newest version or pending, and without
// modules that become empty. It returns a *[RefusedError] if a resource does not exist or if others need it.
func (g *Graph) Forget(urns ...urn.URN) (*Graph, error) {
	w := rewrite{now: map[*Resource]*Resource{}}
	var forgotten []*Resource
	modules := map[string]bool{}
	for _, u := range urns {
		r := g.Current(u)
		if r == nil {
			return nil, &RefusedError{Problems: []string{fmt.Sprintf("resource %s not found", u)}}
		}
		w.now[r], modules[packageOf(u)] = nil, true
		forgotten = append(forgotten, r)
	}
	isForgotten := func(r *Resource) bool { return r != nil && w.of(r) == nil }
	var problems []string
	refuse := func(format string, args ...any) {
		if p := fmt.Sprintf(format, args...); !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	g.each(func(r *Resource) {
		for _, to := range forgotten {
			if !isForgotten(r) && (slices.Contains(r.Dependencies, to.URN) || r.refersTo(to.URN)) && g.target(r, to.URN) == to {
				refuse("%s refers to %s: forget both, or change the program first", r.URN.Name(), to.URN.Name())
			}
		}
	})
	after := g.clone()
	for _, v := range g.all() {
		if !slices.ContainsFunc(v.resources, isForgotten) {
			continue
		}
		for r, needed := range g.Needs(v.VersionID) {
			for _, b := range needed {
				if isForgotten(r) {
					refuse("%s uses %s.%s, which comes from %s: deploy %[1]s without it first", b.From.Module, v.Module, b.Edge.Name, r.URN.Name())
				}
			}
		}
		rewritten := w.rewritten(after, v)
		after.put(rewritten)
		after.recheck(rewritten)
	}
	if problems != nil {
		slices.Sort(problems)
		return nil, &RefusedError{Problems: problems}
	}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		left := slices.DeleteFunc(slices.Clone(g.pending[module]), func(p Pending) bool { return isForgotten(p.Resource) })
		set(after.pending, module, left)
		isHolding := func(v *Version) bool { return v.Len() > 0 }
		if t, err := after.Destroy(module); err == nil && len(left) == 0 && !slices.ContainsFunc(after.versions[module], isHolding) {
			after = t.Graph
		}
	}
	return after, nil
}

// Current returns the resource with the given URN from the module's newest version or, failing that, its pending
// resources. It returns nil if there is none.
func (g *Graph) Current(u urn.URN) *Resource {
	if v := g.Newest(packageOf(u)); v != nil && v.Resource(u) != nil {
		return v.Resource(u)
	}
	for _, p := range g.pending[packageOf(u)] {
		if p.Resource.URN == u {
			return p.Resource
		}
	}
	return nil
}
