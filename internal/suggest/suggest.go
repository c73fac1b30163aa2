// Package suggest finds the existing name that was probably meant by a mistyped one. The TypeScript runtime implements
// the same algorithm in src/suggest.ts. Both are tested with testdata/cases.json.
package suggest

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name returns the name nearest to got. It returns "" if no name is near or if several are equally near. Two names are
// near if their distance is at most one edit, or at most one edit for every three characters of the shorter name. A
// single character is never near anything. An edit inserts, deletes, or replaces a character, or swaps two adjacent
// characters. Letter case is ignored.
func Name[S ~string](got string, names []S) S {
	return S(To(got, math.MaxInt, func(yield func(string) bool) {
		for _, name := range names {
			if !yield(string(name)) {
				return
			}
		}
	}))
}

// To is like [Name], for a large number of names and with an additional limit on the number of edits. It returns "" if
// there are too many similar names to compare.
func To(name string, edits int, names iter.Seq[string]) string {
	if near := search(name, edits, names, func(string) bool { return true }); len(near) == 1 {
		return near[0]
	}
	return ""
}

// All returns the nearest names, which are up to three if several are equally near. It returns nil where [To] would
// give up. It is meant for suggestions that are applied without review: names that differ in a number or a single
// letter, such as web-1 and web-2, do not count as near, since they are probably different things.
func All(name string, edits int, names iter.Seq[string]) []string {
	return search(name, edits, names, func(candidate string) bool { return sameMarks(name, candidate) })
}

// search returns up to three distinct eligible names at the smallest distance from name.
func search(name string, edits int, names iter.Seq[string], eligible func(string) bool) []string {
	var found []string
	least, work := edits, 0
	folded, letters := fold(name), count(name)
	for candidate := range names {
		if letters.apart(count(candidate)) > least || slices.Contains(found, candidate) || !eligible(candidate) {
			continue
		}
		other := fold(candidate)
		a, b := trimCommon(folded, other)
		if work += len(a) * len(b); work > maxWork {
			return nil
		}
		d := distance(a, b)
		switch {
		case d > min(least, slips(len(folded), len(other))):
		case d < least:
			least, found = d, []string{candidate}
		case len(found) < 3:
			found = append(found, candidate)
		}
	}
	return found
}

// slips returns the largest distance at which names of lengths a and b are near.
func slips(a, b int) int {
	shorter := min(a, b)
	if shorter < 2 {
		return 0
	}
	return max(1, shorter/3)
}

// Distance returns the minimum number of edits that turn a into b without editing any part twice. An edit inserts,
// deletes, or replaces a character, or swaps two adjacent characters.
func Distance(a, b string) int { return distance([]rune(a), []rune(b)) }

func distance(a, b []rune) int {
	beforeLast, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			d := last[j]
			if a[i] != b[j] {
				d = min(d, last[j+1], row[j]) + 1
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, beforeLast[j-1]+1)
			}
			row[j+1] = d
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(b)]
}

// Alike reports whether two names are within the given number of edits and share some characters.
func Alike(a, b string, edits int) bool {
	if count(a).apart(count(b)) > edits {
		return false
	}
	x, y := fold(a), fold(b)
	longer := max(len(x), len(y))
	x, y = trimCommon(x, y)
	if len(x)*len(y) > maxWork {
		return false
	}
	d := distance(x, y)
	return d == 0 || d <= edits && d < longer
}

// maxWork limits the number of character comparisons. It matters if many long names differ only in the order of their
// letters.
const maxWork = 20_000_000

// fold returns the characters of s in lower case. It keeps İ, whose lower case is two characters long.
func fold(s string) []rune {
	folded := []rune(s)
	for i, r := range folded {
		folded[i] = lower(r)
	}
	return folded
}

func lower(r rune) rune {
	if r == 'İ' {
		return r
	}
	return unicode.ToLower(r)
}

// letters counts the characters of a string by the lowest five bits of their code points.
type letters [32]int16

// count counts the characters of s. It ignores letter case, since both cases of an ASCII letter have the same lowest
// bits.
func count(s string) letters {
	var l letters
	for _, r := range s {
		if r >= utf8.RuneSelf {
			r = lower(r)
		}
		if n := &l[r%32]; *n < math.MaxInt16 {
			*n++
		}
	}
	return l
}

// apart returns a lower bound for the number of edits between two strings. One edit adds at most one character and
// removes at most one.
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

// trimCommon removes the common prefix and the common suffix of two names. Neither affects the distance.
func trimCommon(a, b []rune) (restA, restB []rune) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// sameMarks reports whether two names contain the same sequence of numbers and single letters.
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

// cutMark splits s around its first number or single letter. In mark, leading zeros are removed and letter case is
// ignored.
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

// kind is the kind of a byte in a name.
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
