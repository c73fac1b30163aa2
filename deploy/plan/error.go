package plan

import (
	"errors"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Error lists all problems with desired state, in program order.
type Error struct{ Faults []Fault }

// Fault is a problem that prevents a deployment.
type Fault struct {
	// URN is the affected resource; empty for the whole module.
	URN urn.URN
	// Source is the position of the resource's construction in the program.
	Source string
	// Message describes the problem and, unless obvious, the solution.
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

// AsError converts a *[graph.RefusedError] to an *[Error]. It returns other errors unchanged.
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
