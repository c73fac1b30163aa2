// Package dag orders the vertices of directed graphs. Vertices are numbers from 0, and an edge goes from a vertex to
// one of its dependencies, so all orders put dependencies first.
//
// No algorithm is recursive, since chains may be as long as a document. All take linear time, except for the heaps of
// [Graph.Sort], [Graph.Gather], and [Graph.Walk]. A Graph is safe for concurrent use if it does not change.
package dag

import (
	"container/heap"
	"iter"
	"slices"
)

// Graph is a directed graph, possibly with cycles, loops, and parallel edges. The zero Graph is empty.
type Graph struct {
	// Start holds the index of each vertex's first edge in To, followed by the number of edges.
	Start []int32
	// To holds the target of each edge.
	To []int32
}

// New returns a graph of edges. It keeps the order of each vertex's edges, and iterates over edges twice.
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

// End adds a vertex with the edges appended to To since the last call.
func (g *Graph) End() {
	if len(g.Start) == 0 {
		g.Start = append(g.Start, 0)
	}
	g.Start = append(g.Start, int32(len(g.To)))
}

// Len returns the number of vertices.
func (g Graph) Len() int { return max(len(g.Start), 1) - 1 }

// Out returns the vertices that v depends on.
func (g Graph) Out(v int32) []int32 { return g.To[g.Start[v]:g.Start[v+1]] }

// Reverse returns the graph with all edges reversed. The edges of each vertex are sorted.
func (g Graph) Reverse() Graph {
	return New(g.Len(), func(yield func(int32, int32) bool) {
		for v := range int32(g.Len()) {
			for _, to := range g.Out(v) {
				yield(to, v)
			}
		}
	})
}

// Sort returns the vertices in topological order. Among the vertices whose dependencies have been returned, the first
// in preferred comes next. Vertices on a cycle or dependent on one are omitted.
func (g Graph) Sort(preferred []int32) []int32 {
	rank := make([]int32, len(preferred))
	for i, v := range preferred {
		rank[v] = int32(i)
	}
	ready := NewReady(g)
	sorted := make([]int32, 0, g.Len())
	var late numbers // the ranks of vertices that became ready after the loop had passed them
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

// Gather returns the vertices in topological order and keeps groups together as far as possible: the next vertex is the
// first ready one in the previous vertex's group, or else the first ready one of all. There should be few groups,
// numbered below groups; vertices in group 0 belong to every group. Vertices on a cycle or dependent on one are
// omitted.
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

// Ready tracks which vertices of a graph wait for others.
type Ready struct {
	waits      []int32 // the number of pending dependencies of each vertex
	dependents Graph
}

// NewReady returns a Ready for a graph without finished vertices.
func NewReady(g Graph) *Ready {
	r := &Ready{waits: make([]int32, g.Len()), dependents: g.Reverse()}
	for v := range r.waits {
		r.waits[v] = g.Start[v+1] - g.Start[v]
	}
	return r
}

// Has reports whether all dependencies of v are done.
func (r *Ready) Has(v int32) bool { return r.waits[v] == 0 }

// Done marks a vertex as done and calls ready for each vertex that thereby becomes ready. It must be called once per
// vertex.
func (r *Ready) Done(v int32, ready func(int32)) {
	for _, d := range r.dependents.Out(v) {
		if r.waits[d]--; r.waits[d] == 0 {
			ready(d)
		}
	}
}

// PostOrder returns all vertices in the post-order of a depth-first search: each after its dependencies, unless it is
// on a cycle. The search starts at the vertices of first, in order, and then at the remaining ones. An edge closes a
// cycle if its target is its source or comes later in the order.
func (g Graph) PostOrder(first ...int32) []int32 {
	order, _ := g.search(first)
	return order
}

// Components numbers the strongly connected components of the graph and returns the number for each vertex. Edges
// between components go to lower numbers.
func (g Graph) Components() []int32 {
	_, component := g.search(nil)
	return component
}

// search is Tarjan's algorithm for strongly connected components.
func (g Graph) search(first []int32) (order, component []int32) {
	n := g.Len()
	order, component = make([]int32, 0, n), make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // from 1; 0 means unvisited
	type frame struct{ v, edge int32 }
	var frames []frame
	var open []int32 // vertices whose component is not complete
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

// Reach returns the vertices reachable from a vertex in one or more steps, except vertices already in seen, and adds
// them to seen.
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

// Cycle returns the edges of a shortest cycle through a vertex, as indices of To, or nil. It takes the result of
// [Graph.Components].
func (g Graph) Cycle(from int32, component []int32) []int32 {
	type step struct{ from, edge int32 }
	came := map[int32]step{} // the step that first reached each vertex
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

// numbers is a heap.
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

// push and pop replace those of package heap, which allocate for each number.
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
