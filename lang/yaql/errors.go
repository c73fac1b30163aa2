package yaql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kind classifies an [Error]. Kinds are part of the JSON output of lumi yaql, so "cancelled" keeps its British
// spelling.
type Kind string

// Error kinds.
const (
	Syntax          Kind = "syntax"           // the expression cannot be parsed
	UnknownFunction Kind = "unknown-function" // no function, method, or property with this name
	NoMatch         Kind = "no-match"         // no overload accepts the arguments
	Ambiguous       Kind = "ambiguous"        // several overloads accept the arguments
	Argument        Kind = "argument"         // an argument is invalid for every function
	Key             Kind = "key"              // a dictionary key is missing
	Index           Kind = "index"            // a list index is out of range
	Value           Kind = "value"            // an argument has the right type, but an invalid value
	TypeError       Kind = "type"             // the value's type does not support the operation
	ZeroDivision    Kind = "zero-division"    // division by zero
	Regex           Kind = "regex"            // a regular expression is invalid
	Limit           Kind = "limit"            // the limit on iterations, memory, or depth was exceeded
	Canceled        Kind = "cancelled"        // the context.Context was canceled or timed out
	Internal        Kind = "internal"         // a host function panicked, or failed with an error of its own
)

// Error is the type of all errors returned by [Compile] and [Expression.Evaluate].
type Error struct {
	Kind    Kind
	Message string
	// Line and Column locate the error in the expression. They count from 1, columns in characters. Both are 0 if
	// unknown.
	Line, Column int

	source string
	pos    int // byte offset
	cause  error
}

// Errorf returns an error to be returned by functions. The evaluation adds the position.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), pos: -1}
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// Unwrap returns the error returned by a host function or by the [context.Context], or nil.
func (e *Error) Unwrap() error { return e.cause }

// Snippet returns the line with the error and, on the next line, a caret at the position. It returns "" if the position
// is unknown.
func (e *Error) Snippet() string {
	if e.Line == 0 {
		return ""
	}
	line := strings.TrimRight(strings.Split(e.source, "\n")[e.Line-1], "\r")
	indent := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, runeSlice(line, 0, e.Column-1))
	return line + "\n" + indent + "^"
}

// at returns err as an [*Error], with the given position unless it already has one. Errors of other types become errors
// of kind [Internal], or [Canceled] if they report that the context is done.
func at(err error, source string, pos int) error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: Internal, Message: err.Error(), cause: err}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			e.Kind, e.Message = Canceled, "evaluation canceled"
		}
	}
	if e.Line != 0 {
		return e
	}
	located := *e
	located.source, located.pos = source, pos
	before := source[:min(pos, len(source))]
	located.Line = strings.Count(before, "\n") + 1
	located.Column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return &located
}

func tooDeep() error { return Errorf(Limit, "value nested deeper than %d levels", maxNesting) }
