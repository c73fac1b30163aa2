package lumi

import "time"

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

// Invalid makes a *[InvalidError] of an error that consists of faults, and leaves any other as it is. Providers do that
// with what authors return; it is for those who call an author's code without one.
func Invalid(err error) error { return invalid(err) }
