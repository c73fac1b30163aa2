package diag

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that somebody who wrote got most probably meant, or "" if none is near. Two slips are
// near, and in long names one for every three letters. Letter case does not count.
func Nearest[S ~string](got string, candidates []S) S {
	var best S
	bestDistance := max(2, len(got)/3) + 1
	for _, candidate := range candidates {
		limit := min(bestDistance, (len(candidate)+2)/3+1)
		if d := levenshtein.ComputeDistance(strings.ToLower(got), strings.ToLower(string(candidate))); d < limit {
			best, bestDistance = candidate, d
		}
	}
	return best
}
