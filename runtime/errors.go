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
func (e *InvalidError) Error() string { return listFaults(e.Faults) }

// OutputError says that the author's code computed properties which cannot be encoded.
type OutputError struct {
	// Faults is not empty.
	Faults []Fault
}

// Error lists all faults, one a line.
func (e *OutputError) Error() string {
	return "the provider computed properties that cannot be sent: " + listFaults(e.Faults)
}

// ReplaceError says that an update was refused because it would change properties which only a replacement can change.
type ReplaceError struct {
	// Paths are the properties, sorted.
	Paths []Path
}

// Error names the properties.
func (e *ReplaceError) Error() string {
	return fmt.Sprintf("a change of %s needs a replacement, not an update", strings.Join(pathStrings(e.Paths), ", "))
}

// RetryError says that an operation failed for a reason which may pass, such as a limit on the rate of requests.
// Nothing was changed, and the same call may succeed later. An author returns it, perhaps wrapped.
type RetryError struct {
	// Err is what went wrong.
	Err error
	// After is how long to wait before the next attempt. If it is 0, that is for the engine to choose.
	After time.Duration
}

// Error returns what went wrong.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *RetryError) Unwrap() error { return e.Err }

func pathStrings(paths []Path) []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = string(p)
	}
	return names
}

// listFaults is a single line for a single fault.
func listFaults(faults []Fault) string {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Invalid makes a *[InvalidError] of an error that consists of faults, and leaves any other as it is. Providers do that
// with what authors return; it is for those who call an author's code without one.
func Invalid(err error) error { return invalid(err) }

// faultsOf returns the faults that err consists of. It reports false if any part of err is something else.
func faultsOf(err error) ([]Fault, bool) {
	switch e := err.(type) { //nolint:errorlint // The error is taken apart by hand, joined errors included.
	case nil:
		return nil, true
	case Fault:
		return []Fault{e}, true
	case *InvalidError:
		return e.Faults, true
	case interface{ Unwrap() []error }:
		var all []Fault
		for _, part := range e.Unwrap() {
			faults, ok := faultsOf(part)
			if !ok {
				return nil, false
			}
			all = append(all, faults...)
		}
		return all, true
	}
	return nil, false
}
