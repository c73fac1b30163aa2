package lumigl

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// Sort puts the resources in canonical order: each behind all that it refers to, and where that leaves a choice, by URN.
// The error, an *[InvalidError], is that of [Snapshot.Check].
func (s *Snapshot) Sort() error {
	f := &faults{max: defaultMaxFaults}
	c := newChecker(s, f)
	c.built = true
	c.run()
	if err := f.err(); err != nil {
		return err
	}
	s.arrange(canonical(s.vertices, &c.edges))
	return nil
}

// canonical orders vertices without circles.
func canonical(vertices []*Vertex, e *edges) []*Vertex {
	rank := ranks(vertices)
	dependents := e.reverse()
	missing := make([]int32, len(vertices))
	ready := &queue{}
	for i := range vertices {
		missing[i] = int32(len(e.of(i)))
		if missing[i] == 0 {
			*ready = append(*ready, ranked{rank[i], int32(i)})
		}
	}
	heap.Init(ready)
	order := make([]*Vertex, 0, len(vertices))
	for ready.Len() > 0 {
		next := (*ready)[0].vertex
		order = append(order, vertices[next])
		filled := false // Most often what becomes ready takes the place of what was.
		for _, d := range dependents.of(int(next)) {
			if missing[d.to]--; missing[d.to] > 0 {
				continue
			}
			r := ranked{rank[d.to], d.to}
			if filled {
				heap.Push(ready, r)
				continue
			}
			(*ready)[0], filled = r, true
			heap.Fix(ready, 0)
		}
		if !filled {
			heap.Pop(ready)
		}
	}
	return order
}

// ranks are the places that vertices have by their keys.
func ranks(vertices []*Vertex) []int32 {
	byKey := make([]int32, len(vertices))
	for i := range byKey {
		byKey[i] = int32(i)
	}
	slices.SortFunc(byKey, func(a, b int32) int { return strings.Compare(vertices[a].key, vertices[b].key) })
	rank := make([]int32, len(vertices))
	for place, i := range byKey {
		rank[i] = int32(place)
	}
	return rank
}

// reverse turns all edges around.
func (e *edges) reverse() *edges {
	r := &edges{start: make([]int32, len(e.start)), to: make([]edge, len(e.to))}
	for _, out := range e.to {
		r.start[out.to+1]++
	}
	for i := 1; i < len(r.start); i++ {
		r.start[i] += r.start[i-1]
	}
	next := slices.Clone(r.start)
	for from := range e.len() {
		for _, out := range e.of(from) {
			r.to[next[out.to]] = edge{to: int32(from), offset: out.offset}
			next[out.to]++
		}
	}
	return r
}

// ranked is a vertex with its place by key.
type ranked struct{ rank, vertex int32 }

// queue gives the vertex of the lowest rank first.
type queue []ranked

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].rank < q[j].rank }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(ranked)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// sorted returns members in the order of their keys.
func sorted(members []Member) []Member {
	byKey := func(a, b Member) int { return cmp.Compare(a.Key, b.Key) }
	if slices.IsSortedFunc(members, byKey) {
		return members
	}
	return slices.SortedStableFunc(slices.Values(members), byKey)
}
