package layout

import "math"

// unfolded is the number of layers up to which a part is never folded.
const unfolded = 24

// fold breaks a part that is much wider than tall into bands, one below the other like lines of text. Arrows between
// bands then point back to the left, but in a part a hundred screens wide, their ends would be too far apart to be
// visible together. fold returns the new width and height, and the distance between bands, which is 0 if there is only
// one.
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

// unfold routes a link from the end of one band to the start of another, through the gap above the second band.
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
