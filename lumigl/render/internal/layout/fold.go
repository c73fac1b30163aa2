package layout

import "math"

// unfolded is how many layers there may be before they are folded.
const unfolded = 24

// fold breaks a part that is far wider than it is high into bands, one below the other, as lines of text are. Arrows from
// one band to the next lead back to the left, but nobody could see both ends of a part that is a hundred screens wide. It
// returns the new width and height, and how far it is from one band to the next, 0 if there is only one.
func (l *layers) fold(at []Point, width, height int32) (newWidth, newHeight, pitch int32) {
	bands := int32(math.Sqrt(float64(width) / (aspect * float64(height+partGap))))
	if len(l.in) <= unfolded || bands < 2 {
		return width, height, 0
	}
	spans := l.spans(at)
	limit := width / bands
	start, widest, y := int32(0), int32(0), int32(0)
	for i, in := range l.in {
		if spans[i].right-start > limit && spans[i].left > start {
			start = spans[i].left
			y += height + partGap
		}
		widest = max(widest, spans[i].right-start)
		for _, n := range in {
			at[n].X -= start
			at[n].Y += y
		}
	}
	return widest, y + height, height + partGap
}

// unfold adds to the way of a link how it gets from the end of one band to the beginning of another: through the gap
// above that.
func unfold(way []Point, from, to Point, pitch int32) []Point {
	if pitch == 0 {
		return way
	}
	var all []Point
	last := Point{from.X + NodeWidth/2, from.Y}
	for _, next := range append(way[:len(way):len(way)], Point{to.X - NodeWidth/2, to.Y}) {
		if next.X < last.X {
			gap := next.Y/pitch*pitch - partGap/2
			all = append(all, Point{last.X + columnGap, gap}, Point{next.X - columnGap, gap})
		}
		all = append(all, next)
		last = next
	}
	return all[:len(all)-1]
}
