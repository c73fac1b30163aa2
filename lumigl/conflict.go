package lumigl

import (
	"fmt"
	"strings"
)

// conflict is what a merge leaves in a text where two sides have changed the same lines. All but the first mark are
// absent if that stands alone.
type conflict struct {
	begin, base, middle, end mark
}

// mark is a line that a merge writes between the lines of a text. It is absent if it has no end.
type mark struct {
	start, stop int
	label       string // what the side is called
}

func (m mark) exists() bool { return m.stop > 0 }

// The lines that Git and others write. None of them can begin a line of JSON.
const (
	beginMark  = "<<<<<<<"
	baseMark   = "|||||||"
	middleMark = "======="
	endMark    = ">>>>>>>"
)

// conflictsIn finds what merges have left in a text. The middle of a conflict that stands alone is none: it may be a line
// in a comment.
func conflictsIn(src string) []conflict {
	if !strings.Contains(src, beginMark) && !strings.Contains(src, endMark) {
		return nil
	}
	var found []conflict
	var open conflict
	drop := func() {
		if open.begin.exists() {
			found = append(found, conflict{begin: open.begin})
		}
		open = conflict{}
	}
	start := 0
	for line := range strings.Lines(src) {
		kind, m := markOf(line, start)
		start += len(line)
		switch {
		case kind == beginMark:
			drop()
			open.begin = m
		case kind == baseMark && !open.middle.exists():
			open.base = m
		case kind == middleMark && open.begin.exists() && !open.middle.exists():
			open.middle = m
		case kind == endMark && open.middle.exists():
			open.end = m
			found = append(found, open)
			open = conflict{}
		case kind == endMark:
			drop()
			found = append(found, conflict{begin: m})
		}
	}
	drop()
	return found
}

// markOf returns which mark a line is, "" if it is none.
func markOf(line string, start int) (string, mark) {
	line = strings.TrimRight(line, "\r\n")
	for _, kind := range [...]string{beginMark, baseMark, middleMark, endMark} {
		if label, ok := strings.CutPrefix(line, kind); ok && (label == "" || label[0] == ' ') {
			return kind, mark{start, start + len(line), strings.TrimSpace(label)}
		}
	}
	return "", mark{}
}

// conflicted reports conflicts, and what is wrong whichever side of them is chosen. Parse reads a text.
func (p Parser) conflicted(src string, conflicts []conflict, parse func(string) *InvalidError) error {
	f := p.newFaults()
	for _, c := range conflicts {
		f.add(c.fault())
	}
	type key struct {
		code    Code
		offset  int
		message string
	}
	always := map[key]bool{}
	theirs, ours := parse(side(src, conflicts, conflict.ours)), parse(side(src, conflicts, conflict.theirs))
	if theirs != nil && ours != nil {
		for _, fault := range theirs.Faults {
			always[key{fault.Code, fault.Offset, fault.Message}] = true
		}
		for _, fault := range ours.Faults {
			if always[key{fault.Code, fault.Offset, fault.Message}] {
				f.add(fault)
			}
		}
		f.more = f.more || theirs.More && ours.More
	}
	return f.errIn(src)
}

func (c conflict) fault() Fault {
	f := Fault{Code: ConflictFault, Offset: c.begin.start, End: c.begin.stop}
	switch {
	case !c.end.exists():
		f.Message = "this line is left of a merge; remove it, if the merge is finished"
		return f
	case c.begin.label != "" && c.end.label != "" && c.begin.label != c.end.label:
		f.Message = fmt.Sprintf("a merge is not finished: keep what %q has, what %q has, or both, and remove the marks",
			clip(c.begin.label), clip(c.end.label))
	default:
		f.Message = "a merge is not finished: keep what one side has, or both, and remove the marks"
	}
	f.Notes = []Note{
		{Offset: c.middle.start, Message: "the other side begins here"},
		{Offset: c.end.start, Message: "it ends here"},
	}
	return f
}

// ours and theirs are the parts that go where the other side is chosen.
func (c conflict) ours() [][2]int {
	return [][2]int{{c.begin.start, max(c.begin.stop, c.middle.stop)}, {c.end.start, c.end.stop}}
}

func (c conflict) theirs() [][2]int {
	first := c.middle
	if c.base.exists() {
		first = c.base
	}
	return [][2]int{{c.begin.start, c.begin.stop}, {first.start, c.end.stop}}
}

// side is a text with spaces in place of one side of its conflicts, so that all else is where it was.
func side(src string, conflicts []conflict, gone func(conflict) [][2]int) string {
	text := []byte(src)
	for _, c := range conflicts {
		for _, part := range gone(c) {
			for i := part[0]; i < part[1]; i++ {
				if text[i] != '\n' {
					text[i] = ' '
				}
			}
		}
	}
	return string(text)
}
