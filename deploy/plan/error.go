package plan

import (
	"errors"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Error has all that is wrong with desired state, in its order.
type Error struct{ Faults []Fault }

// Fault is something that prevents a deployment.
type Fault struct {
	// URN is the resource that it is about; it is empty for the module as a whole.
	URN urn.URN
	// Source is where the program makes it.
	Source string
	// Message says what is wrong and, where that is not plain, what to do.
	Message string
}

// Error returns all faults, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		var parts []string
		for _, part := range []string{f.Source, string(f.URN), f.Message} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		lines[i] = strings.Join(parts, ": ")
	}
	return strings.Join(lines, "\n")
}

// AsError makes an *[Error] of what the resource graph refuses.
func AsError(err error) error {
	var refused *graph.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	e := &Error{}
	for _, problem := range refused.Problems {
		e.Faults = append(e.Faults, Fault{Message: problem})
	}
	return e
}
