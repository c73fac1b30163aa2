package lumigl

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Sort puts the resources in canonical order: topologically, then by URN. Vertices of used modules come first, and
// vertices of providing modules come last. If the snapshot is invalid, Sort returns the *[InvalidError] of
// [Snapshot.Check].
func (s *Snapshot) Sort() error {
	edges, err := checkedEdges(s)
	if err != nil {
		return err
	}
	s.arrange(canonical(s.vertices, edges))
	return nil
}

// canonical returns the vertices of an acyclic graph in canonical order.
func canonical(vertices []*Vertex, e *edges) []*Vertex {
	places := byKey(vertices)
	if slices.ContainsFunc(vertices, func(v *Vertex) bool { return v.Type == ModuleType }) {
		slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(vertices[a].rank(), vertices[b].rank()) })
	}
	order := make([]*Vertex, len(vertices))
	for i, v := range e.Sort(places) {
		order[i] = vertices[v]
	}
	return order
}

// rank is the primary sort key of a vertex: used modules come first and providing modules last.
func (v *Vertex) rank() int {
	switch {
	case v.Type != ModuleType:
		return 0
	case v.Properties.Get("provides").Exists():
		return 1
	}
	return -1
}

// byKey returns the indices of vertices sorted by key. Keys with the same prefix are sorted separately, since they are
// mostly sorted in a file already.
func byKey(vertices []*Vertex) []int32 {
	type named struct {
		name  string
		place int32
	}
	origins := map[string][]named{}
	for i, v := range vertices {
		origin, name := splitName(v.key)
		origins[origin] = append(origins[origin], named{name, int32(i)})
	}
	order := make([]int32, 0, len(vertices))
	for _, origin := range slices.Sorted(maps.Keys(origins)) {
		slices.SortFunc(origins[origin], func(a, b named) int { return strings.Compare(a.name, b.name) })
		for _, n := range origins[origin] {
			order = append(order, n.place)
		}
	}
	return order
}
