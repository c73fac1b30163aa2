package lumigl

import "github.com/lumi-idl/lumi/internal/dag"

// edges are the references between the vertices of a graph, by the vertices' places in it.
type edges struct {
	dag.Graph
	offsets []uint32 // where each stands in the text
}

func newEdges(vertices int) edges {
	return edges{
		Graph:   dag.Graph{Start: make([]int32, 1, vertices+1), To: make([]int32, 0, vertices)},
		offsets: make([]uint32, 0, vertices),
	}
}

func (e *edges) add(to int32, offset uint32) {
	e.To, e.offsets = append(e.To, to), append(e.offsets, offset)
}
