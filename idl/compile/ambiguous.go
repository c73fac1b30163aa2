package compile

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

const (
	// manyTimes is the number of repetitions above which a part counts as unlimited.
	manyTimes = 16
	// fewTimes is the corresponding limit for a part that itself contains unlimited repetitions. Matching time is
	// polynomial in the length of the string, with the number of repetitions as the degree.
	fewTimes = 3
	// mostPositions is the maximum number of positions in a repeated part. Larger parts count as ambiguous.
	mostPositions = 2000
)

// isAmbiguous reports whether a repeated part of the pattern can match the same string in more than one way. A
// backtracking matcher tries every way before it fails, and their number grows exponentially with the length of the
// string.
func isAmbiguous(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && repeatsAmbiguously(tree, 1)
}

// repeatsAmbiguously is [isAmbiguous] for a subexpression that enclosing repetitions repeat up to the given number of
// times.
func repeatsAmbiguously(re *syntax.Regexp, times int) bool {
	inside := func(times int) bool {
		return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return repeatsAmbiguously(sub, times) })
	}
	unlimited := isUnlimited(re)
	if !unlimited && re.Op != syntax.OpRepeat {
		return inside(times)
	}
	var l loop
	p := l.part(re.Sub[0])
	if !unlimited {
		most := manyTimes
		if hasUnlimited(re.Sub[0]) {
			most = fewTimes
		}
		if times*re.Max <= most {
			return inside(times * re.Max)
		}
	}
	// Any of the required rounds may match the empty string.
	if times*re.Min > manyTimes && p.empty > 0 && len(l.positions) > 0 {
		return true
	}
	l.repeat(p)
	return len(l.positions) >= mostPositions || l.isAmbiguous()
}

func isUnlimited(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpPlus ||
		re.Op == syntax.OpRepeat && (re.Max < 0 || re.Max > manyTimes)
}

func hasUnlimited(re *syntax.Regexp) bool {
	return isUnlimited(re) || slices.ContainsFunc(re.Sub, hasUnlimited)
}

// loop is the Glushkov automaton of a repeated part. It has one position per character of the pattern.
type loop struct{ positions []position }

type position struct {
	characters []rune // pairs of first and last rune
	next       []entry
}

// entry is a possible next position and the number of ways to reach it, where 2 means two or more.
type entry struct{ position, ways int }

// part describes a subexpression: the number of ways it can match the empty string, and the positions where a match can
// begin and end.
type part struct {
	empty       int
	first, last []entry
}

// part adds the positions of re to l. It assumes that ^ never matches after the first character, that $ never matches
// before the last, and that \b matches anywhere.
func (l *loop) part(re *syntax.Regexp) part {
	if len(l.positions) >= mostPositions {
		return part{}
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return part{empty: 1}
	case syntax.OpLiteral:
		all := part{empty: 1}
		for _, r := range re.Rune {
			all = l.join(all, l.character(r, r))
		}
		return all
	case syntax.OpCharClass:
		return l.character(re.Rune...)
	case syntax.OpAnyChar:
		return l.character(0, unicode.MaxRune)
	case syntax.OpAnyCharNotNL:
		return l.character(0, '\n'-1, '\n'+1, unicode.MaxRune)
	case syntax.OpCapture:
		return l.part(re.Sub[0])
	case syntax.OpStar:
		return l.repeat(l.part(re.Sub[0]))
	case syntax.OpPlus: // only the first round may match the empty string
		inner := l.part(re.Sub[0])
		return part{inner.empty, times(l.repeat(inner).first, 1+inner.empty), inner.last}
	case syntax.OpQuest:
		return optional(l.part(re.Sub[0]))
	case syntax.OpRepeat:
		return l.counted(re)
	case syntax.OpConcat:
		all := part{empty: 1}
		for _, sub := range re.Sub {
			all = l.join(all, l.part(sub))
		}
		return all
	case syntax.OpAlternate:
		var all part
		for _, sub := range re.Sub {
			p := l.part(sub)
			all = part{min(2, all.empty+p.empty), append(all.first, p.first...), append(all.last, p.last...)}
		}
		return all
	}
	return part{}
}

func (l *loop) character(ranges ...rune) part {
	at := []entry{{len(l.positions), 1}}
	l.positions = append(l.positions, position{characters: ranges})
	return part{first: at, last: at}
}

// counted returns the part for a counted repetition, expanding x{2,4} to xx(x(x)?)?.
func (l *loop) counted(re *syntax.Regexp) part {
	all := part{empty: 1}
	if re.Max < 0 {
		all = l.repeat(l.part(re.Sub[0]))
	}
	for range re.Max - re.Min {
		all = optional(l.join(l.part(re.Sub[0]), all))
	}
	for range re.Min {
		all = l.join(l.part(re.Sub[0]), all)
	}
	return all
}

func optional(p part) part { return part{min(2, p.empty+1), p.first, p.last} }

func (l *loop) repeat(p part) part {
	l.connect(p.last, p.first)
	return part{1, p.first, p.last}
}

func (l *loop) join(a, b part) part {
	l.connect(a.last, b.first)
	return part{
		min(2, a.empty*b.empty),
		append(times(b.first, a.empty), a.first...),
		append(times(a.last, b.empty), b.last...),
	}
}

// times multiplies the number of ways of each entry by n, up to 2, and drops entries with none.
func times(entries []entry, n int) []entry {
	var all []entry
	for _, e := range entries {
		if e.ways = min(2, e.ways*n); e.ways > 0 {
			all = append(all, e)
		}
	}
	return all
}

func (l *loop) connect(from, to []entry) {
	for _, e := range from {
		p := &l.positions[e.position]
		p.next = append(p.next, times(to, e.ways)...)
	}
}

// isAmbiguous reports whether two different paths between the same positions can read the same string. It starts at
// every position, since the part repeats and each position can reach all others.
func (l *loop) isAmbiguous() bool {
	seen := map[[2]int]bool{}
	var todo [][2]int
	for i := range l.positions {
		todo = append(todo, [2]int{i, i})
	}
	for len(todo) > 0 {
		pair := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, a := range l.positions[pair[0]].next {
			for j, b := range l.positions[pair[1]].next {
				next := [2]int{a.position, b.position}
				switch {
				case pair[0] == pair[1] && i == j:
					if a.ways > 1 {
						return true
					}
				case a.position == b.position:
					return true
				case !seen[next] && overlap(l.positions[a.position].characters, l.positions[b.position].characters):
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
	}
	return false
}

// overlap reports whether two sorted lists of character ranges have a character in common.
func overlap(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[1] && b[0] <= a[1] {
			return true
		}
		if a[1] < b[1] {
			a = a[2:]
		} else {
			b = b[2:]
		}
	}
	return false
}
