package query

import "github.com/lumi-idl/lumi/lumigl"

// Paths returns the simple paths along references from one vertex to another, including both ends, shortest first and
// then in graph order. If via is not nil, every vertex between the ends must satisfy it. Paths returns at most limit
// paths. all reports whether the result is complete.
func (x *Index) Paths(from, to *lumigl.Vertex, via func(*lumigl.Vertex) bool, limit int) (found [][]*lumigl.Vertex, all bool) {
	start, ok := x.Number(from)
	end, ok2 := x.Number(to)
	if !ok || !ok2 {
		return nil, true
	}
	s := search{index: x, end: end, on: make([]bool, len(x.vertices)), limit: limit, budget: maxSteps}
	if s.left = x.distances(start, end, via); s.left[start] < 0 {
		return nil, true
	}
	// Iterative deepening: continue a path only while the end is within reach.
	for length := s.left[start]; ; length++ {
		s.longer = false
		s.walk(start, length)
		if s.stopped() || !s.longer || int(length) == len(x.vertices) {
			return s.found, !s.stopped()
		}
	}
}

// distances returns the length of the shortest path from each vertex to end, or -1 if there is none. via is not applied
// to start.
func (x *Index) distances(start, end int32, via func(*lumigl.Vertex) bool) []int32 {
	left := make([]int32, len(x.vertices))
	for i := range left {
		left[i] = -1
	}
	left[end] = 0
	for todo := []int32{end}; len(todo) > 0; todo = todo[1:] {
		for _, up := range x.up.Out(todo[0]) {
			if left[up] < 0 && (up == start || via == nil || via(x.vertices[up])) {
				left[up] = left[todo[0]] + 1
				todo = append(todo, up)
			}
		}
	}
	return left
}

// maxSteps limits the number of steps in a search for paths.
const maxSteps = 1 << 22

// search finds paths, shortest first.
type search struct {
	index  *Index
	left   []int32
	end    int32
	on     []bool // vertices on the path
	path   []int32
	found  [][]*lumigl.Vertex
	limit  int
	budget int
	longer bool // there may be longer paths
	more   bool // there are more paths than the limit
}

// stopped reports whether the search ended before all paths were found.
func (s *search) stopped() bool { return s.more || s.budget <= 0 }

// walk extends the current path to the vertex at, with the given number of steps left.
func (s *search) walk(at, steps int32) {
	s.budget--
	if s.stopped() {
		return
	}
	s.path = append(s.path, at)
	s.on[at] = true
	switch {
	case at == s.end && steps == 0 && len(s.found) == s.limit:
		s.more = true
	case at == s.end && steps == 0:
		s.found = append(s.found, s.index.At(s.path))
	case at != s.end:
		for _, to := range s.index.down.Out(at) {
			switch {
			case s.on[to] || s.left[to] < 0:
			case s.left[to] > steps-1:
				s.longer = true
			default:
				s.walk(to, steps-1)
			}
			if s.budget--; s.stopped() {
				break
			}
		}
	}
	s.on[at] = false
	s.path = s.path[:len(s.path)-1]
}
