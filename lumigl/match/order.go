package match

import (
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// Sorted returns vertices in their order, but each after those of them that it refers to. On a cycle, one has to come
// before a vertex that it refers to.
func Sorted(vertices []*lumigl.Vertex) []*lumigl.Vertex {
	sorted := make([]*lumigl.Vertex, len(vertices))
	for i, v := range references(vertices).PostOrder() {
		sorted[i] = vertices[v]
	}
	return sorted
}

// references returns the graph of the references among vertices, which are numbered in their order.
func references(vertices []*lumigl.Vertex) (g dag.Graph) {
	numbers := make(map[*lumigl.Vertex]int32, len(vertices))
	for i, v := range vertices {
		numbers[v] = int32(i)
	}
	for _, v := range vertices {
		for target := range v.References() {
			if number, ok := numbers[target]; ok {
				g.To = append(g.To, number)
			}
		}
		g.End()
	}
	return g
}
