package match

import (
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// Sorted returns vertices in stable topological order, dependencies first. Cycles are cut at an arbitrary edge.
func Sorted(vertices []*lumigl.Vertex) []*lumigl.Vertex {
	sorted := make([]*lumigl.Vertex, len(vertices))
	for i, v := range references(vertices).PostOrder() {
		sorted[i] = vertices[v]
	}
	return sorted
}

// references returns the references among the vertices as a graph, in which vertices are numbered by index.
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
