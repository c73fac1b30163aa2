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

// Code says which rule a [Fault] breaks. Package codes explains each.
type Code string

// The rules of JSON.
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

// The rules of LumiGL.
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

// Fault is one thing that is wrong with a file, or with a graph that was built.
type Fault struct {
	Code Code
	// Offset and End are where the fault is in the text, in bytes.
	Offset, End int
	// Line and Column are those of Offset. They count from 1, columns in characters. Both are 0 for a graph that was
	// built.
	Line, Column int
	// Pointer is the JSON pointer to the value that is wrong, or to what holds it. It is empty for the whole file.
	Pointer string
	// Message says what is wrong and, where that is not plain, what to do. It has no full stop.
	Message string
	// Notes point at other places that matter.
	Notes []Note
	// Fix is what would mend the fault, if there is just one thing to do. It changes nothing that the file says. The fixes
	// of a file do not overlap, and stand in the order of the text.
	Fix *Fix
	// Nearest is the key that a dangling reference was probably meant to have, or what was probably meant by a word that
	// has no meaning where it stands, if there is one like it.
	Nearest string
	// Circle are the keys of all resources in a circle of dependencies, each of which refers to the next, and the last to
	// the first. The message of a long one leaves some out.
	Circle []string
}

// Note is a place that has to do with a fault.
type Note struct {
	// Offset and End are those of the token at the place, in bytes.
	Offset, End  int
	Line, Column int
	Message      string
}

// Fix replaces a part of a text.
type Fix struct {
	// Offset and End say what is replaced, in bytes. They are equal where text is inserted.
	Offset, End int
	Text        string
	// Message says what the fix does, such as "remove the comma".
	Message string
}

// Error returns the position, the message and the pointer.
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

// shownPointer is a pointer on one line, in quotes if it has characters that cannot be seen.
func shownPointer(pointer string) string {
	if utf8.ValidString(pointer) && !strings.ContainsFunc(pointer, isHidden) {
		return pointer
	}
	return strconv.Quote(pointer)
}

func isHidden(r rune) bool { return !unicode.IsPrint(r) }

// InvalidError says that a text or a graph is not what it should be.
type InvalidError struct {
	// Faults is not empty. It is in the order of the text.
	Faults []Fault
	// More says that there are more faults than were looked for.
	More bool
}

// Error lists all faults, one a line.
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

// faults collects what is wrong.
type faults struct {
	found []Fault
	max   int
	more  bool
}

// full reports whether nothing more will be noted, so that a fault need not be made up.
func (f *faults) full() bool {
	f.more = f.more || len(f.found) >= f.max
	return len(f.found) >= f.max
}

// add notes a fault and reports whether there is room for more.
func (f *faults) add(fault Fault) bool {
	if f.full() {
		return false
	}
	f.found = append(f.found, fault)
	return true
}

// err makes an error of the faults of a graph that was built.
func (f *faults) err() error {
	if len(f.found) == 0 {
		return nil
	}
	for i := range f.found {
		f.found[i].End = f.found[i].Offset
	}
	return &InvalidError{Faults: f.found, More: f.more}
}

// InvalidIn returns the error of faults that a caller has found in a text which was parsed, in the order of the text. It
// sets their lines and columns, and has each end with the token at its Offset. It is nil if there are none.
func InvalidIn(src string, found []Fault) *InvalidError {
	for i := range found {
		found[i].End = wholeToken
	}
	f := faults{found: found}
	return f.errIn(src)
}

// errIn makes an error of the faults in a text.
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
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.End, b.End)) // so that text is inserted before any goes
	})
	locate(src, f.found)
	return &InvalidError{Faults: f.found, More: f.more}
}

// wholeToken is the end of a fault that is about the token at its offset.
const wholeToken = -1

// locate turns offsets into lines and columns, all on one way through the text, since a line may be as long as that.
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

// step is one step of a JSON pointer.
type step struct {
	key   string
	index int // of an element, -1 for a member
}

// noStep is the index where a walk has not come to a member yet.
const noStep = -2

// path is how a walk got to where it is.
type path []step

// maxPointer is how long pointers get, in bytes, since there may be many faults behind one very long key.
const maxPointer = 4096

// pointer makes a JSON pointer of a path, or, if that were very long, of the start of the path.
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
