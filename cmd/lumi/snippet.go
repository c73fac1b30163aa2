package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/visible"
)

// defaultWidth is how many columns of a source line are shown where the terminal's width is not known.
const defaultWidth = 100

// cell is one character of a source line, as it is shown.
type cell struct {
	text   string
	width  int
	offset int // in the source
}

// print prints the source line that an offset is in, with carets under what stands from there up to end. At least one
// caret is printed, unless no line may be shown.
func (s *snippets) print(number, offset, end int, color string) {
	if s.hide.all {
		return
	}
	gutter := len(strconv.Itoa(number)) + len("  | ") + len("……")
	limit := defaultWidth
	if s.width > 0 {
		limit = max(20, s.width-gutter)
	}
	offset = min(offset, len(s.src))
	from, to := lineAround(s.src, offset, 16*limit)
	end = min(max(end, tokenEnd(s.src, offset)), to)
	cells := s.cells(from, to)
	lo, hi := window(cells, offset, end, limit)
	var code, blank, carets strings.Builder
	if lo > 0 || from > 0 && s.src[from-1] != '\n' {
		code.WriteString("…")
		blank.WriteString(" ")
	}
	for _, c := range cells[lo:hi] {
		code.WriteString(c.text)
		switch {
		case c.offset < offset:
			blank.WriteString(strings.Repeat(" ", c.width))
		case c.offset < end:
			carets.WriteString(strings.Repeat("^", c.width))
		}
	}
	if hi < len(cells) || to < len(s.src) && !strings.ContainsRune("\r\n", rune(s.src[to])) {
		code.WriteString("…")
	}
	if carets.Len() == 0 {
		carets.WriteString("^")
	}
	digits := len(strconv.Itoa(number))
	s.line(digits, strconv.Itoa(number), code.String())
	s.line(digits, "", blank.String()+s.paint(color, carets.String()))
}

func (s *snippets) line(digits int, number, text string) {
	fmt.Fprintln(s.w, strings.TrimRight(s.paint(blue, fmt.Sprintf(" %*s |", digits, number))+" "+text, " "))
}

// lineAround is the line that an offset is in, without its end, or as much of a long line as lies within reach.
func lineAround(src string, offset, reach int) (from, to int) {
	from, to = max(0, offset-reach), min(len(src), offset+reach)
	for from > 0 && from < offset && !utf8.RuneStart(src[from]) {
		from++
	}
	for to < len(src) && to > offset && !utf8.RuneStart(src[to]) {
		to--
	}
	if i := strings.LastIndexByte(src[from:offset], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(src[offset:to], '\n'); i >= 0 {
		to = offset + i
	}
	if to > from && src[to-1] == '\r' {
		to--
	}
	return from, max(to, from)
}

// tokenEnd is where the token at an offset ends: a string, a word, or a single character.
func tokenEnd(src string, offset int) int {
	const most = 1000
	end := min(len(src), offset+most)
	if offset < len(src) && src[offset] == '"' {
		for i := offset + 1; i < end && src[i] != '\n'; i++ {
			switch src[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	}
	i := offset
	for i < end && isWord(src[i]) {
		i++
	}
	return max(i, offset+1)
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '$' || c == '-' || c == '+' || c == '.' || c >= utf8.RuneSelf
}

// cells takes a part of the source apart.
func (s *snippets) cells(from, to int) []cell {
	cells := make([]cell, 0, to-from)
	for i := from; i < to; {
		r, size := utf8.DecodeRuneInString(s.src[i:to])
		c := cell{text: string(visible.Rune(r)), offset: i}
		switch {
		case r == '\t':
			c.text = "    "
		case s.hide.starts(i):
			c.text = masked
		case s.hide.has(i):
			c.text = ""
		}
		c.width = width(c.text)
		cells = append(cells, c)
		i += size
	}
	return cells
}

// window chooses which cells of a line to show, at most limit columns of them: all where they fit, and else what stands
// from an offset up to another, with as much on either side.
func window(cells []cell, from, to, limit int) (lo, hi int) {
	total, before, marked := 0, 0, 0
	for _, c := range cells {
		total += c.width
		switch {
		case c.offset < from:
			before += c.width
		case c.offset < to:
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
