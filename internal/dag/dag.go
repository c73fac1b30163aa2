// Package dag orders the vertices of directed graphs. Vertices are numbered from 0. An edge points from a vertex to one
// of its dependencies, so all orders put dependencies first.
//
// No algorithm is recursive, since a chain may be as long as a document. All algorithms take linear time, apart from
// the heaps used by [Graph.Sort], [Graph.Gather], and [Graph.Walk]. Concurrent use of a Graph is safe as long as it
// does not change.
package dag

import (
	"container/heap"
	"iter"
	"slices"
)

// Graph is a directed graph. It may contain cycles, loops, and parallel edges. The zero Graph is empty.
type Graph struct {
	// Start contains the index in To of each vertex's first edge, followed by the number of edges.
	Start []int32
	// To contains the target of each edge.
	To []int32
}

// New returns a graph with the given edges, over which it iterates twice. The edges of each vertex keep their order.
func New(vertices int, edges iter.Seq2[int32, int32]) Graph {
	g := Graph{Start: make([]int32, vertices+1)}
	for from := range edges {
		g.Start[from+1]++
	}
	for v := range vertices {
		g.Start[v+1] += g.Start[v]
	}
	g.To = make([]int32, g.Start[vertices])
	next := slices.Clone(g.Start)
	for from, to := range edges {
		g.To[next[from]] = to
		next[from]++
	}
	return g
}

// End adds a vertex whose edges are the targets appended to To since the previous call.
func (g *Graph) End() {
	if len(g.Start) == 0 {
		g.Start = append(g.Start, 0)
	}
	g.Start = append(g.Start, int32(len(g.To)))
}

// Len returns the number of vertices.
func (g Graph) Len() int { return max(len(g.Start), 1) - 1 }

// Out returns the direct dependencies of v.
func (g Graph) Out(v int32) []int32 { return g.To[g.Start[v]:g.Start[v+1]] }

// Reverse returns the graph with all edges reversed. The edges of each vertex are sorted by target.
func (g Graph) Reverse() Graph {
	return New(g.Len(), func(yield func(int32, int32) bool) {
		for v := range int32(g.Len()) {
			for _, to := range g.Out(v) {
				yield(to, v)
			}
		}
	})
}

// Sort returns the vertices in topological order. Whenever several vertices are ready, it chooses the first in
// preferred. It omits vertices that are on a cycle or depend on one.
func (g Graph) Sort(preferred []int32) []int32 {
	rank := make([]int32, len(preferred))
	for i, v := range preferred {
		rank[v] = int32(i)
	}
	ready := NewReady(g)
	sorted := make([]int32, 0, g.Len())
	var late numbers // the ranks of vertices that became ready after the loop passed them
	for i, v := range preferred {
		if !ready.Has(v) {
			continue
		}
		for sorted = append(sorted, v); ; sorted = append(sorted, v) {
			ready.Done(v, func(d int32) {
				if rank[d] < int32(i) {
					late.push(rank[d])
				}
			})
			if len(late) == 0 {
				break
			}
			v = preferred[late.pop()]
		}
	}
	return sorted
}

// Gather returns the vertices in topological order, keeping groups together as far as possible. The next vertex is the
// first ready vertex in the previous vertex's group or, if there is none, the first ready vertex of all. Groups are
// numbered from 0 to groups-1 and should be few; vertices in group 0 belong to every group. Gather omits vertices that
// are on a cycle or depend on one.
func (g Graph) Gather(group []int32, groups int) []int32 {
	ready := NewReady(g)
	waiting := make([]numbers, groups)
	add := func(v int32) { waiting[group[v]].push(v) }
	for v := range int32(g.Len()) {
		if ready.Has(v) {
			add(v)
		}
	}
	sorted := make([]int32, 0, g.Len())
	current := 0
	isNear := func(i int) bool { return i == 0 || i == current || current == 0 }
	for {
		next := -1 // the group of the next vertex
		for i, w := range waiting {
			if len(w) > 0 && (next < 0 || isNear(i) && !isNear(next) || isNear(i) == isNear(next) && w[0] < waiting[next][0]) {
				next = i
			}
		}
		if next < 0 {
			return sorted
		}
		if next > 0 {
			current = next
		}
		v := waiting[next].pop()
		sorted = append(sorted, v)
		ready.Done(v, add)
	}
}

// Ready tracks which vertices of a graph are ready, which means that all of their dependencies are done.
type Ready struct {
	waits      []int32 // the number of unfinished dependencies of each vertex
	dependents Graph
}

// NewReady returns a Ready for g, with no vertex done.
func NewReady(g Graph) *Ready {
	r := &Ready{waits: make([]int32, g.Len()), dependents: g.Reverse()}
	for v := range r.waits {
		r.waits[v] = g.Start[v+1] - g.Start[v]
	}
	return r
}

