package lumigl

import "slices"

// edges are the references between the vertices of a graph, by the vertices' places in it.
type edges struct {
	start []int32
	to    []edge
}

// edge is a reference, to a vertex, from where it stands in the text.
type edge struct {
	to     int32
	offset uint32
}

func newEdges(vertices int) edges {
	return edges{start: make([]int32, 1, vertices+1), to: make([]edge, 0, vertices)}
}

// end says that the edges of the next vertex follow.
func (e *edges) end() { e.start = append(e.start, int32(len(e.to))) }

// of are the references in one vertex.
func (e *edges) of(from int) []edge { return e.to[e.start[from]:e.start[from+1]] }

func (e *edges) len() int { return len(e.start) - 1 }

// components numbers the vertices so that those which depend on each other in circles have one number. It is Tarjan's
// algorithm, without recursion, since a chain may be as long as the file.
func (e *edges) components() []int32 {
	n := e.len()
	component := make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // from 1; 0 is not seen yet
	var stack []int32
	type frame struct{ vertex, next int32 }
	var frames []frame
	count, found := int32(0), int32(0)
	for root := range n {
		if index[root] != 0 {
			continue
		}
		frames = append(frames, frame{vertex: int32(root)})
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			v := f.vertex
			if f.next == 0 {
				count++
				index[v], low[v] = count, count
				stack = append(stack, v)
			}
			if out := e.of(int(v)); int(f.next) < len(out) {
				to := out[f.next].to
				f.next++
				switch {
				case index[to] == 0:
					frames = append(frames, frame{vertex: to})
				case component[to] == 0:
					low[v] = min(low[v], index[to])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].vertex
				low[up] = min(low[up], low[v])
			}
			if low[v] == index[v] {
				found++
				for {
					w := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					component[w] = found
					if w == v {
						break
					}
				}
			}
		}
	}
	return component
}

// circle returns a shortest way from a vertex back to itself, which stays in the vertex's component.
func (e *edges) circle(from int, component []int32) []edge {
	type visit struct {
		edge     edge
		previous int // among the visits, -1 at the start
	}
	var visits []visit
	seen := map[int32]bool{}
	expand := func(vertex, previous int) {
		for _, out := range e.of(vertex) {
			if component[out.to] == component[from] && !seen[out.to] {
				seen[out.to] = true
				visits = append(visits, visit{out, previous})
			}
		}
	}
	expand(from, -1)
	for i := 0; i < len(visits); i++ {
		if int(visits[i].edge.to) != from {
			expand(int(visits[i].edge.to), i)
			continue
		}
		var circle []edge
		for ; i >= 0; i = visits[i].previous {
			circle = append(circle, visits[i].edge)
		}
		slices.Reverse(circle)
		return circle
	}
	return nil
}
