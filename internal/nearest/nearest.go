// Package nearest finds what somebody meant who wrote a name that is not there.
package nearest

import (
	"cmp"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

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
	s := newSearch(name)
	for candidate := range names {
		if d, ok := s.within(candidate, least-1); ok {
			best, least = candidate, d
		}
		if s.work > maxWork {
			break
		}
	}
	return best
}

// All returns the names that [To] has to choose among: more than one if they are equally near, though never more than
// three, which are as good as many. It is for names that are followed without another look. So it takes two letters that
// changed places for one edit, it does not take a name for one with another number or single letter in it, since these
// tell apart what is alike otherwise, and it returns none if there are too many names to compare them all.
func All(name string, edits int, names iter.Seq[string]) []string {
	var all []string
	least := edits
	s := newSearch(name)
	for candidate := range names {
		if !sameMarks(name, candidate) {
			continue
		}
		d, ok := s.within(candidate, min(edits, least+1))
		if s.work > maxWork {
			return nil
		}
		if ok && isSwap(trimCommon(s.lower, strings.ToLower(candidate))) {
			d--
		}
		switch {
		case !ok || d > least:
		case d < least:
			least, all = d, []string{candidate}
		case len(all) < 3:
			all = append(all, candidate)
		}
	}
	return all
}

// search is the search for what is near a name.
type search struct {
	name, lower string
	letters     letters
	work        int // how many letters were compared; nothing is near any more once they are more than maxWork
}

func newSearch(name string) *search {
	return &search{name: name, lower: strings.ToLower(name), letters: count(name)}
}

// within returns how many edits a candidate is from the name, and reports whether these are few enough.
func (s *search) within(candidate string, edits int) (d int, ok bool) {
	edits = min(edits, (min(len(s.name), len(candidate))+2)/3)
	if candidate == "" || s.letters.apart(count(candidate)) > edits {
		return 0, false
	}
	a, b := trimCommon(s.lower, strings.ToLower(candidate))
	if s.work += len(a) * len(b); s.work > maxWork {
		return 0, false
	}
	d = levenshtein.ComputeDistance(a, b)
	return d, d <= edits && d < max(len(s.name), len(candidate))
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

// isSwap reports whether what is different are two letters that changed places.
func isSwap(a, b string) bool {
	return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// Siblings reports whether two names differ in their numbers and single letters only, as web-1 and web-2 do, or zone-a
// and zone-b. These are two things, and neither is a slip for the other.
func Siblings(a, b string) bool {
	return a != b && withoutMarks(a) == withoutMarks(b)
}

func withoutMarks(s string) string {
	var b strings.Builder
	for s != "" {
		before, _, rest := cutMark(s)
		b.WriteString(before)
		s = rest
	}
	return b.String()
}

// sameMarks reports whether two names have the same numbers and single letters in them.
func sameMarks(a, b string) bool {
	for {
		var mark, other string
		_, mark, a = cutMark(a)
		_, other, b = cutMark(b)
		if mark != other || mark == "" {
			return mark == other
		}
	}
}

// cutMark splits a name at the first number or single letter. Zeros before a number do not count, and letter case does
// not.
func cutMark(s string) (before, mark, rest string) {
	for start := 0; start < len(s); {
		kind, end := kindOf(s[start]), start+1
		for end < len(s) && kindOf(s[end]) == kind {
			end++
		}
		switch {
		case kind == digit:
			return s[:start], cmp.Or(strings.TrimLeft(s[start:end], "0"), "0"), s[end:]
		case kind == letter && end == start+1:
			return s[:start], strings.ToLower(s[start:end]), s[end:]
		}
		start = end
	}
	return s, "", ""
}

// kind is what a byte of a name is.
type kind int

const (
	other kind = iota
	digit
	letter
)

func kindOf(b byte) kind {
	switch {
	case '0' <= b && b <= '9':
		return digit
	case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= utf8.RuneSelf:
		return letter
	}
	return other
}
