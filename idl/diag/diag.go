// Package diag is how the compiler says what is wrong with an IDL.
//
// A [Diagnostic] has a stable [Code], a place, a message, and perhaps notes and a suggestion. Diagnostics are
// collected, put in order with [Sort], and printed by [Text] for people, by [JSON] for machines or by [GitHub] for pull
// requests. [Catalog] explains the codes, with an example that breaks the rule and one that keeps it.
package diag

import (
	"cmp"
	"slices"
)

// Severity says how much a diagnostic matters.
type Severity string

// The severities. Only errors keep output from being written.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Position is a place in a source file.
type Position struct {
	// File is the file's path as a person would type it from the current folder.
	File string `json:"file"`
	// Line and Column count from 1, columns in bytes. Both are 0 where only the file is known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Span is the source text from Start up to, but not including, End. Both lie in one file.
type Span struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Note adds a fact to a diagnostic, such as the other of two places that contradict each other.
type Note struct {
	// Span is where the fact shows; its file is empty where it shows nowhere.
	Span    Span   `json:"span,omitzero"`
	Message string `json:"message"`
}

// Diagnostic is one thing that is wrong.
type Diagnostic struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Span     Span     `json:"span"`
	// Message says what is wrong, without a full stop.
	Message string `json:"message"`
	Notes   []Note `json:"notes,omitempty"`
	// Suggestion says what to write instead; it completes the sentence "help: …". It may be empty. If it begins with
	// "write" or "did you mean", what follows, up to a comma or semicolon and a space, is to replace the text of Span.
	Suggestion string `json:"suggestion,omitempty"`
}

// Sort puts diagnostics into a total order, by place first, and drops repetitions.
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

// Errors counts the diagnostics that are errors.
func Errors(list []Diagnostic) int {
	n := 0
	for _, d := range list {
		if d.Severity == Error {
			n++
		}
	}
	return n
}
