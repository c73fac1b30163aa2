package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/visible"
	"github.com/lumi-idl/lumi/lumigl"
)

// table prints a line for each of some vertices, in columns.
func (v *viewer) table(chosen []*lumigl.Vertex) {
	head := []string{"KEY", "PROPERTIES", "USES", "USED BY"}
	if v.snapshot() != nil {
		head = []string{"NAME", "TYPE", "ID", "USES", "USED BY"}
	}
	rows := [][]string{head}
	for _, one := range chosen {
		uses, usedBy := v.index.Dependencies(one, false), v.index.Dependents(one, false)
		row := []string{visible.String(v.name(one)), strconv.Itoa(one.Properties.Len())}
		if v.snapshot() != nil {
			row = append(row[:1], visible.String(string(one.Type)), visible.String(one.ID))
		}
		rows = append(rows, append(row, strconv.Itoa(len(uses)), strconv.Itoa(len(usedBy))))
	}
	columns := make([]int, len(head))
	for _, row := range rows {
		for i, text := range row {
			columns[i] = max(columns[i], width(text))
		}
	}
	if v.env.out.interactive && v.env.out.width > 0 {
		fit(columns, v.env.out.width)
	}
	for i, row := range rows {
		var b strings.Builder
		for j, text := range row {
			if width(text) > columns[j] {
				text = clip(text, columns[j])
			}
			b.WriteString(text)
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", columns[j]-width(text)+len(gap)))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if i == 0 {
			line = v.env.out.paint(bold, line)
		}
		v.line(line)
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
