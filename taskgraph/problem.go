package taskgraph

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Problem is an error in a graph.
type Problem struct {
	// Layer is the name of the layer, such as "plugin lma 1.2", if layers were merged.
	Layer string `json:"layer,omitempty"`
	// Task and Attribute are the location of the problem. They are empty if it does not concern a task or an attribute.
	Task      string `json:"task,omitempty"`
	Attribute string `json:"attribute,omitempty"`
	// Line and Column count from 1, columns in characters. Both are 0 if unknown.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// Error lists the problems of a graph in source order.
type Error struct {
	// File is the name of the file, or "".
	File     string
	Problems []Problem
}

// Error returns one line for each problem: FILE:LINE:COLUMN: task NAME: MESSAGE.
func (e *Error) Error() string {
	var lines []string
	for _, p := range e.Problems {
		var parts []string
		if p.Line > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d:%d", cmp.Or(e.File, "graph"), p.Line, p.Column))
		} else if at := cmp.Or(p.Layer, e.File); at != "" {
			parts = append(parts, at)
		}
		if p.Task != "" {
			parts = append(parts, "task "+strings.Trim(strconv.Quote(p.Task), `"`)) // Invalid names may have control characters.
		}
		lines = append(lines, strings.Join(append(parts, p.Message), ": "))
	}
	return strings.Join(lines, "\n")
}
