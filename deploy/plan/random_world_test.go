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

// simWorld is the real resources of an environment. It runs plans, and fails the test where the order of a plan would
// fail a provider, or a step does more than it was shown to do.
type simWorld struct {
	*rapid.T
	provider *simProvider
	// real has the resources that exist, by id.
	real map[string]*simReal
	next int
	// failed has the modules whose last deployment failed, so that resources may lack others.
	failed map[string]bool
}

// simReal is a real resource.
type simReal struct {
	urn urn.URN
	// name is the physical name, empty for unnamed types.
	name string
	// needs has the ids of what it refers to.
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

// checkExist fails the test if a resource that the root reaches does not exist.
func (w *simWorld) checkExist(g *graph.Graph) {
	for _, module := range g.Modules() {
		for _, v := range g.Kept(module) {
			for r := range v.Resources() {
				if w.real[r.ID] == nil {
					w.Fatalf("%s holds %s, which does not exist", v, r.Key())
				}
			}
		}
	}
}

// checkNeeds fails the test if a resource that the root reaches does not exist, or any refers to what does not.
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

// neededNow returns the ids of what a resource of a version refers to.
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
		for _, e := range v.Uses {
			if other := g.Version(e.To).Resource(u); other != nil {
				ids = append(ids, other.ID)
				break
			}
		}
	}
	return ids
}

// simToProvisioner gives hosts a provisioner of their own.
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
