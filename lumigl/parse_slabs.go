package lumigl

import "slices"

// slabs hands out memory from large pieces, since a graph has very many small parts that live as long as it does.
type slabs struct {
	nodes   slab[node]
	values  slab[Value]
	entries slab[Member]
	bags    slab[Vertex]
}

// slab has memory for parts of one kind. The first pieces are smaller, since most texts are.
type slab[T any] struct {
	free []T
	size int // of the last piece
}

// How many parts are allocated together.
const (
	smallestSlab = 16
	largestSlab  = 512
)

func (s *slabs) vertex() *Vertex { return &take(&s.bags, 1)[0] }

// copy returns a copy of a node, with memory of its own if s is nil.
func (s *slabs) copy(n node) *node {
	if s == nil {
		return &node{elements: slices.Clone(n.elements), members: slices.Clone(n.members), target: n.target}
	}
	c := &take(&s.nodes, 1)[0]
	*c = node{elements: keep(&s.values, n.elements), members: keep(&s.entries, n.members), target: n.target}
	return c
}

func keep[T any](s *slab[T], from []T) []T {
	if len(from) == 0 {
		return nil
	}
	to := take(s, len(from))
	copy(to, from)
	return to
}

func take[T any](s *slab[T], n int) []T {
	if n > largestSlab/4 {
		return make([]T, n)
	}
	if len(s.free) < n {
		s.size = min(max(2*s.size, smallestSlab, n), largestSlab)
		s.free = make([]T, s.size)
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}
