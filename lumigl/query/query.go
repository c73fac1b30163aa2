// Package query answers questions about a graph: what depends on what, and which vertices an expression picks.
//
// A vertex that refers to another depends on it; the other one is its dependency, and it is the other one's dependent.
// Roots are what nothing depends on, leaves what depends on nothing. Wherever several vertices are returned, they are in
// the order of the graph, so that in a snapshot dependencies come before their dependents.
package query

import (
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

// related follows edges from a vertex. The vertex itself is among what is found only if a circle leads back to it.
func (x *Index) related(edges [][]int32, v *lumigl.Vertex, transitive bool) []*lumigl.Vertex {
	from, ok := x.place[v]
	if !ok {
		return nil
	}
	if !transitive {
		return x.at(edges[from])
	}
	seen := make([]bool, len(x.vertices))
	todo := []int32{from}
	var found []int32
	for len(todo) > 0 {
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
	slices.Sort(found)
	return x.at(found)
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

// Paths are ways along references from one vertex to another that come by no vertex twice, the shortest first, then in
// the order of the graph. Each has both ends in it. There may be very many, so that no more than limit are looked for.
func (x *Index) Paths(from, to *lumigl.Vertex, limit int) [][]*lumigl.Vertex {
	start, ok := x.place[from]
	end, ok2 := x.place[to]
	if !ok || !ok2 {
		return nil
	}
	left := x.distances(end)
	if left[start] < 0 {
		return nil
	}
	var found [][]*lumigl.Vertex
	// What a search of one length can waste is bounded, since a path is only followed while it may still arrive in time.
	for length := left[start]; len(found) < limit && int(length) < len(x.vertices); length++ {
		s := search{index: x, left: left, end: end, on: make([]bool, len(x.vertices)), limit: limit - len(found), budget: maxSteps}
		s.walk(start, length)
		found = append(found, s.found...)
		if s.budget <= 0 || !s.longer {
			break
		}
	}
	return found
}

// distances are the lengths of the shortest ways to a vertex, -1 where there is none.
func (x *Index) distances(to int32) []int32 {
	left := make([]int32, len(x.vertices))
	for i := range left {
		left[i] = -1
	}
	left[to] = 0
	for todo := []int32{to}; len(todo) > 0; todo = todo[1:] {
		for _, up := range x.up[todo[0]] {
			if left[up] < 0 {
				left[up] = left[todo[0]] + 1
				todo = append(todo, up)
			}
		}
	}
	return left
}

// maxSteps bounds the search for paths of one length.
const maxSteps = 1 << 20

// search looks for the paths of one length.
type search struct {
	index  *Index
	left   []int32
	end    int32
	on     []bool // what is on the path
	path   []int32
	found  [][]*lumigl.Vertex
	limit  int
	budget int
	longer bool // whether there may be longer paths
}

// walk goes on from a vertex with so many steps left.
func (s *search) walk(at, steps int32) {
	s.budget--
	if s.budget <= 0 || len(s.found) >= s.limit {
		return
	}
	s.path = append(s.path, at)
	s.on[at] = true
	switch {
	case at == s.end && steps == 0:
		s.found = append(s.found, s.index.at(s.path))
	case at != s.end:
		for _, to := range s.index.down[at] {
			switch {
			case s.on[to] || s.left[to] < 0:
			case s.left[to] > steps-1:
				s.longer = true
			default:
				s.walk(to, steps-1)
			}
		}
	}
	s.on[at] = false
	s.path = s.path[:len(s.path)-1]
}
