package layout

import (
	"math"
	"slices"
)

// grid gives each layer as many columns as it needs. Nodes are placed row by row, so that the vertical position
// reflects the order.
func (l *layers) grid() (at []Point, width, height int32) {
	at = make([]Point, len(l.layer))
	total := int32(0)
	for _, in := range l.in {
		total = max(total, int32(min(len(in), l.rows)))
	}
	height = total*(NodeHeight+rowGap) - rowGap
	for layer, in := range l.in {
		columns := int(l.columns(int32(layer)))
		rows := (len(in) + columns - 1) / columns
		top := (height - (int32(rows)*(NodeHeight+rowGap) - rowGap)) / 2
		for i, n := range in {
			at[n] = Point{
				X: width + int32(i%columns)*(NodeWidth+columnGap) + NodeWidth/2,
				Y: top + int32(i/columns)*(NodeHeight+rowGap) + NodeHeight/2,
			}
		}
		width += int32(columns)*(NodeWidth+columnGap) - columnGap + layerGap
	}
	return at, width - layerGap, height
}

// columns returns the number of columns of a layer.
func (l *layers) columns(layer int32) int32 { return int32((len(l.in[layer]) + l.rows - 1) / l.rows) }

// rounds is the number of placement passes.
const rounds = 8

// lines gives each layer a single column, with each node as close to its neighbors as possible.
func (l *layers) lines() (at []Point, width, height int32) {
	y := make([]float64, len(l.layer))
	for _, in := range l.in {
		for i, n := range in {
			y[n] = float64(i-len(in)/2) * (NodeHeight + rowGap)
		}
	}
	for round := range rounds {
		for j := range l.in {
			switch {
			case round == rounds-1:
				l.settle(j, y, l.left, l.right)
			case round%2 == 0:
				l.settle(j, y, l.left)
			default:
				l.settle(len(l.in)-1-j, y, l.right)
			}
		}
	}
	top, bottom := math.Inf(1), math.Inf(-1)
	for n := range l.nodes {
		top, bottom = min(top, y[n]-NodeHeight/2), max(bottom, y[n]+NodeHeight/2)
	}
	for n := l.nodes; n < len(y); n++ {
		top, bottom = min(top, y[n]), max(bottom, y[n])
	}
	at = make([]Point, len(l.layer))
	for n, layer := range l.layer {
		at[n] = Point{X: layer*(NodeWidth+layerGap) + NodeWidth/2, Y: int32(math.Round(y[n] - top))}
	}
	return at, int32(len(l.in))*(NodeWidth+layerGap) - layerGap, int32(math.Ceil(bottom - top))
}

// settle moves each node of a layer toward the average position of its neighbors on the given sides, as far as the
// other nodes allow. It minimizes the sum of squared distances.
func (l *layers) settle(layer int, y []float64, sides ...[][]int32) {
	in := l.in[layer]
	// Relative to the room for the nodes above, positions must only be nondecreasing. Nodes that violate this are
	// pooled at their average (the pool adjacent violators algorithm).
	type pool struct {
		sum    float64
		weight float64
		first  int
	}
	var pools []pool
	room := make([]float64, len(in))
	for i, n := range in {
		if i > 0 {
			room[i] = room[i-1] + l.apart(in[i-1], n)
		}
		want, weight := y[n], 0.05 // without neighbors, a node stays unless others push it
		sum, count := 0.0, 0
		for _, side := range sides {
			for _, other := range side[n] {
				sum += y[other]
				count++
			}
		}
		if count > 0 {
			want, weight = sum/float64(count), 1
		}
		pools = append(pools, pool{sum: (want - room[i]) * weight, weight: weight, first: i})
		for len(pools) > 1 {
			last, before := pools[len(pools)-1], &pools[len(pools)-2]
			if before.sum/before.weight <= last.sum/last.weight {
				break
			}
			before.sum += last.sum
			before.weight += last.weight
			pools = pools[:len(pools)-1]
		}
	}
	next := len(in)
	for _, p := range slices.Backward(pools) {
		for i := p.first; i < next; i++ {
			y[in[i]] = p.sum/p.weight + room[i]
		}
		next = p.first
	}
}

// apart returns the minimum distance between the centers of two adjacent nodes. Stops need less room than nodes.
func (l *layers) apart(a, b int32) float64 {
	half := func(n int32) float64 {
		if int(n) < l.nodes {
			return (NodeHeight + rowGap) / 2
		}
		return rowGap / 2
	}
	return half(a) + half(b)
}
