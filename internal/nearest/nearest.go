// Package nearest finds what somebody meant who wrote a name that is not there.
package nearest

import (
	"iter"
	"math"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name returns the name that somebody who wrote got most probably meant, and "" if none is near. Two slips are near, and
// in long names one for every three letters. Letter case does not count.
func Name[S ~string](got string, names []S) S {
	return S(To(got, max(2, len(got)/3), func(yield func(string) bool) {
		for _, name := range names {
			if !yield(string(name)) {
				return
			}
		}
	}))
}

// To returns the name that is most like another, and "" if none is within some edits of it and has something in common
// with it. Short names, on either side, are near within fewer edits: one for every three letters or part of them. Letter
// case does not count. There may be very many names, so most of them are ruled out by the letters that they have.
func To(name string, edits int, names iter.Seq[string]) string {
	best, least := "", edits+1
	letters := count(name)
	lower := strings.ToLower(name)
	work := 0
	for candidate := range names {
		limit := min(least, (min(len(name), len(candidate))+2)/3+1)
		if candidate == "" || letters.apart(count(candidate)) >= limit {
			continue
		}
		a, b := trimCommon(lower, strings.ToLower(candidate))
		if work += len(a) * len(b); work > maxWork {
			break
		}
		if d := levenshtein.ComputeDistance(a, b); d < limit && d < max(len(name), len(candidate)) {
			best, least = candidate, d
		}
	}
	return best
}

// Alike reports whether two names are within some edits of each other, and have something in common.
func Alike(a, b string, edits int) bool {
	longer := max(len(a), len(b))
	if count(a).apart(count(b)) > edits {
		return false
	}
	a, b = trimCommon(strings.ToLower(a), strings.ToLower(b))
	if len(a)*len(b) > maxWork {
		return false
	}
	d := levenshtein.ComputeDistance(a, b)
	return d == 0 || d <= edits && d < longer
}

// maxWork bounds how many letters are compared, since there may be a great many long names that differ in the order of
// their letters only.
const maxWork = 20_000_000

// letters has how often each byte occurs in a string, but for bytes that are alike in their last bits, as small and large
// letters are.
type letters [32]int16

func count(s string) letters {
	var l letters
	for i := range len(s) {
		if n := &l[s[i]%32]; *n < math.MaxInt16 {
			*n++
		}
	}
	return l
}

// apart is a lower bound of the number of edits between two strings: each adds a letter, takes one, or does both.
func (l letters) apart(m letters) int {
	more, fewer := 0, 0
	for i := range l {
		if d := int(l[i]) - int(m[i]); d > 0 {
			more += d
		} else {
			fewer -= d
		}
	}
	return max(more, fewer)
}

// trimCommon cuts off what two strings begin and end with, which makes no difference to how far they are apart.
func trimCommon(a, b string) (string, string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
