// Package repair mends LumiGL files that are not accepted: syntax where there is no doubt what was meant, the order of
// resources, references to what is not there, and entries of a deployment that have no meaning any more.
//
// Whatever the file, the result is one that is accepted, or there is none. Every change is a [Step] that can be shown
// to whoever has to agree. What would need a guess is refused.
package repair

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// Drop says what goes where a reference leads to nothing.
type Drop string

// What may be dropped. The zero Drop is that nothing is: then dangling references are refused.
const (
	// DropReferences drops the reference: the property that holds it, or the element of a list.
	DropReferences Drop = "references"
	// DropResources drops the resource, vertex or pending entry that holds the reference, and in turn whatever refers to
	// that.
	DropResources Drop = "resources"
)

// Pending says which entries go of what a deployment has not finished.
type Pending string

// Which pending entries may be dropped. The zero Pending is that all are kept.
const (
	// DropDead drops the entries that have no meaning any more; see [Result.Dead].
	DropDead Pending = "dead"
	// DropAll drops all entries.
	DropAll Pending = "all"
)

// Options say what may be done. The zero Options only mend syntax and order.
type Options struct {
	// Retarget points references to what is not there at the key that was meant, where there is no doubt which that is:
	// [lumigl.Fault.Nearest]. Drop is for the others.
	Retarget bool
	Drop     Drop
	Pending  Pending
}

// Kind says what a [Step] is about.
type Kind string

// The kinds of steps.
const (
	SyntaxStep    Kind = "syntax"    // a mistake in the JSON was mended
	OrderStep     Kind = "order"     // the resources were put in order
	RetargetStep  Kind = "retarget"  // a reference was pointed at the nearest key
	ReferenceStep Kind = "reference" // a reference was dropped
	ResourceStep  Kind = "resource"  // a resource or vertex was dropped
	PendingStep   Kind = "pending"   // a pending entry was dropped
)

// Step is one change.
type Step struct {
	Kind Kind
	// Offset is where in the original text, in bytes, and Line and Column are the same for people. They count from 1;
	// they are 0 for steps that follow from others.
	Offset, Line, Column int
	// Pointer is the JSON pointer to what is changed.
	Pointer string
	// Message says what to do, in the imperative, and why.
	Message string
}

// past are the verbs that messages of steps begin with, and what they are once the step is done.
var past = map[string]string{
	"drop": "dropped", "escape": "escaped", "insert": "inserted", "point": "pointed", "put": "put", "remove": "removed",
	"use": "used", "write": "wrote",
}

// Done is the message of a step that has been taken: "removed the comma", where Message is "remove the comma". The reason
// behind it stays as it is, since it may be a rule of the language.
func (s Step) Done() string {
	verb, rest, _ := strings.Cut(s.Message, " ")
	done, ok := past[verb]
	if !ok {
		return s.Message
	}
	return done + " " + rest
}

// Result is a file that is accepted.
type Result struct {
	Document lumigl.Document
	// Text is the canonical text of the document.
	Text []byte
	// Steps are what was changed beyond bringing the text in its canonical form. There are none for a file that was
	// accepted before, unless pending entries were to be dropped.
	Steps []Step
	// Dead are the steps that [DropDead] would have taken, if it was not asked for.
	Dead []Step
}

// RefusedError says that a file cannot be mended without a guess.
type RefusedError struct {
	// Invalid has the faults that stand in the way. Their positions are in the original text, as near as may be: the
	// syntax that could be mended is not among them.
	Invalid *lumigl.InvalidError
	// Dangling says that a [Drop] would get rid of some of the faults, and Astray that Retarget would mend some.
	Dangling, Astray bool
}

// Error lists the faults.
func (e *RefusedError) Error() string { return e.Invalid.Error() }

// Unwrap returns the faults.
func (e *RefusedError) Unwrap() error { return e.Invalid }

// maxFaults is how many faults are mended at most. A file with more is not one that somebody made a few mistakes in.
const maxFaults = 50_000

// Repair mends a file. The error is a *[RefusedError].
func Repair(src string, options Options) (*Result, error) {
	text, steps, history := mend(src)
	doc, err := lumigl.Parser{MaxFaults: maxFaults}.Salvage(text)
	w := &work{
		options: options, history: history, steps: steps,
		dangling: map[int]*lumigl.Fault{}, astray: map[int]*lumigl.Fault{},
	}
	if err != nil {
		if err := w.sift(err); err != nil {
			return nil, err
		}
	}
	w.doc = doc
	if w.snapshot, _ = doc.(*lumigl.Snapshot); w.snapshot != nil {
		w.places = places(&w.snapshot.Pending)
	}
	w.retarget()
	w.drop()
	dead := w.dropPending()
	out, err := lumigl.Append(make([]byte, 0, len(src)), doc)
	if err == nil {
		// The text is what counts, not what is believed of it.
		w.doc, err = lumigl.Parse(string(out))
	}
	if err != nil {
		return nil, refused(err, history)
	}
	history.locate(w.steps)
	history.locate(dead)
	return &Result{Document: w.doc, Text: out, Steps: w.steps, Dead: dead}, nil
}

// refused makes an error of what is wrong after all was done that could be.
func refused(err error, h *history) error {
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return &RefusedError{Invalid: h.original(invalid)}
}

// work is one repair under way.
type work struct {
	options  Options
	doc      lumigl.Document
	snapshot *lumigl.Snapshot // nil for a general graph
	// places are the JSON pointers to what was pending before anything was dropped.
	places  map[*lumigl.Vertex]string
	history *history
	steps   []Step
	// dangling are the faults of references that lead to nothing, by where they stand in the text.
	dangling map[int]*lumigl.Fault
	// astray are those of them that are to lead to the nearest key.
	astray map[int]*lumigl.Fault
}

// sift parts the faults that can be mended from the others, which it returns as an error.
func (w *work) sift(err error) error {
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	rest := &lumigl.InvalidError{More: invalid.More}
	refusal := &RefusedError{}
	for i := range invalid.Faults {
		switch f := &invalid.Faults[i]; {
		case f.Code == lumigl.OrderFault:
			w.step(OrderStep, f, f.Pointer, "put the resources in order: %s", f.Message)
		case f.Code == lumigl.DanglingFault && w.options.Retarget && f.Nearest != "":
			w.astray[f.Offset] = f
		case f.Code == lumigl.DanglingFault && w.options.Drop != "":
			w.dangling[f.Offset] = f
		case f.Code == lumigl.DanglingFault:
			refusal.Dangling = true
			refusal.Astray = refusal.Astray || f.Nearest != ""
			rest.Faults = append(rest.Faults, *f)
		default:
			rest.Faults = append(rest.Faults, *f)
		}
	}
	if len(rest.Faults) == 0 && !rest.More {
		return nil
	}
	if len(rest.Faults) == 0 {
		rest.Faults = invalid.Faults[:1] // There are so many that the others were not looked for.
	}
	refusal.Invalid = w.history.original(rest)
	return refusal
}

// step notes a change at the place of a fault, which may be nil.
func (w *work) step(kind Kind, at *lumigl.Fault, pointer, format string, args ...any) {
	s := Step{Kind: kind, Offset: -1, Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	if at != nil {
		s.Offset = w.history.back(at.Offset)
	}
	w.steps = append(w.steps, s)
}
