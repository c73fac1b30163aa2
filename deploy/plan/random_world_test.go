package plan_test

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// simWorld holds the existing resources of an environment. It runs plans and fails the test if the order of steps would
// fail with a real provider, or if a step does more than announced.
type simWorld struct {
	*rapid.T
	provider *simProvider
	// real holds the existing resources by ID.
	real map[string]*simReal
	next int
	// failed holds the modules whose last deployment failed. Their resources may lack dependencies.
	failed map[string]bool
}

type simReal struct {
	urn urn.URN
	// name is the physical name. It is empty for types without one.
	name string
	// needs lists the IDs of the resource's dependencies.
	needs []string
}

func newWorld(t *rapid.T) *simWorld {
	return &simWorld{T: t, provider: &simProvider{}, real: map[string]*simReal{}, failed: map[string]bool{}}
}

func (w *simWorld) must(err error) {
	if err != nil {
		w.Fatal(err)
	}
}

// checkExist fails the test if a resource in a reachable version does not exist.
func (w *simWorld) checkExist(g *graph.Graph) {
	for _, module := range g.Modules() {
		for _, v := range g.Kept(module) {
			for r := range v.Resources() {
				if w.real[r.ID] == nil {
					w.Fatalf("%s contains %s, which does not exist", v, r.Key())
				}
			}
		}
	}
}

// checkNeeds fails the test if a resource in a reachable version, or a dependency of any existing resource, does not
// exist.
func (w *simWorld) checkNeeds(g *graph.Graph) {
	w.checkExist(g)
	for _, module := range g.Modules() {
		newest := g.Newest(module)
		if newest == nil {
			continue
		}
		for r := range newest.Resources() {
			real := w.real[r.ID]
			real.urn, real.needs = r.URN, w.neededNow(g, newest, r)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.real)) {
		for _, need := range w.real[id].needs {
			if w.real[need] == nil {
				w.Fatalf("%s (%s) refers to %s, which does not exist", w.real[id].urn, id, need)
			}
		}
	}
}

// neededNow returns the IDs of the dependencies of a resource in a version.
func (w *simWorld) neededNow(g *graph.Graph, v *graph.Version, r *graph.Resource) (ids []string) {
	for _, u := range r.Dependencies {
		if on := v.Resource(u); on != nil || !w.failed[v.Module] {
			ids = append(ids, on.ID)
		}
	}
	for target := range r.Checked.References() {
		u := urn.URN(target.Key())
		if v.Resource(u) != nil {
			continue
		}
		if other := g.Used(v.Uses, u); other != nil {
			ids = append(ids, other.ID)
		}
	}
	return ids
}

// simToProvisioner maps resource types to provisioners. Hosts have their own.
func simToProvisioner(t tokens.Type) string {
	switch t {
	case lumigl.ModuleType:
		return "module"
	case "x:m:Host":
		return "hosts"
	default:
		return "providers"
	}
}
