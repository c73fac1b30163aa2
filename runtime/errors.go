package lumi

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrNotFound is what an author's Get returns, perhaps wrapped, for an id that names no resource. Delete may return it
// too: what is gone already counts as deleted.
var ErrNotFound = errors.New("no such resource")

// Fault is one thing that is wrong with one value in a bag of properties. It never tells the value of a secret.
type Fault struct {
	// Path is where the value stands, or should. It is empty for the bag as a whole.
	Path Path
	// Message says what is wrong, without a full stop.
	Message string
}

// Faultf makes a fault, for an author's Check to return. Several of them go together through errors.Join.
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

// InvalidError says that the properties which a program gave are wrong.
type InvalidError struct {
	// Faults is not empty. It is in the order of the properties. Of very many, the last says that there may be more.
	Faults []Fault
}

// Error lists all faults, one a line.
func (e *InvalidError) Error() string {
	if e == nil || len(e.Faults) == 0 {
		return "invalid properties"
	}
	return joined(e.Faults, Fault.Error, "\n")
}

// OutputError says that the author's code computed properties which cannot be encoded.
type OutputError struct {
	// Faults is not empty.
	Faults []Fault
}

// Error lists all faults, one a line.
func (e *OutputError) Error() string {
	const problem = "the provider returned an invalid result"
	if e == nil || len(e.Faults) == 0 {
		return problem
	}
	return problem + ": " + joined(e.Faults, Fault.Error, "\n")
}

// ReplaceError says that an update was refused because it would change properties which only a replacement can change.
type ReplaceError struct {
	// Paths are the properties, sorted.
	Paths []Path
}

// Error names the properties.
func (e *ReplaceError) Error() string {
	if e == nil || len(e.Paths) == 0 {
		return "the change requires a replacement, not an update"
	}
	return fmt.Sprintf("changing %s requires a replacement, not an update", joined(e.Paths, func(p Path) string { return string(p) }, ", "))
}

// RetryError says that an operation failed for a reason which may pass, such as a limit on the rate of requests, and
// that the same call can safely be made again. It does not say that nothing was changed: the answer to a request that
// was carried out may have been lost. An author returns it, perhaps wrapped, where a repeated call finds what the one
// before it did.
type RetryError struct {
	// Err is what went wrong. It may be nil.
	Err error
	// After is how long to wait before the next attempt. If it is 0, that is for the engine to choose.
	After time.Duration
}

// Error returns what went wrong.
func (e *RetryError) Error() string {
	if e == nil || e.Err == nil {
		return "temporary failure"
	}
	return e.Err.Error()
}

// Unwrap returns what went wrong.
func (e *RetryError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Uncertain is how an author reports that nobody knows whether an operation took effect, such as when the answer of the
// cloud was lost. An engine then calls Find or Get to learn what exists. The runtime itself does so for an error of
// Create, Update or Delete that wraps [context.Canceled], [context.DeadlineExceeded], or the timeout or the loss of a
// network connection, also if a fault or a *[ReplaceError] is joined to it. It does not if that is within a *[RetryError].
// It is nil if err is nil.
func Uncertain(err error) error {
	if err == nil {
		return nil
	}
	return &UncertainError{Err: err}
}

// UncertainError says that nobody knows whether an operation took effect.
type UncertainError struct {
	// Err is what went wrong. It may be nil.
	Err error
}

// Error returns what went wrong.
func (e *UncertainError) Error() string {
	if e == nil || e.Err == nil {
		return "unknown whether the operation took effect"
	}
	return e.Err.Error()
}

// Unwrap returns what went wrong.
func (e *UncertainError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// joined is one text of several.
func joined[T any](parts []T, text func(T) string, separator string) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = text(part)
	}
	return strings.Join(texts, separator)
}
