package query

import "github.com/lumi-idl/lumi/lumigl"

// Paths are ways along references from one vertex to another that come by no vertex twice, the shortest first, then in
// the order of the graph. Each has both ends in it. If via is not nil, all between the ends have to be among what it
// allows. There may be very many paths, so that no more than limit are looked for; all says that there are no others.
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
	// A path is only followed while it may still arrive in time, so that the shortest are found without detours.
	for length := s.left[start]; ; length++ {
		s.longer = false
		s.walk(start, length)
		if s.stopped() || !s.longer || int(length) == len(x.vertices) {
			return s.found, !s.stopped()
		}
	}
}

// distances are the lengths of the shortest ways to a vertex, -1 where there is none. Only the start needs not be allowed.
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

// maxSteps bounds a search for paths.
const maxSteps = 1 << 22

// search looks for the paths of one length after another.
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
	more   bool // whether there are more than the limit
}

// stopped reports whether the search has ended before it was through.
func (s *search) stopped() bool { return s.more || s.budget <= 0 }

// walk goes on from a vertex with so many steps left.
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
