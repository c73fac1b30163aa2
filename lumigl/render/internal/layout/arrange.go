package layout

import "slices"

// layers are a part whose nodes are in layers. Where a link leads over several of them, it comes by stops: nodes that are
// not drawn. In parts so wide that a layer has several columns there are none.
type layers struct {
	nodes int // how many there are without stops
	layer []int32
	in    [][]int32 // the nodes of each layer, from the top
	place []int32   // of each node in its layer
	left  [][]int32 // what each is linked with, before it and behind it
	right [][]int32
	stops [][]int32 // of each link, from the left
	rows  int       // of the layers
	// wrapped says that a layer has several columns.
	wrapped bool
	// straight says that links over several layers do not bend there: there are too many.
	straight bool
}

// arrange finds places for the nodes of a part.
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

// fill puts the nodes into their layers, in the order of the graph.
func (l *layers) fill() {
	l.in = make([][]int32, slices.Max(l.layer)+1)
	l.place = make([]int32, len(l.layer))
	for n, layer := range l.layer {
		l.place[n] = int32(len(l.in[layer]))
		l.in[layer] = append(l.in[layer], int32(n))
	}
}

// chooseRows looks for the height that makes the part neither too flat nor too high.
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

// maxStops is how many stops there may be for each node. Links over very many layers do without.
const maxStops = 6

// link makes the links known to the nodes, with stops if there is room.
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
