// Package linediff compares texts line by line. It emits the diff as it is computed, and handles files of 50 MB in
// which every line differs. Package diff of rogpeppe/go-internal instead returns the diff as a whole, using several
// times the CPU time and memory.
package linediff

import (
	"fmt"
	"slices"
	"strings"
)

// context is the number of unchanged lines shown around a change.
const context = 3

// Unified calls line for each line of the unified diff of two texts, in order and without the line break. Sign is " ",
// "-", or "+", or it is "" for headers and for notes about a missing line break at the end. If the texts are equal,
// line is not called.
//
// The diff is anchored at lines that occur exactly once in each text. It keeps as many of these as possible in place,
// together with the common lines around them. Unified takes O(n log n) time.
func Unified(oldName, old, newName, new string, line func(sign, text string)) {
	if old == new {
		return
	}
	h := hunk{x: lines(old), y: lines(new), line: line}
	line("", "diff "+oldName+" "+newName)
	line("", "--- "+oldName)
	line("", "+++ "+newName)
	var end pair // the end of the previous common lines
	for _, anchor := range append(anchors(h.x, h.y), pair{len(h.x), len(h.y)}) {
		if anchor.x < end.x {
			continue // the anchor is inside the previous common lines
		}
		start := anchor
		for start.x > end.x && start.y > end.y && h.x[start.x-1] == h.y[start.y-1] {
			start.x--
			start.y--
		}
		h.add("-", h.x[end.x:start.x])
		h.add("+", h.y[end.y:start.y])
		for end = anchor; end.x < len(h.x) && end.y < len(h.y) && h.x[end.x] == h.y[end.y]; {
			end.x++
			end.y++
		}
		h.common(start, end)
	}
}

// pair contains a line number for each text.
type pair struct{ x, y int }

// lines splits s into lines. If the last line is not terminated, it includes the note about the missing line break, so
// that it differs from the same line with a line break.
func lines(s string) []string {
	all := make([]string, 0, strings.Count(s, "\n")+1)
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		all = append(all, line)
	}
	switch {
	case s == "":
		return nil
	case !strings.HasSuffix(s, "\n"):
		all[len(all)-1] += "\n\\ No newline at end of file"
	}
	return all
}

// hunk is a part of the diff that has not been printed yet.
type hunk struct {
	x, y  []string
	line  func(sign, text string)
	start pair
	parts []part
}

// part is a run of lines with the same sign.
type part struct {
	sign  string
	lines []string
}

func (h *hunk) add(sign string, lines []string) {
	if len(lines) > 0 {
		h.parts = append(h.parts, part{sign, lines})
	}
}

// common adds common lines to the hunk. If there are enough of them to end the hunk, it prints the hunk.
func (h *hunk) common(start, end pair) {
	n, last := end.x-start.x, end == pair{len(h.x), len(h.y)}
	if !last && (n < context || len(h.parts) > 0 && n < 2*context) {
		h.add(" ", h.x[start.x:end.x])
		return
	}
	if len(h.parts) > 0 {
		h.add(" ", h.x[start.x:start.x+min(n, context)])
		h.print()
	}
	if !last {
		h.start = pair{end.x - context, end.y - context}
		h.add(" ", h.x[h.start.x:end.x])
	}
}

// print prints the hunk and clears it.
func (h *hunk) print() {
	var count pair
	for _, p := range h.parts {
		if p.sign != "+" {
			count.x += len(p.lines)
		}
		if p.sign != "-" {
			count.y += len(p.lines)
		}
	}
	// Lines are numbered from 1. An empty side is located by the line before it.
	h.line("", fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.start.x+min(count.x, 1), count.x, h.start.y+min(count.y, 1), count.y))
	for _, p := range h.parts {
		for _, line := range p.lines {
			line, note, noted := strings.Cut(line, "\n")
			h.line(p.sign, line)
			if noted {
				h.line("", note)
			}
		}
	}
	h.parts = h.parts[:0]
}

// anchors returns the line numbers of a longest common subsequence of the lines that occur exactly once in each text.
// The first element is the start of both texts.
func anchors(x, y []string) []pair {
	const none, several = -1, -2
	ids := make(map[string]int32)
	var places []pair // the position of each distinct line of x, by ID
	for i, line := range x {
		if id, ok := ids[line]; ok {
			places[id].x = several
			continue
		}
		ids[line] = int32(len(places))
		places = append(places, pair{i, none})
	}
	for i, line := range y {
		if id, ok := ids[line]; ok {
			if places[id].y == none {
				places[id].y = i
			} else {
				places[id].y = several
			}
		}
	}
	places = slices.DeleteFunc(places, func(p pair) bool { return p.x < 0 || p.y < 0 })
	// This is patience sorting. Tops contains the last elements of the best sequences, by length.
	var tops []int
	before := make([]int, len(places))
	for i, p := range places {
		n, _ := slices.BinarySearchFunc(tops, p.y, func(top, y int) int { return places[top].y - y })
		if before[i] = -1; n > 0 {
			before[i] = tops[n-1]
		}
		if n == len(tops) {
			tops = append(tops, i)
		}
		tops[n] = i
	}
	found := make([]pair, len(tops)+1)
	if len(tops) > 0 {
		for i, n := tops[len(tops)-1], len(tops); n > 0; i, n = before[i], n-1 {
			found[n] = places[i]
		}
	}
	return found
}
