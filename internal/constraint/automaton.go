package constraint

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// automaton matches ASCII strings several times as fast as package regexp.
type automaton struct {
	first uint8
	next  [][utf8.RuneSelf]uint8 // the next state, by state and character
	atEnd []bool                 // whether a string that ends in this state matches
}

// The final states, and the maximum number of all other states.
const (
	matched   = 255
	failed    = 254
	maxStates = 128
)

// matches reports whether s matches. Decided is false if the result depends on non-ASCII characters.
func (a *automaton) matches(s string) (match, decided bool) {
	state := a.first
	for i := 0; state < failed; i++ {
		if i == len(s) {
			return a.atEnd[state], true
		}
		if s[i] >= utf8.RuneSelf {
			return false, false
		}
		state = a.next[state][s[i]]
	}
	return state == matched, true
}

// newAutomaton returns an automaton for re. It returns nil if the automaton would have too many states, or if re
// contains assertions other than the start and end of the text.
func newAutomaton(re *regexp.Regexp) *automaton {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	const ends = syntax.EmptyBeginText | syntax.EmptyEndText
	if slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool {
		return i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^ends != 0
	}) {
		return nil
	}
	a := &automaton{}
	start := uint32(prog.Start)
	var live [][]*syntax.Inst // the instructions that read the next character, by state
	add := func(at []uint32, end syntax.EmptyOp) uint8 {
		reads, found := follow(prog, at, end)
		_, atEnd := follow(prog, at, end|syntax.EmptyEndText)
		switch {
		case found:
			return matched
		case len(reads) == 0 && !atEnd:
			return failed
		}
		live, a.atEnd = append(live, reads), append(a.atEnd, atEnd)
		return uint8(len(live) - 1)
	}
	a.first = add([]uint32{start}, syntax.EmptyBeginText)
	numbers := map[string]uint8{}
	for i := 0; i < len(live); i++ {
		a.next = append(a.next, [utf8.RuneSelf]uint8{})
		for c := range a.next[i] {
			at := []uint32{start} // a match may begin at any character
			for _, inst := range live[i] {
				if inst.MatchRune(rune(c)) {
					at = append(at, inst.Out)
				}
			}
			slices.Sort(at)
			key := fmt.Sprint(slices.Compact(at))
			number, known := numbers[key]
			if !known {
				number = add(at, 0)
				numbers[key] = number
			}
			a.next[i][c] = number
		}
		if len(live) > maxStates {
			return nil
		}
	}
	return a
}

// follow returns the instructions reachable from from that read a character, and reports whether a match is complete.
func follow(prog *syntax.Prog, from []uint32, ends syntax.EmptyOp) (reads []*syntax.Inst, found bool) {
	seen := make([]bool, len(prog.Inst))
	for next := slices.Clone(from); len(next) > 0; {
		pc := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			next = append(next, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			next = append(next, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^ends == 0 {
				next = append(next, inst.Out)
			}
		case syntax.InstMatch:
			found = true
		case syntax.InstFail:
		default:
			reads = append(reads, inst)
		}
	}
	return reads, found
}
