// Package query answers questions about a graph: what depends on what, and which vertices an expression picks.
//
// A vertex that refers to another depends on it; the other one is its dependency, and it is the other one's dependent.
// Roots are what nothing depends on, leaves what depends on nothing. Wherever several vertices are returned, they are in
// the order of the graph, so that in a snapshot dependencies come before their dependents.
package query

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// Index has the dependencies of a graph both ways. It shows the graph as it was when the index was made, and may be used
// concurrently.
type Index struct {
	vertices []*lumigl.Vertex
	place    map[*lumigl.Vertex]int32
	down, up [][]int32 // the dependencies and the dependents of each vertex, sorted, each once
}

// New makes an index of a graph, or of a snapshot through its Base. It takes time and memory in proportion to that.
func New(g *lumigl.Graph) *Index {
	x := &Index{
		vertices: slices.Collect(g.Vertices()),
		place:    make(map[*lumigl.Vertex]int32, g.Len()),
		down:     make([][]int32, g.Len()),
		up:       make([][]int32, g.Len()),
	}
	for i, v := range x.vertices {
		x.place[v] = int32(i)
	}
	for i, v := range x.vertices {
		for target := range v.Properties.References() {
			if to, ok := x.place[target]; ok {
				x.down[i] = append(x.down[i], to)
			}
		}
		slices.Sort(x.down[i])
		x.down[i] = slices.Compact(x.down[i])
		for _, to := range x.down[i] {
			x.up[to] = append(x.up[to], int32(i))
		}
	}
	return x
}

// Dependencies are what a vertex refers to, and, if transitive, what those refer to, and so on.
func (x *Index) Dependencies(v *lumigl.Vertex, transitive bool) []*lumigl.Vertex {
	return x.related(x.down, v, transitive)
}

// Dependents are what refers to a vertex, and, if transitive, what refers to those, and so on.
func (x *Index) Dependents(v *lumigl.Vertex, transitive bool) []*lumigl.Vertex {
	return x.related(x.up, v, transitive)
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
		reach(below, top, seen)
	}
	for i := range above {
		if len(above[i]) == 0 {
			begin(int32(i))
		}
	}
	for i := range seen {
		if !seen[i] {
			begin(int32(i))
		}
	}
	slices.Sort(tops)
	return x.at(tops)
}

// related follows edges from a vertex. The vertex itself is among what is found only if a circle leads back to it.
func (x *Index) related(edges [][]int32, v *lumigl.Vertex, transitive bool) []*lumigl.Vertex {
	from, ok := x.place[v]
	if !ok {
		return nil
	}
	if !transitive {
		return x.at(edges[from])
	}
	found := reach(edges, from, make([]bool, len(x.vertices)))
	slices.Sort(found)
	return x.at(found)
}

// reach returns what edges lead to from a vertex over any number of steps, but for what was seen before.
func reach(edges [][]int32, from int32, seen []bool) []int32 {
	var found []int32
	for todo := []int32{from}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range edges[next] {
			if !seen[to] {
				seen[to] = true
				found = append(found, to)
				todo = append(todo, to)
			}
		}
	}
	return found
}

// Around returns a vertex with its dependencies, its dependents, or both, over at most so many steps. What else these
// have in common with it, such as other dependents of its dependencies, is not among them.
func (x *Index) Around(v *lumigl.Vertex, steps int, dependencies, dependents bool) []*lumigl.Vertex {
	from, ok := x.place[v]
	if !ok {
		return nil
	}
	seen := map[int32]bool{from: true}
	follow := func(edges [][]int32) {
		reached := map[int32]bool{from: true}
		last := []int32{from}
		for step := 0; step < steps && len(last) > 0; step++ {
			var next []int32
			for _, at := range last {
				for _, to := range edges[at] {
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
	return x.at(slices.Sorted(maps.Keys(seen)))
}

func (x *Index) without(edges [][]int32) []*lumigl.Vertex {
	var found []*lumigl.Vertex
	for i, v := range x.vertices {
		if len(edges[i]) == 0 || len(edges[i]) == 1 && edges[i][0] == int32(i) {
			found = append(found, v)
		}
	}
	return found
}

func (x *Index) at(places []int32) []*lumigl.Vertex {
	found := make([]*lumigl.Vertex, len(places))
	for i, p := range places {
		found[i] = x.vertices[p]
	}
	return found
}
