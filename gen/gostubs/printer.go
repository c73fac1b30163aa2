package gostubs

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printer collects the lines of a file. Whoever prints makes them as gofmt would: formatting afterwards costs ten times
// what printing does.
type printer struct {
	buf bytes.Buffer
}

// line prints a line of text without what is empty of it. A blank line is one without text.
func (p *printer) line(parts ...string) {
	for _, part := range parts {
		p.buf.WriteString(part)
	}
	p.buf.WriteByte('\n')
}

// row is a line of a table, such as a field of a struct or a constant of a group.
type row struct {
	doc   []string // the comment lines above it
	cells []string
}

// table prints indented rows whose cells stand below each other. As in gofmt's eyes, a comment starts a new table.
func (p *printer) table(rows []row) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && len(rows[n].doc) == 0 {
			n++
		}
		for _, line := range rows[0].doc {
			p.line("\t", line)
		}
		p.aligned(rows[:n])
		rows = rows[n:]
	}
}

func (p *printer) aligned(rows []row) {
	var widths []int
	for _, r := range rows {
		for i, cell := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		p.buf.WriteByte('\t')
		for i, cell := range r.cells {
			p.buf.WriteString(cell)
			if i < len(r.cells)-1 {
				p.buf.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
			}
		}
		p.buf.WriteByte('\n')
	}
}

// list joins items with commas, broken into lines that start with indent where one line would be too long.
func list(items []string, indent string) string {
	const limit = 100
	var b strings.Builder
	width := 0
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
			if width += len(item) + 2; width > limit {
				b.WriteString("\n" + indent)
				width = 0
			} else {
				b.WriteByte(' ')
			}
		}
		if width == 0 {
			width = len(item)
		}
		b.WriteString(item)
	}
	return b.String()
}

// importClause returns the imports of the given paths under their aliases, the standard library's first.
func importClause(aliases map[string]string) string {
	var standard, others []string
	for _, p := range slices.Sorted(maps.Keys(aliases)) {
		spec := strconv.Quote(p)
		if alias := aliases[p]; alias != path.Base(p) {
			spec = alias + " " + spec
		}
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
			others = append(others, "\t"+spec)
		} else {
			standard = append(standard, "\t"+spec)
		}
	}
	lines := standard
	if len(standard) > 0 && len(others) > 0 {
		lines = append(lines, "")
	}
	lines = append(lines, others...)
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return "\nimport " + strings.TrimPrefix(lines[0], "\t") + "\n"
	}
	return "\nimport (\n" + strings.Join(lines, "\n") + "\n)\n"
}
