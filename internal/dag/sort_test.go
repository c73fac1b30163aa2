package dag

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGraph draws a graph. If it is acyclic, edges lead from higher to lower positions of a permutation.
func drawGraph(t *rapid.T, most int, acyclic bool) Graph {
	n := rapid.IntRange(0, most).Draw(t, "vertices")
	place := rapid.Permutation(numbered(n)).Draw(t, "places")
	var g Graph
	for from := range n {
		for _, to := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 4).Draw(t, "edges") {
			if !acyclic || place[to] < place[from] {
				g.To = append(g.To, int32(to))
			}
		}
		g.End()
	}
	return g
}

func numbered(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// TestSort compares with a repeated search for the first ready vertex.
func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 20, rapid.Bool().Draw(t, "acyclic"))
		preferred := rapid.Permutation(numbered(g.Len())).Draw(t, "preferred")
		var want []int32
		for {
			i := slices.IndexFunc(preferred, func(v int32) bool {
				return !slices.Contains(want, v) && !slices.ContainsFunc(g.Out(v), func(to int32) bool { return !slices.Contains(want, to) })
			})
			if i < 0 {
				break
			}
			want = append(want, preferred[i])
		}
		if got := g.Sort(preferred); !slices.Equal(got, want) {
			t.Fatalf("Sort of %v, preferring %v, = %v, want %v", g, preferred, got, want)
		}
	})
}

// TestGather compares with a repeated search for the first ready vertex, preferably in the current group.
func TestGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 20, rapid.Bool().Draw(t, "acyclic"))
		group := rapid.SliceOfN(rapid.Int32Range(0, 3), g.Len(), g.Len()).Draw(t, "groups")
		var want []int32
		for current := int32(0); ; {
			isReady := func(v int32) bool {
				return !slices.Contains(want, v) && !slices.ContainsFunc(g.Out(v), func(to int32) bool { return !slices.Contains(want, to) })
			}
			i := slices.IndexFunc(numbered(g.Len()), func(v int32) bool { return isReady(v) && (group[v] == 0 || group[v] == current) })
			if i < 0 || current == 0 {
				i = slices.IndexFunc(numbered(g.Len()), isReady)
			}
			if i < 0 {
				break
			}
			want = append(want, int32(i))
			if group[i] != 0 {
				current = group[i]
			}
		}
		if got := g.Gather(group, 4); !slices.Equal(got, want) {
			t.Fatalf("Gather of %v with groups %v = %v, want %v", g, group, got, want)
		}
	})
}

func TestPostOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 12, false)
		var first []int32
		if g.Len() > 0 {
			first = rapid.SliceOfN(rapid.Int32Range(0, int32(g.Len()-1)), 0, 3).Draw(t, "first")
		}
		seen := make([]bool, g.Len())
		var want []int32
		var visit func(v int32)
		visit = func(v int32) {
			if seen[v] {
				return
			}
			seen[v] = true
			for _, to := range g.Out(v) {
				visit(to)
			}
			want = append(want, v)
		}
		for _, v := range slices.Concat(first, numbered(g.Len())) {
			visit(v)
		}
		if got := g.PostOrder(first...); !slices.Equal(got, want) {
			t.Fatalf("PostOrder of %v from %v = %v, want %v", g, first, got, want)
		}
		component := g.Components()
		for v := range int32(g.Len()) {
			for _, to := range g.Out(v) {
				if component[to] > component[v] {
					t.Fatalf("Components of %v: edge from %d to %d points to a higher component", g, v, to)
				}
			}
		}
	})
}

func TestReverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 12, false)
		count := map[[2]int32]int{}
		for v := range int32(g.Len()) {
			for _, to := range g.Out(v) {
				count[[2]int32{v, to}]++
			}
		}
		r := g.Reverse()
		for v := range int32(r.Len()) {
			if !slices.IsSorted(r.Out(v)) {
				t.Fatalf("Reverse: edges %v of vertex %d are not sorted", r.Out(v), v)
			}
			for _, to := range r.Out(v) {
				count[[2]int32{to, v}]--
			}
		}
		for edge, n := range count {
			if n != 0 {
				t.Fatalf("Reverse of %v: edge %v is missing %d times", g, edge, n)
			}
		}
	})
}

// These graphs would overflow the stack of a recursive algorithm, or take hours in a quadratic one: a chain in both
// directions, a cycle, and a hub that everything waits for.
func TestLargeGraphs(t *testing.T) {
	const n = 1_000_000
	graph := func(to func(v int32) int32) Graph {
		return New(n, func(yield func(from, to int32) bool) {
			for v := range int32(n) {
				if to := to(v); to >= 0 && to < n {
					yield(v, to)
				}
			}
		})
	}
	for name, test := range map[string]struct {
		g          Graph
		components int32
		sorted     int
	}{
		"down":  {graph(func(v int32) int32 { return v - 1 }), n, n},
		"up":    {graph(func(v int32) int32 { return v + 1 }), n, n},
		"cycle": {graph(func(v int32) int32 { return (v + 1) % n }), 1, 0},
		"hub":   {graph(func(v int32) int32 { return n - 1 - max(0, v+2-n)*n }), n, n},
	} {
		component := test.g.Components()
		if got := slices.Max(component); got != test.components {
			t.Errorf("%s: Components found %d components, want %d", name, got, test.components)
		}
		if got := len(test.g.Sort(numbered(n))); got != test.sorted {
			t.Errorf("%s: Sort returned %d vertices, want %d", name, got, test.sorted)
		}
		if got := len(test.g.Gather(make([]int32, n), 1)); got != test.sorted {
			t.Errorf("%s: Gather returned %d vertices, want %d", name, got, test.sorted)
		}
		if got := len(test.g.PostOrder()); got != n {
			t.Errorf("%s: PostOrder returned %d vertices, want %d", name, got, n)
		}
		if cycle := test.g.Cycle(0, component); (cycle != nil) != (test.components == 1) || cycle != nil && len(cycle) != n {
			t.Errorf("%s: Cycle returned %d edges, want all of them, or none without a cycle", name, len(cycle))
		}
	}
}

func TestZeroGraph(t *testing.T) {
	var g Graph
	if g.Len() != 0 || len(g.Sort(nil)) != 0 || len(g.Gather(nil, 1)) != 0 || len(g.PostOrder()) != 0 || len(g.Components()) != 0 || g.Reverse().Len() != 0 {
		t.Error("a method of the zero Graph returned vertices, want none")
	}
}
