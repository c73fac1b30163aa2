package lumigl

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
)

// Index holds the dependencies of a graph in both directions. A vertex depends on the vertices referenced by its
// properties and options. The index does not reflect later changes to the graph. It is safe for concurrent use.
// Vertices outside the graph have no dependencies and no dependents.
type Index struct {
	vertices []*Vertex
	place    map[*Vertex]int32
	down, up dag.Graph
}

// NewIndex returns an index of a graph in linear time. For a snapshot, pass its Base.
func NewIndex(g *Graph) *Index {
	x := &Index{vertices: slices.Clone(g.vertices), place: make(map[*Vertex]int32, g.Len())}
	add := func(target *Vertex, _ string) bool {
		if target.graph == g {
			x.down.To = append(x.down.To, target.index)
		}
		return true
	}
	for i, v := range g.vertices {
		x.place[v] = int32(i)
		first := len(x.down.To)
		v.references(add)
		slices.Sort(x.down.To[first:])
		x.down.To = x.down.To[:first+len(slices.Compact(x.down.To[first:]))]
		x.down.End()
	}
	x.up = x.down.Reverse()
	return x
}

// Numbers returns the vertices in graph order, and their dependencies and dependents by vertex number, for algorithms
// in other packages. Callers must not modify the results.
func (x *Index) Numbers() (vertices []*Vertex, dependencies, dependents dag.Graph) {
	return x.vertices, x.down, x.up
}

// Number returns the number of a vertex, and false if it is not in the index.
func (x *Index) Number(v *Vertex) (int32, bool) {
	i, ok := x.place[v]
	return i, ok
}

// Dependencies returns the direct dependencies of v or, if transitive is set, all of them, in graph order. The result
// includes v only if v is on a cycle.
func (x *Index) Dependencies(v *Vertex, transitive bool) []*Vertex {
	return x.related(x.down, v, transitive)
}

// Dependents returns the direct dependents of v or, if transitive is set, all of them, in graph order. The result
// includes v only if v is on a cycle.
func (x *Index) Dependents(v *Vertex, transitive bool) []*Vertex {
	return x.related(x.up, v, transitive)
}

func (x *Index) related(edges dag.Graph, v *Vertex, transitive bool) []*Vertex {
	from, ok := x.place[v]
	if !ok {
		return nil
	}
	if !transitive {
		return x.At(edges.Out(from))
	}
	found := edges.Reach(from, make([]bool, len(x.vertices)))
	slices.Sort(found)
	return x.At(found)
}

// At returns the vertices with the given numbers.
func (x *Index) At(numbers []int32) []*Vertex {
	found := make([]*Vertex, len(numbers))
	for i, n := range numbers {
		found[i] = x.vertices[n]
	}
	return found
}

// Sorted returns all vertices in topological order, dependencies first, with ties in graph order. For deletions,
// reverse the result. If there is a cycle, it returns an *[InvalidError] with a [CycleFault].
func (x *Index) Sorted() ([]*Vertex, error) {
	all := make([]int32, len(x.vertices))
	for i := range all {
		all[i] = int32(i)
	}
	sorted := x.At(x.down.Sort(all))
	if len(sorted) < len(x.vertices) {
		return nil, x.cycle()
	}
	return sorted, nil
}

// cycle returns an error for the first cycle in graph order, or nil if the graph is acyclic.
func (x *Index) cycle() error {
	component := x.down.Components()
	for v := range int32(len(x.vertices)) {
		if cycle := x.down.Cycle(v, component); cycle != nil {
			keys := []string{x.vertices[v].key}
			for _, edge := range cycle[:len(cycle)-1] {
				keys = append(keys, x.vertices[x.down.To[edge]].key)
			}
			return &InvalidError{Faults: []Fault{circleFault("vertices", keys)}}
		}
	}
	return nil
}

// Ready returns the unfinished vertices whose dependencies are all done, in graph order. Interrupted work resumes with
// these vertices.
func (x *Index) Ready(done func(*Vertex) bool) []*Vertex {
	var ready []*Vertex
	isDone := make([]bool, len(x.vertices))
	for i, v := range x.vertices {
		isDone[i] = done(v)
	}
	for i, v := range x.vertices {
		if !isDone[i] && !slices.ContainsFunc(x.down.Out(int32(i)), func(to int32) bool { return !isDone[to] }) {
			ready = append(ready, v)
		}
	}
	return ready
}

// WalkOptions configures [Index.Walk].
type WalkOptions struct {
	// Parallelism limits concurrent visits. The default is the number of processors.
	Parallelism int
	// Reverse visits each vertex after its dependents, as required for deletions.
	Reverse bool
	// StopOnError prevents new visits after a visit has failed. By default, only the dependents of failed vertices are
	// skipped.
	StopOnError bool
}

// Walk calls visit for each vertex once the visits of its dependencies have returned nil. Visits run concurrently. With
// a Parallelism of 1, they run in graph order (or in reverse graph order) as far as dependencies allow.
//
// When ctx is done, Walk starts no more visits and waits for those in flight. It returns the errors of the visits,
// joined in graph order, and the cause of ctx if vertices were skipped because of it. If the graph has a cycle, Walk
// visits nothing and returns an *[InvalidError] with a [CycleFault].
func (x *Index) Walk(ctx context.Context, o WalkOptions, visit func(context.Context, *Vertex) error) error {
	if _, err := x.Sorted(); err != nil {
		return err
	}
	return x.down.Walk(ctx, dag.WalkOptions(o), func(ctx context.Context, i int32) error { return visit(ctx, x.vertices[i]) })
}
