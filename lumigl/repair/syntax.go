package repair

import (
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

// mend applies the fixes that faults carry. Those of a text are in order and do not overlap, and applying them uncovers
// no more.
func mend(src string) (text string, steps []Step, h *history) {
	h = &history{src: src}
	_, err := lumigl.Parser{MaxFaults: maxFaults}.Salvage(src)
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		return src, nil, h
	}
	var b strings.Builder
	done := 0
	for _, f := range invalid.Faults {
		if f.Fix == nil {
			continue
		}
		steps = append(steps, Step{
			Kind: SyntaxStep, Offset: f.Fix.Offset, Pointer: f.Pointer, Message: f.Fix.Message + ": " + f.Message,
		})
		b.WriteString(src[done:f.Fix.Offset])
		e := edit{oldOffset: f.Fix.Offset, oldEnd: f.Fix.End, newOffset: b.Len()}
		b.WriteString(f.Fix.Text)
		e.end = b.Len()
		h.edits = append(h.edits, e)
		done = f.Fix.End
	}
	b.WriteString(src[done:])
	return b.String(), steps, h
}

// history remembers what was changed in a text, so that places in what came of it can be found in the original.
type history struct {
	src   string
	edits []edit
	lines []int // where each line of the original starts
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

// back returns where a place in the changed text is in the original.
func (h *history) back(offset int) int {
	n := sort.Search(len(h.edits), func(i int) bool { return h.edits[i].newOffset > offset })
	switch {
	case n == 0:
		return offset
	case offset < h.edits[n-1].end:
		return h.edits[n-1].oldOffset
	}
	return h.edits[n-1].oldEnd + offset - h.edits[n-1].end
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