// Has reports whether v is ready.
func (r *Ready) Has(v int32) bool { return r.waits[v] == 0 }

// Done marks v as done and calls ready for each vertex that becomes ready as a result. Call it once per vertex.
func (r *Ready) Done(v int32, ready func(int32)) {
	for _, d := range r.dependents.Out(v) {
		if r.waits[d]--; r.waits[d] == 0 {
			ready(d)
		}
	}
}

// PostOrder returns all vertices in the post-order of a depth-first search. Each vertex follows its dependencies,
// unless it is on a cycle. The search starts at the vertices in first, in order, and continues with the remaining
// vertices. An edge closes a cycle if its target is its source or comes later in the order.
func (g Graph) PostOrder(first ...int32) []int32 {
	order, _ := g.search(first)
	return order
}

// Components numbers the strongly connected components of the graph and returns the number of each vertex's component.
// Edges between components point to lower numbers.
func (g Graph) Components() []int32 {
	_, component := g.search(nil)
	return component
}

// search implements Tarjan's algorithm for strongly connected components. It also returns the post-order.
func (g Graph) search(first []int32) (order, component []int32) {
	n := g.Len()
	order, component = make([]int32, 0, n), make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // numbered from 1; 0 means unvisited
	type frame struct{ v, edge int32 }
	var frames []frame
	var open []int32 // vertices whose component is incomplete
	seen, found := int32(0), int32(0)
	enter := func(v int32) {
		seen++
		index[v], low[v] = seen, seen
		open = append(open, v)
		frames = append(frames, frame{v, g.Start[v]})
	}
	visit := func(root int32) {
		if index[root] != 0 {
			return
		}
		for enter(root); len(frames) > 0; {
			f := &frames[len(frames)-1]
			v := f.v
			if f.edge < g.Start[v+1] {
				to := g.To[f.edge]
				f.edge++
				switch {
				case index[to] == 0:
					enter(to)
				case component[to] == 0:
					low[v] = min(low[v], index[to])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			order = append(order, v)
			if len(frames) > 0 {
				up := frames[len(frames)-1].v
				low[up] = min(low[up], low[v])
			}
			if low[v] == index[v] {
				found++
				for component[v] == 0 {
					last := len(open) - 1
					component[open[last]] = found
					open = open[:last]
				}
			}
		}
	}
	for _, v := range first {
		visit(v)
	}
	for v := range int32(n) {
		visit(v)
	}
	return order, component
}

// Reach returns the vertices reachable from from in one or more steps. It skips vertices in seen and adds the others to
// seen.
func (g Graph) Reach(from int32, seen []bool) []int32 {
	var found []int32
	for todo := []int32{from}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range g.Out(next) {
			if !seen[to] {
				seen[to] = true
				found, todo = append(found, to), append(todo, to)
			}
		}
	}
	return found
}

// Cycle returns the edges of a shortest cycle through from, as indices in To. It returns nil if there is no such cycle.
// Component is the result of [Graph.Components].
func (g Graph) Cycle(from int32, component []int32) []int32 {
	type step struct{ from, edge int32 }
	came := map[int32]step{} // the step by which each vertex was first reached
	for todo := []int32{from}; len(todo) > 0; todo = todo[1:] {
		v := todo[0]
		for edge := g.Start[v]; edge < g.Start[v+1]; edge++ {
			to := g.To[edge]
			if _, seen := came[to]; !seen && component[to] == component[from] {
				came[to] = step{v, edge}
				todo = append(todo, to)
			}
		}
	}
	var cycle []int32
	for at, ok := came[from]; ok; at, ok = came[at.from] {
		cycle = append(cycle, at.edge)
		if at.from == from {
			break
		}
	}
	slices.Reverse(cycle)
	return cycle
}

// numbers is a heap of integers.
type numbers []int32

func (n numbers) Len() int           { return len(n) }
func (n numbers) Less(i, j int) bool { return n[i] < n[j] }
func (n numbers) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *numbers) Push(x any)        { *n = append(*n, x.(int32)) }

func (n *numbers) Pop() any {
	last := len(*n) - 1
	x := (*n)[last]
	*n = (*n)[:last]
	return x
}

// push and pop avoid the allocation that heap.Push and heap.Pop make for each number.
func (n *numbers) push(x int32) {
	*n = append(*n, x)
	heap.Fix(n, len(*n)-1)
}

func (n *numbers) pop() int32 {
	x, last := (*n)[0], len(*n)-1
	(*n)[0] = (*n)[last]
	if *n = (*n)[:last]; last > 0 {
		heap.Fix(n, 0)
	}
	return x
}
