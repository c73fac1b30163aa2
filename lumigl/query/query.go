// Package query finds dependencies, paths, and vertices that match an expression.
//
// A vertex is a dependent of the vertices it refers to, and those are its dependencies. Roots have no dependents, and
// leaves have no dependencies. All results are in graph order; in a snapshot, dependencies therefore precede their
// dependents.
package query

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// Index answers queries about a graph. It does not reflect later changes to the graph. It is safe for concurrent use.
type Index struct {
	*lumigl.Index
	vertices []*lumigl.Vertex
	down, up dag.Graph // dependencies and dependents of each vertex, sorted without duplicates
}

// New returns an index of a graph in linear time and memory. For a snapshot, pass its Base.
func New(g *lumigl.Graph) *Index {
	x := &Index{Index: lumigl.NewIndex(g)}
	x.vertices, x.down, x.up = x.Numbers()
	return x
}

// Roots returns the vertices that have no dependents other than themselves.
func (x *Index) Roots() []*lumigl.Vertex { return x.without(x.up) }

// Leaves returns the vertices that have no dependencies other than themselves.
func (x *Index) Leaves() []*lumigl.Vertex { return x.without(x.down) }

// Tops returns vertices from which all others can be reached through dependencies: the roots, and the first vertex of
// each cycle without dependents outside the cycle. If inverted is set, it follows dependents instead, starting at the
// leaves.
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

// Around returns a vertex and its dependencies, its dependents, or both, up to the given number of steps away. It does
// not include other dependents of a dependency. It returns nil if v is not in the graph.
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
