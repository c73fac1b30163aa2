package layout

import "math"

// unfolded is how many layers there may be before they are folded.
const unfolded = 24

// fold breaks a part that is far wider than it is high into bands, one below the other, as lines of text are. Arrows from
// one band to the next lead back to the left, but nobody could see both ends of a part that is a hundred screens wide.
func (l *layers) fold(at []Point, width, height int32) (int32, int32) {
	bands := int32(math.Sqrt(float64(width) / (aspect * float64(height+partGap))))
	if len(l.in) <= unfolded || bands < 2 {
		return width, height
	}
	left := make([]int32, len(l.in)) // of each layer
	right := make([]int32, len(l.in))
	for i, in := range l.in {
		left[i], right[i] = math.MaxInt32, 0
		for _, n := range in {
			left[i], right[i] = min(left[i], at[n].X-NodeWidth/2), max(right[i], at[n].X+NodeWidth/2)
		}
	}
	limit := width / bands
	start, widest, y := int32(0), int32(0), int32(0)
	for i, in := range l.in {
		if right[i]-start > limit && left[i] > start {
			start = left[i]
			y += height + partGap
		}
		widest = max(widest, right[i]-start)
		for _, n := range in {
			at[n].X -= start
			at[n].Y += y
		}
	}
	return widest, y + height
}
