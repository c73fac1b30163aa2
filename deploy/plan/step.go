package plan

import (
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// kinds has the word for each kind, and that for a resource to which it happened.
var kinds = [...]struct{ name, past string }{
	Same: {"same", "given other options"}, Create: {"create", "created"}, Import: {"import", "imported"}, Move: {"move", "moved"},
	Update: {"update", "updated"}, Replace: {"replace", "replaced"}, Delete: {"delete", "deleted"}, Forget: {"forget", "forgotten"},
}

// String returns the kind in lower case.
func (k Kind) String() string { return kinds[k].name }

func (k Kind) past() string { return kinds[k].past }

// removal returns the step that takes a resource out of the graph.
func removal(r *graph.Resource) *Step {
	s := &Step{Kind: Delete, URN: r.URN, Old: r}
	if r.Flag("retainOnDelete") {
		s.Kind = Forget
	}
	return s
}

// isForbidden reports whether the step deletes a resource that is protected.
func (s *Step) isForbidden() bool { return s.Kind == Delete && s.Old.Flag("protect") }

// spare has a cleanup forget a protected resource, since nobody can be asked.
func (s *Step) spare() {
	if s.isForbidden() {
		s.Kind, s.Reasons = Forget, []string{"protected"}
	}
}

// ChangesOptions reports whether the options of a resource are all that changes, which needs no call.
func (s *Step) ChangesOptions() bool { return s.Kind == Same && !s.New.Options.Equal(s.Old.Options) }

// isEffective reports whether the step does something, if only to the options of a resource.
func (s *Step) isEffective() bool { return s.Kind != Same || s.ChangesOptions() }

// removes reports whether the step takes a resource out of the graph.
func (s *Step) removes() bool { return s.Kind.removes() }

func (k Kind) removes() bool { return k == Delete || k == Forget }

// IsProvisioned reports whether the step changes a real resource, which needs a provisioner.
func (s *Step) IsProvisioned() bool { return s.Kind != Same && s.Kind != Move && s.Kind != Forget }

// was returns the URN that the resource had before, or "" if it is new.
func (s *Step) was() urn.URN {
	if s.Old == nil {
		return ""
	}
	return s.Old.URN
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
