package lumigl

import (
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
)

// edges lists the references between the vertices of a graph, by vertex index.
type edges struct {
	dag.Graph
	offsets []uint32 // offset in the source text, by edge
}

func (e *edges) add(to int32, offset uint32) {
	e.To, e.offsets = append(e.To, to), append(e.offsets, offset)
}

// grow reserves capacity for the given number of vertices, assuming about one edge each.
func (e *edges) grow(n int) {
	e.Start, e.To, e.offsets = slices.Grow(e.Start, n+1), slices.Grow(e.To, n), slices.Grow(e.offsets, n)
}
