package plan

import (
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Kind is what a step does.
type Kind uint8

// The kinds of steps.
const (
	Same    Kind = iota // nothing, though options or labels may be stored
	Create              // creates a resource
	Import              // takes an existing resource over
	Move                // changes a URN only
	Update              // changes a resource in place
	Replace             // creates the replacement of a resource; a Delete step of its own deletes the old one
	Delete              // deletes a resource
	Forget              // removes a resource from the graph, and leaves the real one
)

// Step is what happens to a resource.
type Step struct {
	Kind Kind
	URN  urn.URN
	// Old is the resource in the graph before, nil for Create and Import. New is the resource as it is expected to be, nil
	// for Delete and Forget. Unknown values in New are references, expressions, or the value that stands for unknown ones.
	Old, New *graph.Resource
	// Possible is set on an update or a replacement that may turn out to be less, since values are not known yet, and on
	// the deletion of what may be replaced.
	Possible bool
	// DeleteFirst is set on a replacement that deletes first, and on the deletions that come before it.
	DeleteFirst bool
	// Replaced is set on the deletion of a resource that is replaced.
	Replaced bool
	// NotCompared is set if stored secrets cannot be read without the key.
	NotCompared bool
	// Reasons says why, without full stops: "cidrBlock cannot change".
	Reasons []string
	// Replaces has the paths of the properties that require the replacement.
	Replaces []string
	// After has the steps that this one waits for.
	After []*Step
}

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
