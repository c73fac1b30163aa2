package layout_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl/render/internal/layout"
)

// check checks that nodes are inside the drawing and do not overlap, and that the layout is deterministic.
func check(t rapid.TB, g layout.Graph) *layout.Layout {
	t.Helper()
	l := layout.Of(g)
	if diff := cmp.Diff(l, layout.Of(g)); diff != "" {
		t.Fatalf("Of is not deterministic (-first +second):\n%s", diff)
	}
	order := make([]int, g.Nodes)
	for i := range order {
		order[i] = i
		p := l.Nodes[i]
		if p.X < layout.NodeWidth/2 || p.X > l.Width-layout.NodeWidth/2 || p.Y < layout.NodeHeight/2 || p.Y > l.Height-layout.NodeHeight/2 {
			t.Fatalf("node %d at %v is outside the drawing of %d x %d", i, p, l.Width, l.Height)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(l.Nodes[a].X - l.Nodes[b].X) })
	for i, a := range order {
		for _, b := range order[i+1:] {
			p, q := l.Nodes[a], l.Nodes[b]
			if q.X-p.X >= layout.NodeWidth {
				break
			}
			if max(p.Y-q.Y, q.Y-p.Y) < layout.NodeHeight {
				t.Fatalf("node %d at %v overlaps node %d at %v", a, p, b, q)
			}
		}
	}
	return l
}

func TestRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := layout.Graph{Nodes: rapid.IntRange(0, 40).Draw(t, "nodes")}
		if g.Nodes > 0 {
			node := rapid.Int32Range(0, int32(g.Nodes-1))
			for range rapid.IntRange(0, 100).Draw(t, "arrows") {
				g.Arrows = append(g.Arrows, layout.Arrow{From: node.Draw(t, "from"), To: node.Draw(t, "to")})
			}
		}
		check(t, g)
	})
}

func TestArrowsPointRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := layout.Graph{Nodes: rapid.IntRange(2, 24).Draw(t, "nodes")}
		for range rapid.IntRange(0, 100).Draw(t, "arrows") {
			to := rapid.Int32Range(1, int32(g.Nodes-1)).Draw(t, "to")
			g.Arrows = append(g.Arrows, layout.Arrow{From: rapid.Int32Range(0, to-1).Draw(t, "from"), To: to})
		}
		l := check(t, g)
		for i, a := range g.Arrows {
			last := l.Nodes[a.From].X
			for _, p := range append(l.Bends[i], l.Nodes[a.To]) {
				if p.X <= last {
					t.Fatalf("arrow %v does not point right throughout: from %v through %v to %v", a, l.Nodes[a.From], l.Bends[i], l.Nodes[a.To])
				}
				last = p.X
			}
		}
	})
}

func TestShapes(t *testing.T) {
	t.Parallel()
	const n = 3000
	random := rand.New(rand.NewPCG(1, 2))
	shapes := map[string][]layout.Arrow{"nothing": nil}
	for i := range int32(n) {
		shapes["chain"] = append(shapes["chain"], layout.Arrow{From: i, To: min(i+1, n-1)})
		shapes["circle"] = append(shapes["circle"], layout.Arrow{From: i, To: (i + 1) % n})
		shapes["star"] = append(shapes["star"], layout.Arrow{From: i, To: 0})
		shapes["tree"] = append(shapes["tree"], layout.Arrow{From: (i - 1) / 2, To: i})
		shapes["chain with long ways"] = append(shapes["chain with long ways"], layout.Arrow{From: i, To: min(i+1, n-1)}, layout.Arrow{From: i, To: n - 1})
		for range 3 {
			shapes["tangle"] = append(shapes["tangle"], layout.Arrow{From: random.Int32N(n), To: random.Int32N(n)})
		}
	}
	for name, arrows := range shapes {
		l := check(t, layout.Graph{Nodes: n, Arrows: arrows})
		if ratio := float64(l.Width) / float64(l.Height); ratio < 0.4 || ratio > 6 {
			t.Errorf("%s: size = %d x %d, want an aspect ratio from 0.4 to 6", name, l.Width, l.Height)
		}
	}
}

