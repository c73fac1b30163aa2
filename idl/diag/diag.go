// Package diag defines and prints the compiler's diagnostics.
//
// A [Diagnostic] has a stable [Code], a position, a message, and optionally notes and a suggestion. Diagnostics are
// collected, sorted with [Sort], and printed with [Text] for terminals, [JSON] for tools, or [GitHub] for pull
// requests. [Catalog] explains the codes with examples.
package diag

import (
	"cmp"
	"slices"
)

// Severity is the kind of a diagnostic: [Error] or [Warning].
type Severity string

// The severities. Any error prevents output.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Position is a position in a source file.
type Position struct {
	// File is the path of the file, relative to the current folder.
	File string `json:"file"`
	// Line and Column count from 1; columns are in bytes. Both are 0 if only the file is known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Span is a range of source text. It starts at Start and ends before End, in the same file.
type Span struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Note adds information to a diagnostic, such as the position of a conflicting declaration.
type Note struct {
	// Span is the position of the note. Its file is empty if the note has no position.
	Span    Span   `json:"span,omitzero"`
	Message string `json:"message"`
}

// Diagnostic is a compiler error or warning.
type Diagnostic struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Span     Span     `json:"span"`
	// Message describes the problem, without a trailing period.
	Message string `json:"message"`
	Notes   []Note `json:"notes,omitempty"`
	// Suggestion completes the sentence "help: …", or is empty. If it starts with "write" or "did you mean", the
	// following text, up to a comma or semicolon and a space, can replace the text of Span.
	Suggestion string `json:"suggestion,omitempty"`
}

// Sort sorts list in place by position, code, and message, and returns it without duplicates.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, compare)
	return slices.CompactFunc(list, func(a, b Diagnostic) bool { return compare(a, b) == 0 })
}

func compare(a, b Diagnostic) int {
	return cmp.Or(
		comparePositions(a.Span.Start, b.Span.Start),
		comparePositions(a.Span.End, b.Span.End),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
	)
}

func comparePositions(a, b Position) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// Errors returns the number of diagnostics of severity [Error].
func Errors(list []Diagnostic) int {
	n := 0
	for _, d := range list {
		if d.Severity == Error {
			n++
		}
	}
	return n
}
