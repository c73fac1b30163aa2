package muranopl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// The kinds of errors, in addition to those of package yaql.
const (
	Syntax          yaql.Kind = yaql.Syntax        // a declaration or an instruction is invalid
	UnknownClass    yaql.Kind = "unknown-class"    // no class of this name
	UnknownProperty yaql.Kind = "unknown-property" // no property of this name, or it is private to another class
	UnknownObject   yaql.Kind = "unknown-object"   // no object of this id
	Uninitialized   yaql.Kind = "uninitialized"    // a property has no value yet
	ReadOnly        yaql.Kind = "read-only"        // the usage of a property forbids writing it
	Contract        yaql.Kind = "contract"         // a value violates a contract
	Inheritance     yaql.Kind = "inheritance"      // the parents of a class are invalid
	Destroyed       yaql.Kind = "destroyed"        // the object is destroyed
	Circular        yaql.Kind = "circular"         // defaults of properties depend on each other
	Deadlock        yaql.Kind = "deadlock"         // branches of Parallel wait for each other
	Thrown          yaql.Kind = "thrown"           // a workflow threw an exception
	Unknown         yaql.Kind = "unknown"          // the value of an output is not known before the deployment
)

func (e *Error) Error() string {
	if e.Pos == (Position{}) {
		return e.Message
	}
	return e.Pos.String() + ": " + e.Message
}

// Unwrap returns the error of the host.
func (e *Error) Unwrap() error { return e.err }

// StackTrace returns the trace, innermost call last, and those of the causes.
func (e *Error) StackTrace() string {
	var b strings.Builder
	for _, f := range e.Trace {
		b.WriteString(strings.TrimLeft(fmt.Sprintf("%s in method %s of type %s\n", f.Pos, f.Method, f.Class), " "))
		if f.Instruction != "" {
			fmt.Fprintf(&b, "    %s\n", f.Instruction)
		}
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, "caused by %s\n%s", e.Cause.Message, e.Cause.StackTrace())
	}
	return b.String()
}

func failAt(pos Position, kind yaql.Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Pos: pos}
}

func fail(kind yaql.Kind, format string, args ...any) *Error {
	return failAt(Position{}, kind, format, args...)
}

// at returns err as an Error with a position, a name to catch it by, and the calls of s. It keeps those it has.
func (s *scope) at(err error, pos Position) error {
	e := asError(err, pos)
	if e == nil {
		return err // It ends a block, and is not an error.
	}
	if e.Names == nil {
		e.Names = []string{"io.lumi." + camel(string(e.Kind))}
	}
	if e.Trace == nil {
		e.Trace = s.trace()
	}
	return e
}

// asError returns err as an Error with a position. It returns nil for what ends blocks.
func asError(err error, pos Position) *Error {
	y := new(yaql.Error)
	if errors.As(err, &y) && y.Line > 0 && pos.Column > 0 {
		if pos.Line += y.Line - 1; y.Line > 1 {
			pos.Column = 1 // Expressions of several lines are as they are in the file.
		}
		pos.Column += y.Column - 1
	}
	var e *Error
	if errors.As(err, &e) {
		if e.Pos == (Position{}) {
			e.Pos = pos
		}
		return e
	}
	if isJump(err) {
		return nil
	}
	e = &Error{Kind: yaql.Internal, Message: err.Error(), Pos: pos, err: err}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		e.Kind = yaql.Canceled
	}
	if y.Kind != "" {
		e.Kind, e.Message, e.err = y.Kind, y.Message, y.Unwrap() // Package yaql must not find its error in this one.
	}
	return e
}

// camel returns unknown-class as UnknownClass.
func camel(s string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(s, "-") {
		first := min(1, len(word))
		b.WriteString(strings.ToUpper(word[:first]) + word[first:])
	}
	return b.String()
}

func isJump(err error) bool {
	_, ok := errors.AsType[*jump](err)
	return ok
}

func hint(name string, names []string) string {
	if near := suggest.Name(name, names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// firstError keeps the first of the errors that are reported.
type firstError struct{ err *Error }
