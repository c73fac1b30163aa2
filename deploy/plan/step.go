package plan

import (
	"cmp"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Kind is the kind of a step.
type Kind uint8

// The possible kinds of a step.
const (
	Same    Kind = iota // no change, or only to options or labels
	Read                // looks up a resource or calls a function, with new results or during the run
	Create              // creates a resource
	Import              // adopts an existing resource
	Move                // changes a URN only
	Update              // changes a resource in place
	Replace             // creates a replacement; a separate Delete step deletes the old resource
	Delete              // deletes a resource
	Forget              // removes a resource from the graph without deleting it
)

// Step is the planned change of a resource.
type Step struct {
	Kind Kind
	URN  urn.URN
	// Old is the resource in the graph; nil for Import, and for Create unless the resource is gone. New is the expected
	// resource; nil for Delete and Forget. Values in New that are not known yet are references, expressions, or unknown values.
	Old, New *graph.Resource
	// Possible is set on a replacement that may turn out to be an update and on a change that may turn out to be a
	// no-op once values are known, and on the deletion of a resource that may be replaced.
	Possible bool
	// DeleteFirst is set on a replacement that deletes the old resource first, and on deletions that precede such a
	// replacement.
	DeleteFirst bool
	// Replaced is set on the deletion of a replaced resource.
	Replaced bool
	// NotCompared is set if stored secrets could not be compared without the key.
	NotCompared bool
	// Reasons lists the reasons for the step, such as "cidrBlock cannot change", without trailing periods.
	Reasons []string
	// Replaces lists the paths of the properties that require a replacement.
	Replaces []string
	// After lists the steps that this step waits for.
	After []*Step
	// displaces lists the other resources with the physical name of New, whose deletions precede the step.
	displaces []*graph.Resource
}

// kinds maps each kind to its name and past participle.
var kinds = [...]struct{ name, past string }{
	Same: {"same", "given other options"}, Read: {"read", "read"}, Create: {"create", "created"}, Import: {"import", "imported"},
	Move:   {"move", "moved"},
	Update: {"update", "updated"}, Replace: {"replace", "replaced"}, Delete: {"delete", "deleted"}, Forget: {"forget", "forgotten"},
}

// String returns the lowercase name of the kind.
func (k Kind) String() string { return kinds[k].name }

func (k Kind) past() string { return kinds[k].past }

// removal returns the step that removes a resource from the graph: Forget if the resource is gone or has the option
// "retainOnDelete", otherwise Delete.
func removal(r *graph.Resource) *Step {
	s := &Step{Kind: Delete, URN: r.URN, Old: r}
	if r.Gone() {
		s.Kind, s.Reasons = Forget, []string{"it no longer exists"}
	} else if r.Flag("retainOnDelete") {
		s.Kind = Forget
	}
	return s
}

// drift returns the old resource's drifted properties by drifted path. They are whole, since parts could be parts of
// secrets.
func (s *Step) drift() (all lumigl.Value) {
	if s.Old != nil && !s.removes() {
		for i, name := range s.Old.DriftedProperties() {
			all = all.With(s.Old.Drifted[i], cmp.Or(s.Old.Properties().Get(name), lumigl.NullValue()))
		}
	}
	return all
}

// isForbidden reports whether the step deletes a protected resource.
func (s *Step) isForbidden() bool { return s.Kind == Delete && s.Old.Flag("protect") }

// forgetProtected turns the deletion of a protected resource into a Forget, since a cleanup cannot ask the user.
func (s *Step) forgetProtected() {
	if s.isForbidden() {
		s.Kind, s.Reasons = Forget, []string{"protected"}
	}
}

// ChangesOptions reports whether the step changes only options, which requires no provider call.
func (s *Step) ChangesOptions() bool { return s.Kind == Same && !s.New.Options.Equal(s.Old.Options) }

// IsEffective reports whether the step changes anything, including options.
func (s *Step) IsEffective() bool { return s.Kind != Read && (s.Kind != Same || s.ChangesOptions()) }

// removes reports whether the step removes a resource from the graph.
func (s *Step) removes() bool { return s.Kind.removes() }

func (k Kind) removes() bool { return k == Delete || k == Forget }

// IsProvisioned reports whether the step requires a provisioner because it reads or changes a real resource.
func (s *Step) IsProvisioned() bool { return s.Kind != Same && s.Kind != Move && s.Kind != Forget }

// was returns the URN of the old resource, or "" if there is none.
func (s *Step) was() urn.URN {
	if s.Old == nil {
		return ""
	}
	return s.Old.URN
}
