// Package query answers questions about a graph: what depends on what, and which vertices an expression picks.
//
// A vertex that refers to another depends on it; the other one is its dependency, and it is the other one's dependent.
// Roots are what nothing depends on, leaves what depends on nothing. Wherever several vertices are returned, they are in
// the order of the graph, so that in a snapshot dependencies come before their dependents.
package query

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// Index answers questions about a graph. It shows the graph as it was when the index was made, and may be used
// concurrently.
type Index struct {
	*lumigl.Index
	vertices []*lumigl.Vertex
	down, up dag.Graph // the dependencies and the dependents of each vertex, sorted, each once
}

// New makes an index of a graph, or of a snapshot through its Base. It takes time and memory in proportion to that.
func New(g *lumigl.Graph) *Index {
	x := &Index{Index: lumigl.NewIndex(g)}
	x.vertices, x.down, x.up = x.Numbers()
	return x
}

// Roots are the vertices that nothing else refers to.
func (x *Index) Roots() []*lumigl.Vertex { return x.without(x.up) }

// Leaves are the vertices that refer to nothing else.
func (x *Index) Leaves() []*lumigl.Vertex { return x.without(x.down) }

// Tops are where to begin in order to see all of the graph: the roots, and of circles that nothing else leads to the
// first vertex. If inverted, dependents are followed in place of dependencies, which begins at the leaves.
func (x *Index) Tops(inverted bool) []*lumigl.Vertex {
	above, below := x.up, x.down
	if inverted {
		above, below = below, above
	}
	seen := make([]bool, len(x.vertices))
	var tops []int32
	begin := func(top int32) {
		tops = append(tops, top)
		seen[top] = true
		below.Reach(top, seen)
	}
	for i := range int32(len(seen)) {
		if len(above.Out(i)) == 0 {
			begin(i)
		}
	}
	for i := range seen {
		if !seen[i] {
			begin(int32(i))
		}
	}
	slices.Sort(tops)
	return x.At(tops)
}

// Around returns a vertex with its dependencies, its dependents, or both, over at most so many steps. What else these
// have in common with it, such as other dependents of its dependencies, is not among them.
func (x *Index) Around(v *lumigl.Vertex, steps int, dependencies, dependents bool) []*lumigl.Vertex {
	from, ok := x.Number(v)
	if !ok {
		return nil
	}
	seen := map[int32]bool{from: true}
	follow := func(edges dag.Graph) {
		reached := map[int32]bool{from: true}
		last := []int32{from}
		for step := 0; step < steps && len(last) > 0; step++ {
			var next []int32
			for _, at := range last {
				for _, to := range edges.Out(at) {
					if !reached[to] {
						reached[to], seen[to] = true, true
						next = append(next, to)
					}
				}
			}
			last = next
		}
	}
	if dependencies {
		follow(x.down)
	}
	if dependents {
		follow(x.up)
	}
	return x.At(slices.Sorted(maps.Keys(seen)))
}

func (x *Index) without(edges dag.Graph) []*lumigl.Vertex {
	var found []*lumigl.Vertex
	for i, v := range x.vertices {
		if out := edges.Out(int32(i)); len(out) == 0 || len(out) == 1 && out[0] == int32(i) {
			found = append(found, v)
		}
	}
	return found
}
