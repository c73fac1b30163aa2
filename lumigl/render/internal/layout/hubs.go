package layout

import (
	"cmp"
	"slices"
)

// Limits for the search for hubs.
const (
	leastNodes = 60 // nodes in a part that may be broken up
	leastShare = 8  // neighbors of a hub that have other neighbors
	mostHubs   = 32
)

// hubs finds a few nodes that hold a large part together, such as an encryption key or a log used by all others:
// without them and the nodes connected only to them, each connected component has at most half of the part's nodes. It
// returns a slice that marks the removed nodes, or nil if there are no hubs.
func (p *part) hubs() []bool {
	if len(p.nodes) <= leastNodes {
		return nil
	}
	near := make([][]int32, len(p.nodes))
	for _, a := range p.links {
		near[a.From] = append(near[a.From], a.To)
		near[a.To] = append(near[a.To], a.From)
	}
	type candidate struct {
		node  int32
		share int
	}
	var all []candidate
	for n := range near {
		c := candidate{node: int32(n)}
		for _, other := range near[n] {
			if len(near[other]) > 1 { // leaves stay with their hub
				c.share++
			}
		}
		if c.share >= leastShare {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.share, a.share) })
	apart := make([]bool, len(p.nodes))
	for _, c := range all[:min(len(all), mostHubs)] {
		apart[c.node] = true
		if with, ok := p.fallsApart(near, apart); ok {
			return with
		}
	}
	return nil
}

// fallsApart reports whether a part breaks up without the hubs. apart marks the hubs and the nodes connected only to
// them.
func (p *part) fallsApart(near [][]int32, hubs []bool) (apart []bool, ok bool) {
	apart = slices.Clone(hubs)
	count := 0
	for n := range near {
		if !slices.ContainsFunc(near[n], func(other int32) bool { return !hubs[other] }) {
			apart[n] = true
		}
		if apart[n] {
			count++
		}
	}
	if count > len(p.nodes)/4 {
		return nil, false
	}
	for _, rest := range partsOf(p.without(apart)) {
		if len(rest.nodes) > len(p.nodes)/2 {
			return nil, false
		}
	}
	return apart, true
}

// without returns the part without the arrows between marked and unmarked nodes.
func (p *part) without(apart []bool) Graph {
	g := Graph{Nodes: len(p.nodes)}
	for _, a := range p.links {
		if apart[a.From] == apart[a.To] {
			g.Arrows = append(g.Arrows, a)
		}
	}
	return g
}

// around places the nodes of a part that breaks up without its hubs. A hub is placed to the right of the other nodes if
// it has more dependents than dependencies, and to the left otherwise.
func (p *part) around(apart []bool) *box {
	var kept []int32 // links kept by p.without
	lead := make([]int, len(p.nodes))
	for i, a := range p.links {
		if apart[a.From] == apart[a.To] {
			kept = append(kept, int32(i))
			continue
		}
		lead[a.From]--
		lead[a.To]++
	}
	var left, middle, right []*box
	home := make([]*box, len(p.nodes)) // the box that contains each node
	for _, sub := range partsOf(p.without(apart)) {
		for i, link := range sub.linkOf {
			sub.linkOf[i] = kept[link]
		}
		total := 0
		for _, n := range sub.nodes {
			total += lead[n]
		}
		switch b := sub.arrange(); {
		case !apart[sub.nodes[0]]:
			middle = append(middle, b)
		case total < 0:
			left = append(left, b)
		default:
			right = append(right, b)
		}
	}
	l := &Layout{Nodes: make([]Point, len(p.nodes)), Bends: make([][]Point, len(p.links))}
	first := widest(left)
	l.pack(middle, first)
	last := l.Width
	l.stack(left, 0)
	l.stack(right, last+layerGap)
	for _, b := range middle {
		for _, n := range b.nodes {
			home[n] = b
		}
	}
	for i, a := range p.links {
		if apart[a.From] == apart[a.To] {
			continue
		}
		inner, hub := a.From, a.To
		if apart[inner] {
			inner, hub = hub, inner
		}
		l.Bends[i] = home[inner].out(l.Nodes[inner], l.Nodes[hub], first, last)
		if inner == a.To {
			slices.Reverse(l.Bends[i])
		}
	}
	return &box{part: p, at: l.Nodes, bends: l.Bends, width: l.Width, height: l.Height}
}

// out returns the route from a node in a box to a hub outside the boxes, through the gap above or below the box's row.
// first and last are the left and right ends of all boxes.
func (b *box) out(from, hub Point, first, last int32) []Point {
	gap := b.top - partGap/2
	if hub.Y > from.Y {
		gap = b.bottom + partGap/2
	}
	if hub.X > from.X {
		return []Point{{from.X + NodeWidth/2 + columnGap, gap}, {last, gap}}
	}
	return []Point{{from.X - NodeWidth/2 - columnGap, gap}, {first, gap}}
}

// widest returns the width of a stack of boxes, including the gap next to it.
func widest(boxes []*box) int32 {
	most := int32(0)
	for _, b := range boxes {
		most = max(most, b.width+layerGap)
	}
	return most
}

// stack places boxes one below the other, centered vertically, with their left sides at x.
func (l *Layout) stack(boxes []*box, x int32) {
	y := l.Height
	for _, b := range boxes {
		y -= b.height + partGap
	}
	y = max(0, (y+partGap)/2)
	for _, b := range boxes {
		l.put(b, x, y)
		y += b.height + partGap
	}
}
