package lumigl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
)

// Code identifies the rule violated by a [Fault]. Package codes documents each code.
type Code string

// JSON rules.
const (
	UTF8Fault          Code = "utf8"
	ByteOrderFault     Code = "byte-order-mark"
	CommentFault       Code = "comment"
	SpaceFault         Code = "space"
	ElisionFault       Code = "elision"
	TrailingCommaFault Code = "trailing-comma"
	MissingCommaFault  Code = "missing-comma"
	ExtraCommaFault    Code = "extra-comma"
	MissingColonFault  Code = "missing-colon"
	KeyFault           Code = "key"
	StringFault        Code = "string"
	EscapeFault        Code = "escape"
	NumberFault        Code = "number"
	LiteralFault       Code = "literal"
	BracketFault       Code = "bracket"
	UnexpectedFault    Code = "unexpected"
	AfterEndFault      Code = "after-end"
	EmptyFault         Code = "empty"
	ConflictFault      Code = "conflict"
	DuplicateKeyFault  Code = "duplicate-key"
	DepthFault         Code = "depth"
	SizeFault          Code = "size"
)

// LumiGL rules.
const (
	FormFault      Code = "form"
	ShapeFault     Code = "shape"
	TagFault       Code = "tag"
	ReferenceFault Code = "reference"
	DanglingFault  Code = "dangling"
	URNFault       Code = "urn"
	TypeFault      Code = "type"
	OrderFault     Code = "order"
	CycleFault     Code = "cycle"

	OptionFault     Code = "option"
	ExpressionFault Code = "expression"
)

// Fault is a single error in a file or a built graph.
type Fault struct {
	Code Code
	// Offset and End are the byte range of the error in the text.
	Offset, End int
	// Line and Column locate Offset. They count from 1, columns in characters. Both are 0 for a built graph.
	Line, Column int
	// Pointer is the JSON pointer to the invalid value or its parent. It is empty if the fault concerns the whole file.
	Pointer string
	// Message describes the error and, unless it is obvious, how to fix it. It has no trailing period.
	Message string
	// Notes point to related positions.
	Notes []Note
	// Fix is the edit that corrects the error, or nil unless there is exactly one. It never changes the meaning of the
	// file. The fixes of a file do not overlap.
	Fix *Fix
	// Nearest is the suggested key for a dangling reference or the suggested spelling of an unknown word. It is "" if
	// there is no suggestion.
	Nearest string
	// Circle lists the keys of the vertices on a cycle. Each vertex refers to the next, and the last vertex refers to
	// the first. The message abridges long cycles.
	Circle []string
}

// Note is a position related to an error, with an explanation.
type Note struct {
	// Offset and End are the byte range of the token.
	Offset, End  int
	Line, Column int
	Message      string
}

// Fix is a text edit.
type Fix struct {
	// Offset and End are the byte range to replace. The range is empty for an insertion.
	Offset, End int
	Text        string
	// Message describes the edit, such as "remove the comma".
	Message string
}

// Error returns the position, the message, and the pointer on one line.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", f.Line, f.Column)
	}
	b.WriteString(f.Message)
	if f.Pointer != "" {
		fmt.Fprintf(&b, " (at %s)", shownPointer(f.Pointer))
	}
	return b.String()
}

// shownPointer returns pointer, quoted if it contains unprintable characters.
func shownPointer(pointer string) string {
	if utf8.ValidString(pointer) && !strings.ContainsFunc(pointer, isHidden) {
		return pointer
	}
	return strconv.Quote(pointer)
}

func isHidden(r rune) bool { return !unicode.IsPrint(r) }

// InvalidError reports that a text or a graph is invalid.
type InvalidError struct {
	// Faults is never empty and is sorted by position.
	Faults []Fault
	// More reports whether parsing stopped before all errors were found.
	More bool
}

// Error lists all errors, one per line.
func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for i := range e.Faults {
		lines = append(lines, e.Faults[i].Error())
	}
	if e.More {
		lines = append(lines, "too many errors; the rest of the file was not checked")
	}
	return strings.Join(lines, "\n")
}

type faults struct {
	found []Fault
	max   int
	more  bool
}

// full reports whether the limit is reached. Callers then need not build further errors, which would be dropped.
func (f *faults) full() bool {
	f.more = f.more || len(f.found) >= f.max
	return len(f.found) >= f.max
}

// add records an error. It returns false if the error was dropped because the limit is reached.
func (f *faults) add(fault Fault) bool {
	if f.full() {
		return false
	}
	f.found = append(f.found, fault)
	return true
}

// err returns an *InvalidError for a built graph, or nil if there are no faults.
func (f *faults) err() error {
	if len(f.found) == 0 {
		return nil
	}
	for i := range f.found {
		f.found[i].End = f.found[i].Offset
	}
	return &InvalidError{Faults: f.found, More: f.more}
}

// InvalidIn returns an *InvalidError for faults found in the parsed text src, or nil if found is empty. It sets the
// line and column of each fault and extends its range to the end of the token at its Offset. found must be sorted by
// position.
func InvalidIn(src string, found []Fault) *InvalidError {
	for i := range found {
		found[i].End = wholeToken
	}
	f := faults{found: found}
	return f.errIn(src)
}

// errIn returns an *InvalidError with positions in src, or nil if there are no faults.
func (f *faults) errIn(src string) *InvalidError {
	if len(f.found) == 0 {
		return nil
	}
	for i := range f.found {
		one := &f.found[i]
		if one.End == wholeToken {
			one.End = one.Offset + tokenEnd(src[one.Offset:])
		}
		for j := range one.Notes {
			n := &one.Notes[j]
			n.End = n.Offset + tokenEnd(src[n.Offset:])
		}
	}
	slices.SortStableFunc(f.found, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.End, b.End)) // insertions before removals
	})
	locate(src, f.found)
	return &InvalidError{Faults: f.found, More: f.more}
}

// wholeToken is a special value of Fault.End that extends the range to the end of the token at Offset.
const wholeToken = -1

// locate sets the lines and columns of all offsets in a single pass, since a line may be as long as the text.
func locate(src string, found []Fault) {
	type place struct {
		offset       int
		line, column *int
	}
	var places []place
	for i := range found {
		f := &found[i]
		places = append(places, place{f.Offset, &f.Line, &f.Column})
		for j := range f.Notes {
			n := &f.Notes[j]
			places = append(places, place{n.Offset, &n.Line, &n.Column})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.offset, b.offset) })
	line, column, done := 1, 1, 0
	for _, p := range places {
		between := src[done:p.offset]
		if n := strings.Count(between, "\n"); n > 0 {
			line, column = line+n, 1
			between = between[strings.LastIndexByte(between, '\n')+1:]
		}
		column += utf8.RuneCountInString(between)
		*p.line, *p.column, done = line, column, p.offset
	}
}

type step struct {
	key   string
	index int // of an element, -1 for a member
}

// noStep is the index of a step that does not yet point to an element or a member.
const noStep = -2

// path is the location of a value within a document.
type path []step

// maxPointer limits the length of pointers in bytes, since many errors may share one very long key.
const maxPointer = 4096

// pointer returns the path as a JSON pointer, truncated to maxPointer.
func (p path) pointer() string {
	var b strings.Builder
	for _, s := range p {
		if s.index == noStep || b.Len()+len(s.key) > maxPointer {
			break
		}
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
			continue
		}
		b.WriteString(jsonpointer.Escape(s.key))
	}
	return b.String()
}
