package lumigl

import (
	"math"

	"github.com/agnivade/levenshtein"
)

// nearest returns the name that is most like another, and "" if none is like it. There may be very many names, so most
// of them are ruled out by the letters that they have.
func nearest(name string, names []string) string {
	best, least := "", len(name)/4+1
	letters := count(name)
	work := 0
	for _, candidate := range names {
		if letters.apart(count(candidate)) >= least {
			continue
		}
		a, b := trimCommon(name, candidate)
		if work += len(a) * len(b); work > maxWork {
			break
		}
		if d := levenshtein.ComputeDistance(a, b); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// maxWork bounds how many letters are compared, since there may be a great many long names that differ in the order of
// their letters only.
const maxWork = 20_000_000

// letters has how often each byte occurs in a string, but for bytes that are alike in their last bits.
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
