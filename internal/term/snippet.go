package term

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Snippet prints lines of a source text with carets under a span.
type Snippet struct {
	Stream
	Source string
	// Secret, if not nil, reports whether the byte at an offset must not be shown.
	Secret func(offset int) bool
}

// Print prints the line of the given number, which the span from one offset up to another starts in, and the line that
// the span ends in, if that is another. Long lines are cut around the span. At least one caret is printed; if the end is
// negative, there is no span, and only the line is printed. Write errors are those of w to report.
func (s *Snippet) Print(w io.Writer, number, from, to int, style Style) {
	from, to = min(from, len(s.Source)), min(to, len(s.Source))
	span := ""
	if to > from {
		span = strings.TrimSuffix(s.Source[from:to], "\n") // A line of which only the start is in the span is left out.
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

// line prints the line that from is in.
func (s *Snippet) line(w io.Writer, digits, number, from, to int, style Style) {
	limit := 100
	if s.Width > 0 {
		limit = max(20, s.Width-digits-len(" ")-Width(" | ……"))
	}
	cells, cutStart, cutEnd := s.cells(from, 16*limit)
	lo, hi := window(cells, from, to, limit)
	var code, blank, carets strings.Builder
	if cutStart || lo > 0 {
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
	if cutEnd || hi < len(cells) {
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

// numbered prints a text after the column of line numbers.
func (s *Snippet) numbered(w io.Writer, digits int, number, text string) {
	fmt.Fprintln(w, strings.TrimRight(s.Paint(Blue, fmt.Sprintf(" %*s |", digits, number))+" "+text, " "))
}

// cell is one character of a source line, as it is shown.
type cell struct {
	text     string
	width    int
	from, to int // offsets in the source
}

// cells takes apart the line around an offset. Of a long line, only what is within reach is looked at, and the result
// reports whether it is cut at its start and its end: many errors on one endless line must not take quadratic time.
func (s *Snippet) cells(offset, reach int) (cells []cell, cutStart, cutEnd bool) {
	start, end := max(0, offset-reach), min(len(s.Source), offset+reach)
	if i := strings.LastIndexByte(s.Source[start:offset], '\n'); i >= 0 {
		start += i + 1
	}
	if i := strings.IndexByte(s.Source[offset:end], '\n'); i >= 0 {
		end = offset + i
	}
	cutStart = start > 0 && s.Source[start-1] != '\n'
	cutEnd = end < len(s.Source) && s.Source[end] != '\n'
	at, wasSecret := start, false
	for graphemes := displaywidth.StringGraphemes(strings.TrimSuffix(s.Source[start:end], "\r")); graphemes.Next(); {
		raw := graphemes.Value()
		c := cell{text: Visible(strings.ReplaceAll(raw, "\t", "    ")), from: at, to: at + len(raw)}
		secret := false
		for ; at < c.to; at++ {
			secret = secret || s.Secret != nil && s.Secret(at)
		}
		switch {
		case secret && wasSecret:
			c.text = ""
		case secret:
			c.text = "(secret)"
		}
		wasSecret = secret
		c.width = Width(c.text)
		cells = append(cells, c)
	}
	return cells, cutStart, cutEnd
}

// window chooses which cells of a line to show, at most limit columns of them: all if they fit, and otherwise the span
// with as much on either side.
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
