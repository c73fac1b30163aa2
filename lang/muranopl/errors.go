package muranopl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// Error kinds that package yaql does not define.
const (
	Syntax          yaql.Kind = yaql.Syntax        // invalid declaration or instruction
	UnknownClass    yaql.Kind = "unknown-class"    // class not found
	UnknownProperty yaql.Kind = "unknown-property" // property not found, or private to another class
	UnknownObject   yaql.Kind = "unknown-object"   // object id not found
	Uninitialized   yaql.Kind = "uninitialized"    // property without a value
	ReadOnly        yaql.Kind = "read-only"        // write to a property whose usage forbids it
	Contract        yaql.Kind = "contract"         // value that violates a contract
	Inheritance     yaql.Kind = "inheritance"      // invalid parents of a class
	Destroyed       yaql.Kind = "destroyed"        // use of a destroyed object
	Circular        yaql.Kind = "circular"         // cyclic defaults of properties
	Deadlock        yaql.Kind = "deadlock"         // branches of Parallel that wait for each other
	Thrown          yaql.Kind = "thrown"           // exception thrown by a workflow
	Unknown         yaql.Kind = "unknown"          // use of an output that is not known before the deployment
)

func (e *Error) Error() string {
	if e.Pos == (Position{}) {
		return e.Message
	}
	return e.Pos.String() + ": " + e.Message
}

// Unwrap returns the error of a host function, or nil.
func (e *Error) Unwrap() error { return e.err }

// StackTrace returns the stack trace, innermost call last, followed by the stack traces of the causes.
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

// at returns err as an [*Error]. It adds the position, the name for Catch, and the call stack of s if they are missing.
func (s *scope) at(err error, pos Position) error {
	e := asError(err, pos)
	if e == nil {
		return err // not an error: it ends a block
	}
	if e.Names == nil {
		e.Names = []string{"io.lumi." + camel(string(e.Kind))}
	}
	if e.Trace == nil {
		e.Trace = s.trace()
	}
	return e
}

// asError returns err as an [*Error], adding the position if it is missing. It returns nil if err is not an error but
// ends a block.
func asError(err error, pos Position) *Error {
	y := new(yaql.Error)
	if errors.As(err, &y) && y.Line > 0 && pos.Column > 0 {
		if pos.Line += y.Line - 1; y.Line > 1 {
			pos.Column = 1 // multi-line expressions are unchanged from the file
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
		e.Kind, e.Message, e.err = y.Kind, y.Message, y.Unwrap() // keeps package yaql from unwrapping its own error
	}
	return e
}

// camel converts an error kind to camel case: unknown-class becomes UnknownClass.
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

// firstError keeps the first reported error.
type firstError struct{ err *Error }
