package term

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Snippet prints lines of a source text with carets under a span of it.
type Snippet struct {
	Stream
	Source string
	// Hidden, if not nil, reports whether a part of the source is secret. A line with such a part is omitted.
	Hidden func(from, to int) bool
}

// Print prints the line that contains the start of the span, and the line that contains its end if that is a different
// one. The first line has the given number. Long lines are clipped around the span. At least one caret is printed,
// unless to is negative, which means that there is no span. Print ignores write errors.
func (s *Snippet) Print(w io.Writer, number, from, to int, style Style) {
	from, to = min(from, len(s.Source)), min(to, len(s.Source))
	span := ""
	if to > from {
		span = strings.TrimSuffix(s.Source[from:to], "\n") // omit a last line if only its start is in the span
	}
	more := strings.Count(span, "\n")
	digits := len(strconv.Itoa(number + more))
	s.line(w, digits, number, from, to, style)
	if more > 1 {
		fmt.Fprintln(w, s.Paint(Blue, strings.Repeat(".", digits+1)))
	}
	if more > 0 {
		last := strings.LastIndexByte(span, '\n') + 1
		indent := len(span[last:]) - len(strings.TrimLeft(span[last:], " \t"))
		s.line(w, digits, number+more, from+last+indent, to, style)
	}
}

// line prints the line that contains the offset from.
func (s *Snippet) line(w io.Writer, digits, number, from, to int, style Style) {
	limit := 100
	if s.Width > 0 {
		limit = max(20, s.Width-digits-len(" ")-Width(" | ……"))
	}
	start, end := s.around(from, 16*limit)
	if s.Hidden != nil && s.Hidden(start, end) {
		return
	}
	cells := s.cells(start, end)
	lo, hi := window(cells, from, to, limit)
	var code, blank, carets strings.Builder
	if lo > 0 || start > 0 && s.Source[start-1] != '\n' {
		code.WriteString("…")
		blank.WriteString(" ")
	}
	for _, c := range cells[lo:hi] {
		code.WriteString(c.text)
		switch {
		case c.to <= from:
			blank.WriteString(strings.Repeat(" ", c.width))
		case c.from < to:
			carets.WriteString(strings.Repeat("^", c.width))
		}
	}
	if hi < len(cells) || end < len(s.Source) && s.Source[end] != '\n' {
		code.WriteString("…")
	}
	if carets.Len() == 0 {
		carets.WriteString("^")
	}
	s.numbered(w, digits, strconv.Itoa(number), code.String())
	if to >= 0 {
		s.numbered(w, digits, "", blank.String()+s.Paint(style, carets.String()))
	}
}

// numbered prints text next to the column of line numbers.
func (s *Snippet) numbered(w io.Writer, digits int, number, text string) {
	fmt.Fprintln(w, strings.TrimRight(s.Paint(Blue, fmt.Sprintf(" %*s |", digits, number))+" "+text, " "))
}

// cell is a displayed character of a source line.
type cell struct {
	text     string
	width    int
	from, to int // offsets in the source
}

// around returns the start and end of the line that contains offset, but at most reach bytes on each side. The limit
// avoids quadratic time for many errors on a very long line.
func (s *Snippet) around(offset, reach int) (start, end int) {
	start, end = max(0, offset-reach), min(len(s.Source), offset+reach)
	if i := strings.LastIndexByte(s.Source[start:offset], '\n'); i >= 0 {
		start += i + 1
	}
	if i := strings.IndexByte(s.Source[offset:end], '\n'); i >= 0 {
		end = offset + i
	}
	return start, end
}

// cells splits a part of a line into displayed characters.
func (s *Snippet) cells(start, end int) []cell {
	cells := make([]cell, 0, end-start)
	for graphemes := displaywidth.StringGraphemes(strings.TrimSuffix(s.Source[start:end], "\r")); graphemes.Next(); {
		raw := graphemes.Value()
		c := cell{text: Visible(strings.ReplaceAll(raw, "\t", "    ")), from: start, to: start + len(raw)}
		c.width = Width(c.text)
		cells = append(cells, c)
		start = c.to
	}
	return cells
}

// window selects cells that fit in limit columns: all of them if possible, or else the span with some context on each
// side.
func window(cells []cell, from, to, limit int) (lo, hi int) {
	total, before, marked := 0, 0, 0
	for _, c := range cells {
		total += c.width
		switch {
		case c.to <= from:
			before += c.width
		case c.from < to:
			marked += c.width
		}
	}
	if total <= limit {
		return 0, len(cells)
	}
	skip := max(0, min(before-max(0, limit-marked)/2, total-limit))
	for ; lo < len(cells) && (skip > 0 || lo > 0 && cells[lo].width == 0); lo++ {
		skip -= cells[lo].width
	}
	for hi = lo; hi < len(cells) && limit >= cells[hi].width; hi++ {
		limit -= cells[hi].width
	}
	return lo, hi
}
