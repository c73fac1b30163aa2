package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
)

// Separate prints an empty line on standard error, except before the first report.
func (con *Console) Separate() {
	if con.errWritten {
		fmt.Fprintln(con.Stderr)
	}
	con.errWritten = true
}

// Line prints a line, clipped to the width of the terminal. The text must be safe to print; it may contain color
// sequences.
func (con *Console) Line(text string) {
	if most := con.Out.Width; con.Out.Terminal && most > 0 {
		text = term.Clip(text, most)
	}
	con.Printf("%s\n", text)
}

// Table prints rows in aligned columns. The first row contains the headings. On a terminal, lines are clipped to its
// width.
func (con *Console) Table(rows [][]string) {
	columns := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			columns[i] = max(columns[i], term.Width(text))
		}
	}
	if con.Out.Terminal && con.Out.Width > 0 {
		fit(columns, con.Out.Width)
	}
	for i, row := range rows {
		var b strings.Builder
		for j, text := range row {
			if term.Width(text) > columns[j] {
				text = term.Clip(text, columns[j])
			}
			b.WriteString(text)
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", columns[j]-term.Width(text)+len(gap)))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if i == 0 {
			line = con.Out.Paint(term.Bold, line)
		}
		con.Line(line)
	}
}

// gap is the text between columns.
const gap = "  "

// fit shrinks columns, widest first, until their total width, including gaps, is at most limit.
func fit(columns []int, limit int) {
	const least = 6
	total := len(gap) * (len(columns) - 1)
	for _, c := range columns {
		total += c
	}
	for total > limit {
		widest := slices.Index(columns, slices.Max(columns))
		if columns[widest] <= least {
			return
		}
		columns[widest]--
		total--
	}
}

// Finish prints a message about a successful command, unless --json is set. It returns nil.
func (con *Console) Finish(format string, args ...any) error {
	if !con.JSON {
		con.Printf("%s\n", term.Visible(fmt.Sprintf(format, args...)))
	}
	return nil
}

// PrintList prints a list as table rows or, with --json, as one line of JSON per item. If the list is empty, it prints
// the message none.
func PrintList[T any](con *Console, all []T, none string, head []string, row func(T) []string) error {
	rows := [][]string{head}
	for _, one := range all {
		if con.JSON {
			if err := con.PrintJSON(one); err != nil {
				return err
			}
			continue
		}
		cells := row(one)
		for i := range cells {
			cells[i] = term.Visible(cells[i])
		}
		rows = append(rows, cells)
	}
	switch {
	case con.JSON:
	case len(all) == 0:
		con.Printf("%s\n", none)
	default:
		con.Table(rows)
	}
	return nil
}
