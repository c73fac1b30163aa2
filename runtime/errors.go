package lumi

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNotFound is returned, possibly wrapped, by an author's Get or Find if the resource does not exist, and by a function if
// what it looks for does not exist. Delete may also return it, in which case the resource counts as deleted.
var ErrNotFound = errors.New("no such resource")

// Fault is an error in one value of a [Bag]. It never contains the value of a secret.
type Fault struct {
	// Path locates the value. It is empty for the bag as a whole.
	Path Path
	// Message describes the error, without a trailing period.
	Message string
}

// Faultf returns a [Fault] with a formatted message, for an author's Check to return. Combine several with [errors.Join].
func Faultf(path Path, format string, args ...any) error {
	return Fault{Path: path, Message: fmt.Sprintf(format, args...)}
}

// Error returns the path and the message.
func (f Fault) Error() string {
	if f.Path == "" {
		return f.Message
	}
	return string(f.Path) + ": " + f.Message
}

// InvalidError reports that a program's properties are invalid.
type InvalidError struct {
	// Faults is not empty and in property order. If it is truncated, the last fault reports that.
	Faults []Fault
}

// Error lists all faults, one per line.
func (e *InvalidError) Error() string {
	if e == nil || len(e.Faults) == 0 {
		return "invalid properties"
	}
	return joined(e.Faults, Fault.Error, "\n")
}

// OutputError reports that the author's code returned properties that cannot be encoded.
type OutputError struct {
	// Faults is not empty.
	Faults []Fault
}

// Error lists all faults, one per line.
func (e *OutputError) Error() string {
	const problem = "the provider returned an invalid result"
	if e == nil || len(e.Faults) == 0 {
		return problem
	}
	return problem + ": " + joined(e.Faults, Fault.Error, "\n")
}

// ReplaceError reports that an update was refused because it would change properties that require a replacement.
type ReplaceError struct {
	// Paths lists the properties, sorted.
	Paths []Path
}

// Error returns a message with the paths.
func (e *ReplaceError) Error() string {
	if e == nil || len(e.Paths) == 0 {
		return "the change requires a replacement, not an update"
	}
	return fmt.Sprintf("changing %s requires a replacement, not an update", joined(e.Paths, func(p Path) string { return string(p) }, ", "))
}

// RetryError reports a temporary failure, such as a rate limit, after which the same call can safely be repeated. It
// does not imply that nothing changed: the response to a completed request may have been lost. Authors should return
// it, possibly wrapped, only if repeating the call is idempotent.
type RetryError struct {
	// Err is the cause. It may be nil.
	Err error
	// After is the delay before the next attempt. If it is 0, the engine chooses.
	After time.Duration
}

// Error returns the text of the cause, or a default message if Err is nil.
func (e *RetryError) Error() string {
	if e == nil || e.Err == nil {
		return "temporary failure"
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Uncertain returns an *[UncertainError] that wraps err, or nil if err is nil. Use it if an operation may or may not have
// taken effect, for instance because the cloud's response was lost. An engine then calls Find or Get to determine the
// resource's state. The runtime applies Uncertain to errors of Create, Update, and Delete that wrap [context.Canceled],
// [context.DeadlineExceeded], a network timeout, or a lost connection, even if joined to a fault or a *[ReplaceError],
// but not inside a *[RetryError].
func Uncertain(err error) error {
	if err == nil {
		return nil
	}
	return &UncertainError{Err: err}
}

// UncertainError reports that an operation may or may not have taken effect.
type UncertainError struct {
	// Err is the cause. It may be nil.
	Err error
}

// Error returns the text of the cause, or a default message if Err is nil.
func (e *UncertainError) Error() string {
	if e == nil || e.Err == nil {
		return "unknown whether the operation took effect"
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *UncertainError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// joined formats each part with text and joins the results with separator.
func joined[T any](parts []T, text func(T) string, separator string) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = text(part)
	}
	return strings.Join(texts, separator)
}
