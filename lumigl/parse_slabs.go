package lumigl

import "slices"

// slabs hands out memory from large pieces, since a graph has very many small parts that live as long as it does.
type slabs struct {
	nodes   []node
	values  []Value
	entries []Member
	bags    []Vertex
}

// slabSize is how many parts are allocated together.
const slabSize = 512

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

func keep[T any](slab *[]T, from []T) []T {
	if len(from) == 0 {
		return nil
	}
	to := take(slab, len(from))
	copy(to, from)
	return to
}

func take[T any](slab *[]T, n int) []T {
	if n > slabSize/4 {
		return make([]T, n)
	}
	if len(*slab) < n {
		*slab = make([]T, slabSize)
	}
	taken := (*slab)[:n:n]
	*slab = (*slab)[n:]
	return taken
}
