package plan

import (
	"errors"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Error is returned for invalid desired state. It lists all problems in program order.
type Error struct{ Faults []Fault }

// Fault is a problem that prevents a deployment.
type Fault struct {
	// URN identifies the affected resource. It is empty if the whole module is affected.
	URN urn.URN
	// Source is the position in the program at which the resource is constructed.
	Source string
	// Message describes the problem and, unless obvious, how to fix it.
	Message string
}

// Error returns all faults, one per line.
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

// AsError converts a *[graph.RefusedError], possibly wrapped, to an *[Error]. It returns other errors unchanged.
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
