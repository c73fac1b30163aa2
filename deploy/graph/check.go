package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// Check returns an error if the graph violates an invariant:
//
//   - Every edge refers to an existing version that satisfies its constraint, unless the edge is marked as broken.
//   - Modules have no dependency cycles.
//   - Vertex keys are unique.
//   - A resource comes after its dependencies in a version.
//   - Resources pending deletion are not in any version.
//
// The resources of a version may form a cycle, since a deployment may change a resource in place to refer to the
// replacement of another.
func (g *Graph) Check() error {
	if err := g.checkEdges(); err != nil {
		return err
	}
	for _, module := range g.Modules() {
		if circle := g.Circle(module, nil); circle != "" {
			return errors.New(circle)
		}
	}
	return g.checkVertices()
}

func (g *Graph) checkEdges() error {
	for _, module := range slices.Sorted(maps.Keys(g.newest)) {
		if v := g.Newest(module); v == nil || v.Partial {
			return fmt.Errorf("the root refers to %s, which does not exist", g.newest[module])
		}
	}
	for _, b := range g.edges() {
		to := g.Version(b.Edge.To)
		if to == nil || to.Partial {
			return fmt.Errorf("%s refers to %s, which does not exist", b.From, b.Edge.To)
		}
		if reason := to.Fulfills(b.Edge.Constraint).Reason; reason != "" && b.Edge.Broken == "" {
			return fmt.Errorf("%s uses %s.%s, but %s is incompatible: %s", b.From, b.Edge.Module, b.Edge.Name, to, reason)
		}
	}
	return nil
}

// vertexKey is a comparable form of a resource's vertex key.
type vertexKey struct {
	urn        urn.URN
	deployment Deployment
}

func (g *Graph) checkVertices() error {
	vertices := map[vertexKey]*Resource{}
	for _, v := range g.all() {
		if g.Version(v.VersionID) != v {
			return fmt.Errorf("duplicate version key %s", v)
		}
		on := dependencies(v.resources)
		component := on.Components()
		for i, r := range v.resources {
			key := vertexKey{r.URN, r.Deployment}
			if other := vertices[key]; other != nil && other != r {
				return fmt.Errorf("duplicate resource key %s", r.Key())
			}
			vertices[key] = r
			for _, to := range on.Out(int32(i)) {
				if int(to) > i && component[to] != component[i] {
					return fmt.Errorf("in %s, %s precedes its dependency %s", v, r.Key(), v.resources[to].Key())
				}
			}
		}
		for _, p := range g.pending[v.Module] {
			if v.Holds(p.Resource) {
				return fmt.Errorf("%s is pending deletion, but %s contains it", p.Resource.Key(), v)
			}
		}
	}
	return nil
}
