package repair

import (
	"cmp"
	"errors"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/lumigl"
)

// Syntax mends the syntax of a file where there is no doubt what was meant, and nothing else. The error is a
// *[RefusedError].
func Syntax(src string) (*Mended, error) {
	text, steps, h := mend(src)
	h.locate(steps)
	m := &Mended{Text: text, Steps: steps}
	var err error
	if m.Document, err = lumigl.Parse(text); err != nil {
		return nil, refused(err, h)
	}
	return m, nil
}

// Text mends the syntax of any JSON where there is no doubt what was meant. What it cannot mend stays.
func Text(src string) (text string, steps []Step) {
	text, steps, h := mend(src)
	h.locate(steps)
	return text, steps
}

// Mended is a file whose syntax has been mended.
type Mended struct {
	Text     string
	Document lumigl.Document
	Steps    []Step
}

// maxPasses bounds how often the text is read again. To mend one thing may uncover another, but not for ever.
const maxPasses = 20

// mend applies the fixes that faults carry until there are none.
func mend(src string) (text string, steps []Step, h *history) {
	h = &history{src: src}
	text = src
	for range maxPasses {
		_, err := lumigl.Parser{MaxFaults: maxFaults}.Salvage(text)
		var invalid *lumigl.InvalidError
		if !errors.As(err, &invalid) {
			break
		}
		var chosen []*lumigl.Fault
		for i := range invalid.Faults {
			if invalid.Faults[i].Code == lumigl.ConflictFault {
				return text, steps, h // A comment may begin on one side of it, so nothing is mended before it is gone.
			}
			if invalid.Faults[i].Fix != nil {
				chosen = append(chosen, &invalid.Faults[i])
			}
		}
		chosen = apart(chosen)
		if len(chosen) == 0 {
			break
		}
		for _, f := range chosen {
			steps = append(steps, Step{
				Kind: SyntaxStep, Offset: h.back(f.Fix.Offset), Pointer: f.Pointer, Message: f.Fix.Message + ": " + f.Message,
			})
		}
		text = h.apply(text, chosen)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Offset, b.Offset) })
	return text, steps, h
}

// apart puts fixes in order, and leaves out those that touch what another changes.
func apart(chosen []*lumigl.Fault) []*lumigl.Fault {
	slices.SortStableFunc(chosen, func(a, b *lumigl.Fault) int {
		return cmp.Or(cmp.Compare(a.Fix.Offset, b.Fix.Offset), cmp.Compare(a.Fix.End, b.Fix.End))
	})
	var kept []*lumigl.Fault
	for _, f := range chosen {
		if len(kept) > 0 {
			last := kept[len(kept)-1].Fix
			if f.Fix.Offset < last.End || f.Fix.Offset == last.Offset && f.Fix.End == last.End {
				continue
			}
		}
		kept = append(kept, f)
	}
	return kept
}

// history remembers what was changed in a text, so that places in what came of it can be found in the original.
type history struct {
	src    string
	passes [][]edit
	lines  []int // where each line of the original starts
	// last is the place that was asked for last, with how many characters stand before it on its line. Most come in order,
	// and a line may be very long.
	last struct{ offset, characters int }
}

// edit is a replaced part: where it was, and where the new one is.
type edit struct {
	oldEnd         int
	oldOffset      int
	newOffset, end int
}

// apply changes a text.
func (h *history) apply(text string, chosen []*lumigl.Fault) string {
	var b strings.Builder
	var pass []edit
	done := 0
	for _, f := range chosen {
		b.WriteString(text[done:f.Fix.Offset])
		e := edit{oldOffset: f.Fix.Offset, oldEnd: f.Fix.End, newOffset: b.Len()}
		b.WriteString(f.Fix.Text)
		e.end = b.Len()
		pass = append(pass, e)
		done = f.Fix.End
	}
	b.WriteString(text[done:])
	h.passes = append(h.passes, pass)
	return b.String()
}

// back returns where in the original something stands.
func (h *history) back(offset int) int {
	for i := len(h.passes) - 1; i >= 0; i-- {
		pass := h.passes[i]
		n := sort.Search(len(pass), func(i int) bool { return pass[i].newOffset > offset })
		switch {
		case n == 0:
		case offset < pass[n-1].end:
			offset = pass[n-1].oldOffset
		default:
			offset = pass[n-1].oldEnd + offset - pass[n-1].end
		}
	}
	return offset
}

// position returns the line and the column of a place in the original.
func (h *history) position(offset int) (line, column int) {
	if h.lines == nil {
		h.lines = []int{0}
		for i := range len(h.src) {
			if h.src[i] == '\n' {
				h.lines = append(h.lines, i+1)
			}
		}
	}
	offset = min(offset, len(h.src))
	line = sort.Search(len(h.lines), func(i int) bool { return h.lines[i] > offset })
	start, before := h.lines[line-1], 0
	if start <= h.last.offset && h.last.offset <= offset {
		start, before = h.last.offset, h.last.characters
	}
	h.last.offset, h.last.characters = offset, before+utf8.RuneCountInString(h.src[start:offset])
	return line, h.last.characters + 1
}

// locate fills in the lines and columns of steps.
func (h *history) locate(steps []Step) {
	for i := range steps {
		s := &steps[i]
		if s.Offset < 0 {
			s.Offset = 0
			continue
		}
		s.Line, s.Column = h.position(s.Offset)
	}
}

// original returns faults with their places in the original.
func (h *history) original(invalid *lumigl.InvalidError) *lumigl.InvalidError {
	moved := &lumigl.InvalidError{More: invalid.More, Faults: slices.Clone(invalid.Faults)}
	for i := range moved.Faults {
		f := &moved.Faults[i]
		f.Offset, f.End, f.Fix = h.back(f.Offset), h.back(f.End), nil
		if f.Line > 0 {
			f.Line, f.Column = h.position(f.Offset)
		}
		f.Notes = slices.Clone(f.Notes)
		for j := range f.Notes {
			n := &f.Notes[j]
			n.Offset = h.back(n.Offset)
			n.Line, n.Column = h.position(n.Offset)
		}
	}
	return moved
}