func TestCrossings(t *testing.T) {
	t.Parallel()
	g := layout.Graph{Nodes: 6, Arrows: []layout.Arrow{{0, 5}, {1, 4}, {2, 3}, {0, 4}, {1, 3}}}
	l := check(t, g)
	for i, a := range g.Arrows {
		for _, b := range g.Arrows[i+1:] {
			from := l.Nodes[a.From].Y - l.Nodes[b.From].Y
			to := l.Nodes[a.To].Y - l.Nodes[b.To].Y
			if int64(from)*int64(to) < 0 {
				t.Errorf("arrows %v and %v cross: %v", a, b, l.Nodes)
			}
		}
	}
}

// stacks returns n connected groups of 25 nodes each. All groups depend on the first node and are dependencies of the
// second.
func stacks(n int) layout.Graph {
	g := layout.Graph{Nodes: 2}
	for range n {
		first := int32(g.Nodes)
		g.Nodes += 25
		g.Arrows = append(g.Arrows, layout.Arrow{From: first, To: 0}, layout.Arrow{From: 1, To: first})
		for i := first + 1; i < first+25; i++ {
			g.Arrows = append(g.Arrows, layout.Arrow{From: i, To: (i + first) / 2})
		}
	}
	return g
}

// Groups connected only through hubs are placed apart, with the hubs at the sides.
func TestStacks(t *testing.T) {
	t.Parallel()
	const n = 12
	g := stacks(n)
	l := check(t, g)
	type box struct{ left, right, top, bottom int32 }
	var boxes []box
	for i := range n {
		b := box{left: l.Width, top: l.Height}
		for _, p := range l.Nodes[2+25*i : 2+25*(i+1)] {
			b = box{min(b.left, p.X), max(b.right, p.X), min(b.top, p.Y), max(b.bottom, p.Y)}
		}
		boxes = append(boxes, b)
	}
	for i, a := range boxes {
		if l.Nodes[0].X <= a.right || l.Nodes[1].X >= a.left {
			t.Errorf("hubs at %v and %v are not to the right and left of box %v", l.Nodes[0], l.Nodes[1], a)
		}
		for _, b := range boxes[i+1:] {
			if a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom {
				t.Errorf("boxes %v and %v overlap", a, b)
			}
		}
	}
}

// Arrows do not cross nodes where they are horizontal.
func TestArrowsAvoidNodes(t *testing.T) {
	t.Parallel()
	star := layout.Graph{Nodes: 300}
	chain := layout.Graph{Nodes: 100}
	bipartite := layout.Graph{Nodes: 400}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range int32(299) {
		star.Arrows = append(star.Arrows, layout.Arrow{From: i, To: 299})
		bipartite.Arrows = append(bipartite.Arrows, layout.Arrow{From: i % 200, To: 200 + random.Int32N(200)})
	}
	for i := range int32(99) {
		chain.Arrows = append(chain.Arrows, layout.Arrow{From: i, To: i + 1}, layout.Arrow{From: i / 2, To: i + 1})
	}
	for name, g := range map[string]layout.Graph{"stacks": stacks(20), "star": star, "chain": chain, "bipartite": bipartite} {
		l := check(t, g)
		bends := 0
		for i, a := range g.Arrows {
			way := l.Bends[i]
			bends += len(way)
			for j := 1; j < len(way); j++ {
				from, to := way[j-1], way[j]
				if from.Y != to.Y {
					continue
				}
				for n, p := range l.Nodes {
					inside := max(p.Y-from.Y, from.Y-p.Y) < layout.NodeHeight/2
					if inside && min(from.X, to.X) < p.X+layout.NodeWidth/2 && max(from.X, to.X) > p.X-layout.NodeWidth/2 {
						t.Errorf("%s: arrow %v crosses node %d at %v: %v", name, a, n, p, way)
					}
				}
			}
		}
		if bends == 0 {
			t.Errorf("%s: no arrow has bends", name)
		}
	}
}
