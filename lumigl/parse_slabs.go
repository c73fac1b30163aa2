package lumigl

import "slices"

// slabs allocates memory in large chunks, since a graph consists of many small objects with the same lifetime.
type slabs struct {
	nodes   slab[node]
	values  slab[Value]
	entries slab[Member]
	bags    slab[Vertex]
}

// slab allocates values of one type. Chunks grow, since most texts are small.
type slab[T any] struct {
	free []T
	size int // of the last chunk
}

// Chunk sizes.
const (
	smallestSlab = 16
	largestSlab  = 512
)

func (s *slabs) vertex() *Vertex { return &take(&s.bags, 1)[0] }

// copy returns a copy of a node. Its memory is allocated from s unless s is nil.
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
