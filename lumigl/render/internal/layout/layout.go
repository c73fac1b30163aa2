// Package layout places the nodes of a graph in layers from left to right, so that as many arrows as possible point to
// the right. It runs in nearly linear time and is deterministic.
package layout

import (
	"cmp"
	"math"
	"slices"
)

// Graph consists of nodes, numbered from 0, and arrows between them.
type Graph struct {
	Nodes  int
	Arrows []Arrow
}

// Arrow points from one node to another.
type Arrow struct{ From, To int32 }

// Point is a position. X increases to the right, and Y increases downward.
type Point struct{ X, Y int32 }

// Layout is the layout of a graph, as returned by [Of].
type Layout struct {
	// Nodes lists the centers of the nodes.
	Nodes []Point
	// Bends lists the points that each arrow passes through between its ends.
	Bends [][]Point
	// Width and Height are the size of the drawing, whose top left corner is at 0, 0.
	Width, Height int32
}

// Dimensions of a drawing.
const (
	NodeWidth  = 208
	NodeHeight = 48

	rowGap    = 20  // between nodes of a layer
	columnGap = 24  // between columns of a layer
	layerGap  = 124 // between layers
	partGap   = 72  // between disconnected parts
	aspect    = 1.6 // preferred width / height
)

// Of computes the layout of a graph.
func Of(g Graph) *Layout {
	l := &Layout{Nodes: make([]Point, g.Nodes), Bends: make([][]Point, len(g.Arrows))}
	var boxes []*box
	for _, p := range partsOf(g) {
		boxes = append(boxes, p.arrange())
	}
	l.pack(boxes, 0)
	return l
}

// part is a connected component of a graph.
type part struct {
	nodes  []int32
	arrows []int32
	links  []Arrow // arrows between different nodes, by index in the part
	linkOf []int32 // the arrow of each link
}

// box is a part with a layout.
type box struct {
	*part
	at            []Point
	bends         [][]Point // of the links
	width, height int32
	// top and bottom are the bounds of the row that contains the box.
	top, bottom int32
}

// partsOf splits a graph into connected components.
func partsOf(g Graph) []*part {
	up := make([]int32, g.Nodes) // union-find parents
	for i := range up {
		up[i] = int32(i)
	}
	top := func(n int32) int32 {
		for up[n] != n {
			up[n] = up[up[n]]
			n = up[n]
		}
		return n
	}
	for _, a := range g.Arrows {
		from, to := top(a.From), top(a.To)
		up[max(from, to)] = min(from, to)
	}
	var parts []*part
	of := make([]*part, g.Nodes)
	place := make([]int32, g.Nodes)
	for n := range int32(g.Nodes) {
		first := top(n)
		if first == n {
			of[n] = &part{}
			parts = append(parts, of[n])
		}
		p := of[first]
		place[n] = int32(len(p.nodes))
		p.nodes = append(p.nodes, n)
	}
	for i, a := range g.Arrows {
		p := of[top(a.From)]
		p.arrows = append(p.arrows, int32(i))
		if a.From != a.To {
			p.links = append(p.links, Arrow{place[a.From], place[a.To]})
			p.linkOf = append(p.linkOf, int32(i))
		}
	}
	return parts
}

// pack arranges the boxes in rows that start at x position left, tallest box first.
func (l *Layout) pack(boxes []*box, left int32) {
	slices.SortStableFunc(boxes, func(a, b *box) int {
		return cmp.Or(cmp.Compare(b.height, a.height), cmp.Compare(b.width, a.width))
	})
	area, widest := 0.0, int32(0)
	for _, b := range boxes {
		area += float64(int64(b.width+partGap) * int64(b.height+partGap))
		widest = max(widest, b.width)
	}
	limit := left + max(int32(math.Sqrt(area*aspect)), widest)
	x, y, row := left, int32(0), int32(0)
	for _, b := range boxes {
		if x > left && x+b.width > limit {
			x, y, row = left, y+row+partGap, 0
		}
		l.put(b, x, y)
		x, row = x+b.width+partGap, max(row, b.height)
		b.top, b.bottom = y, y+row
	}
}

func (l *Layout) put(b *box, x, y int32) {
	l.Width, l.Height = max(l.Width, x+b.width), max(l.Height, y+b.height)
	for i, n := range b.nodes {
		l.Nodes[n] = Point{b.at[i].X + x, b.at[i].Y + y}
	}
	for i, bends := range b.bends {
		for j := range bends {
			bends[j].X += x
			bends[j].Y += y
		}
		l.Bends[b.linkOf[i]] = bends
	}
}
