package layout

import "slices"

// layers is a part whose nodes have been assigned to layers. A link across several layers passes through stops, which
// are invisible nodes. There are no stops if a layer has several columns.
type layers struct {
	nodes int // number of nodes without stops
	layer []int32
	in    [][]int32 // nodes of each layer, from the top
	place []int32   // index of each node in its layer
	left  [][]int32 // neighbors of each node in earlier layers
	right [][]int32 // neighbors of each node in later layers
	stops [][]int32 // stops of each link, from the left
	rows  int       // number of rows
	// wrapped is set if a layer has several columns.
	wrapped bool
	// straight is set if long links are drawn straight because they would need too many stops.
	straight bool
}

// arrange computes the positions of a part's nodes.
func (p *part) arrange() *box {
	if apart := p.hubs(); apart != nil {
		return p.around(apart)
	}
	links, turned := p.turn()
	layer := rank(len(p.nodes), links)
	l := &layers{nodes: len(p.nodes), layer: layer, stops: make([][]int32, len(links))}
	l.fill()
	l.chooseRows()
	l.link(links)
	l.order()
	b := &box{part: p, bends: make([][]Point, len(links))}
	if l.wrapped {
		b.at, b.width, b.height = l.grid()
	} else {
		b.at, b.width, b.height = l.lines()
	}
	var pitch int32
	b.width, b.height, pitch = l.fold(b.at, b.width, b.height)
	spans := l.spans(b.at)
	for i, a := range links {
		if l.wrapped {
			b.bends[i] = l.between(a, b.at, spans)
		} else {
			b.bends[i] = l.past(l.stops[i], b.at)
		}
		b.bends[i] = unfold(b.bends[i], b.at[a.From], b.at[a.To], pitch)
		if turned[i] {
			slices.Reverse(b.bends[i])
		}
	}
	b.at = b.at[:l.nodes]
	return b
}

// fill assigns the nodes to their layers in graph order.
func (l *layers) fill() {
	l.in = make([][]int32, slices.Max(l.layer)+1)
	l.place = make([]int32, len(l.layer))
	for n, layer := range l.layer {
		l.place[n] = int32(len(l.in[layer]))
		l.in[layer] = append(l.in[layer], int32(n))
	}
}

// chooseRows picks the number of rows that gives the part a good aspect ratio.
func (l *layers) chooseRows() {
	const least = 6
	highest := 0
	for _, in := range l.in {
		highest = max(highest, len(in))
	}
	low, high := min(least, highest), highest
	for low < high {
		rows := (low + high) / 2
		width, height := 0, rows*(NodeHeight+rowGap)
		for _, in := range l.in {
			width += (len(in)+rows-1)/rows*(NodeWidth+columnGap) - columnGap + layerGap
		}
		if float64(width) > aspect*float64(height) {
			low = rows + 1
		} else {
			high = rows
		}
	}
	l.rows, l.wrapped = low, highest > low
}

// maxStops limits the number of stops per node. Above the limit, long links are straight.
const maxStops = 6

// link records the links between neighbors and adds stops unless there would be too many.
func (l *layers) link(links []Arrow) {
	l.left, l.right = make([][]int32, l.nodes), make([][]int32, l.nodes)
	stops := 0
	for _, a := range links {
		stops += int(l.layer[a.To] - l.layer[a.From] - 1)
	}
	l.straight = stops > maxStops*l.nodes+100
	with := !l.wrapped && !l.straight
	for i, a := range links {
		last := a.From
		for layer := l.layer[a.From] + 1; with && layer < l.layer[a.To]; layer++ {
			stop := int32(len(l.layer))
			l.layer = append(l.layer, layer)
			l.place = append(l.place, int32(len(l.in[layer])))
			l.in[layer] = append(l.in[layer], stop)
			l.left, l.right = append(l.left, nil), append(l.right, nil)
			l.stops[i] = append(l.stops[i], stop)
			l.connect(last, stop)
			last = stop
		}
		l.connect(last, a.To)
	}
}

func (l *layers) connect(from, to int32) {
	l.right[from] = append(l.right[from], to)
	l.left[to] = append(l.left[to], from)
}
