package diag

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/visible"
)

// snippet prints the source lines on which a span starts and ends, each with carets under its part of the span. It
// prints nothing where the source or the line is not known.
func (p *textPrinter) snippet(span Span, color string) {
	lines := p.source(span.Start.File)
	first, last := span.Start.Line, span.End.Line
	if first < 1 || first > len(lines) {
		return
	}
	if last > len(lines) || last < first {
		last = first
		span.End = Position{}
	}
	// A span that ends before the first column of a line takes in the line break before it, and nothing of that line.
	if last > first && span.End.Column <= 1 {
		last--
		span.End.Column = math.MaxInt
	}
	digits := len(strconv.Itoa(last))
	from, to := span.Start.Column, span.End.Column
	if last == first {
		p.marked(digits, first, lines[first-1], from, to, color)
		return
	}
	p.marked(digits, first, lines[first-1], from, math.MaxInt, color)
	if last > first+1 {
		p.line("%s", p.paint(blue, strings.Repeat(".", digits+1)))
	}
	text := lines[last-1]
	p.marked(digits, last, text, 1+len(text)-len(strings.TrimLeft(text, " \t")), to, color)
}

// marked prints one source line with its number, and carets under the bytes from column from up to, but not including,
// column to. At least one caret is printed, unless from is not known.
func (p *textPrinter) marked(digits, number int, text string, from, to int, color string) {
	part, skipped := around(text, from, to, p.opts.Width)
	cells := split(part)
	start, end := indexOf(cells, from-1-skipped), indexOf(cells, to-1-skipped)
	lo, hi := window(cells, start, end, p.opts.Width)
	var code, blank, carets strings.Builder
	if lo > 0 || skipped > 0 {
		code.WriteString("…")
		blank.WriteString(" ")
	}
	for i := lo; i < hi; i++ {
		c := cells[i]
		code.WriteString(c.text)
		switch {
		case i < start:
			blank.WriteString(c.under(" "))
		case i < end:
			carets.WriteString(c.under("^"))
		}
	}
	if hi < len(cells) || skipped+len(part) < len(text) {
		code.WriteString("…")
	}
	run := strings.TrimRight(carets.String(), "\t")
	if !strings.Contains(run, "^") {
		run = "^"
	}
	p.line("%s", p.gutter(digits, strconv.Itoa(number), code.String()))
	if from > 0 {
		p.line("%s", p.gutter(digits, "", blank.String()+p.paint(color, run)))
	}
}

// gutter puts the column with the line number in front of a text.
func (p *textPrinter) gutter(digits int, number, text string) string {
	return strings.TrimRight(p.paint(blue, fmt.Sprintf(" %*s |", digits, number))+" "+text, " \t")
}

// source returns the lines of a file, without line ends, or nil where they cannot be had.
func (p *textPrinter) source(file string) []string {
	if file == "" || p.opts.Source == nil {
		return nil
	}
	lines, seen := p.files[file]
	if seen {
		return lines
	}
	if content, err := p.opts.Source(file); err == nil {
		lines = strings.Split(string(content), "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSuffix(line, "\r")
		}
	}
	p.files[file] = lines
	return lines
}

// cell is one rune of a source line, as it is shown.
type cell struct {
	text  string
	width int
	end   int // the offset in the line, in bytes, behind the rune
}

// tabWidth is how wide a tab counts when a long line is cut.
const tabWidth = 8

// under returns as many marks as the cell is wide. A tab stays one, so that what follows it stays in line however wide
// the terminal makes it.
func (c cell) under(mark string) string {
	if c.text == "\t" {
		return c.text
	}
	return strings.Repeat(mark, c.width)
}

// split takes a source line apart.
func split(line string) []cell {
	cells := make([]cell, 0, len(line))
	for end := 0; end < len(line); {
		r, size := utf8.DecodeRuneInString(line[end:])
		end += size
		if r == '\t' {
			cells = append(cells, cell{"\t", tabWidth, end})
			continue
		}
		r = visible.Rune(r)
		cells = append(cells, cell{string(r), runeWidth(r), end})
	}
	return cells
}

// indexOf returns the index of the cell that holds the byte at the offset, or the number of cells past the line's end.
func indexOf(cells []cell, offset int) int {
	return sort.Search(len(cells), func(i int) bool { return cells[i].end > offset })
}

// around cuts a line down to a part that is sure to hold what can be shown of a span, and tells how many bytes it left
// out before that. It keeps thousands of diagnostics on one endless line from taking the whole line apart each.
func around(text string, from, to, limit int) (part string, skipped int) {
	const bytesPerColumn = 16 // which leaves room for runes that take several bytes, and for those without a width
	reach := bytesPerColumn * limit
	lo := min(len(text), max(0, from-reach))
	hi := min(len(text), max(from, min(to, from+reach))+reach)
	for lo > 0 && lo < len(text) && !utf8.RuneStart(text[lo]) {
		lo--
	}
	for hi < len(text) && !utf8.RuneStart(text[hi]) {
		hi++
	}
	return text[lo:hi], lo
}

// window chooses which cells of a line to show, at most limit columns of them: all where they fit, and else the span
// from start to end with as much on either side.
func window(cells []cell, start, end, limit int) (lo, hi int) {
	total, before, spanned := 0, 0, 0
	for i, c := range cells {
		total += c.width
		switch {
		case i < start:
			before += c.width
		case i < end:
			spanned += c.width
		}
	}
	if total <= limit {
		return 0, len(cells)
	}
	skip := before - max(0, limit-spanned)/2
	skip = max(0, min(skip, total-limit))
	for ; skip > 0 || lo > 0 && lo < len(cells) && cells[lo].width == 0; lo++ {
		skip -= cells[lo].width
	}
	for hi = lo; hi < len(cells) && limit >= cells[hi].width; hi++ {
		limit -= cells[hi].width
	}
	return lo, hi
}
