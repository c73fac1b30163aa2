package layout

import "math"

// span is the horizontal extent of a layer and the vertical position of its first row.
type span struct{ left, right, top int32 }

func (l *layers) spans(at []Point) []span {
	all := make([]span, len(l.in))
	for i, in := range l.in {
		s := span{left: math.MaxInt32, top: math.MaxInt32}
		for _, n := range in {
			s.left, s.right = min(s.left, at[n].X-NodeWidth/2), max(s.right, at[n].X+NodeWidth/2)
			s.top = min(s.top, at[n].Y)
		}
		all[i] = s
	}
	return all
}

// past returns the route through the given stops. It is horizontal at each stop to avoid the nodes above and below.
func (l *layers) past(stops []int32, at []Point) []Point {
	var way []Point
	for _, s := range stops {
		way = append(way, Point{at[s].X - NodeWidth/2, at[s].Y}, Point{at[s].X + NodeWidth/2, at[s].Y})
	}
	return way
}

const rowPitch = NodeHeight + rowGap

// between returns the route of a link across layers with several columns. It runs in the gaps between rows.
func (l *layers) between(a Arrow, at []Point, spans []span) []Point {
	from, to := at[a.From], at[a.To]
	first, last := l.layer[a.From], l.layer[a.To]
	step := int32(rowPitch / 2)
	if to.Y < from.Y {
		step = -step
	}
	var way []Point
	if right := from.X + NodeWidth/2; right < spans[first].right {
		way = append(way, Point{right + columnGap, from.Y + step}, Point{spans[first].right, from.Y + step})
	}
	for layer := first + 1; layer < last && !l.straight; layer++ {
		s := spans[layer]
		y := from.Y + int32(int64(to.Y-from.Y)*int64(layer-first)/int64(last-first))
		row := (y - s.top) / rowPitch
		if y < s.top {
			row = -1
		}
		row = min(row, (int32(len(l.in[layer]))-1)/l.columns(layer))
		gap := s.top + row*rowPitch + rowPitch/2
		way = append(way, Point{s.left, gap}, Point{s.right, gap})
	}
	if left := to.X - NodeWidth/2; left > spans[last].left {
		way = append(way, Point{spans[last].left, to.Y - step}, Point{left - columnGap, to.Y - step})
	}
	return way
}
