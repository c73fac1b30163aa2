package main

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest returns the name that somebody who wrote got most probably meant, or "" if none is near. Two slips are near,
// and in long names one for every three letters. Letter case does not count.
func nearest(got string, names []string) string {
	best, least := "", max(2, len(got)/3)+1
	for _, name := range names {
		limit := min(least, (len(name)+2)/3+1)
		if apart := len(name) - len(got); apart >= limit || -apart >= limit {
			continue // Each letter more or less is an edit, and there may be very many names.
		}
		if d := levenshtein.ComputeDistance(strings.ToLower(got), strings.ToLower(name)); d < limit {
			best, least = name, d
		}
	}
	return best
}
