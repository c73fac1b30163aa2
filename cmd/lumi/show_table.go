package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// table prints a line for each of some vertices, in columns.
func (v *viewer) table(chosen []*lumigl.Vertex) {
	head := []string{"KEY", "PROPERTIES", "USES", "USED BY"}
	if v.snapshot() != nil {
		head = []string{"NAME", "TYPE", "ID", "USES", "USED BY"}
	}
	if len(v.older) > 0 {
		head = append(head, "VERSION")
	}
	rows := [][]string{head}
	for _, one := range chosen {
		uses, usedBy := v.index.Dependencies(one, false), v.index.Dependents(one, false)
		row := []string{term.Visible(v.name(one)), strconv.Itoa(one.Properties.Len())}
		if v.snapshot() != nil {
			row = append(row[:1], term.Visible(string(one.Type)), term.Visible(one.ID))
		}
		row = append(row, strconv.Itoa(len(uses)), strconv.Itoa(len(usedBy)))
		if o := v.olderOf(one); o != nil {
			row = append(row, o.String())
		} else if len(v.older) > 0 {
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	v.env.table(rows)
}

// table prints rows in columns, the first as headings. On a terminal they are clipped to its width.
func (e *console) table(rows [][]string) {
	columns := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			columns[i] = max(columns[i], term.Width(text))
		}
	}
	if e.out.Terminal && e.out.Width > 0 {
		fit(columns, e.out.Width)
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
			line = e.out.Paint(term.Bold, line)
		}
		e.line(line)
	}
}

// gap stands between two columns.
const gap = "  "

// fit makes columns narrower, the widest first, until they have room side by side.
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
