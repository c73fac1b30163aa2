package dag

import (
	"testing"

	"pgregory.net/rapid"
)

// TestComponents compares with a naive search: two vertices are in the same component if each is reachable from the
// other.
func TestComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "vertices")
		var g Graph
		// distance is the length of the shortest path with at least one edge, or far if there is no path.
		const far = 1000
		distance := make([][]int, n)
		for from := range n {
			distance[from] = make([]int, n)
			for to := range n {
				distance[from][to] = far
			}
			for _, to := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "edges") {
				g.To = append(g.To, int32(to))
				distance[from][to] = 1
			}
			g.End()
		}
		for by := range n {
			for from := range n {
				for to := range n {
					distance[from][to] = min(distance[from][to], distance[from][by]+distance[by][to])
				}
			}
		}
		component := g.Components()
		for a := range n {
			for b := range n {
				if one := a == b || distance[a][b] < far && distance[b][a] < far; one != (component[a] == component[b]) {
					t.Fatalf("Components of vertices %d and %d = %d and %d, which does not match their reachability", a, b, component[a], component[b])
				}
			}
			if distance[a][a] < far {
				circle := g.Cycle(int32(a), component)
				at := a
				for _, edge := range circle {
					to := int(g.To[edge])
					if edge < g.Start[at] || edge >= g.Start[at+1] {
						t.Fatalf("Cycle: edge %d does not start at vertex %d", edge, at)
					}
					at = to
				}
				if at != a || len(circle) != distance[a][a] {
					t.Fatalf("Cycle from %d ends at %d after %d steps, want %d steps", a, at, len(circle), distance[a][a])
				}
			}
		}
	})
}
