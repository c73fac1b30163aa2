// Package show writes plans for people and for programs. docs/plan.md documents both forms.
package show

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Options say how a plan is shown.
type Options struct {
	// Color is whether the text is for a terminal that has colors.
	Color bool
	// Limit is how many bytes of the text to show, apart from a line about the rest and the totals. 0 is no limit.
	Limit int
	// Waits has what the deployment waits for.
	Waits []queue.Wait
	// Idle is whether the plan is not to run, since nothing changes. Then it has no number, and waits for nothing.
	Idle bool
	// Details has the plans of provisioners.
	Details []plan.TaskDetails
}

// purposes has the name and the title of plans for each purpose.
var purposes = [...]struct{ name, title string }{
	plan.ToDeploy:  {"deploy", "Plan for %s in %s"},
	plan.ToCleanUp: {"cleanup", "Cleanup of %s in %s"},
	plan.ToDestroy: {"destroy", "Destroy %s in %s"},
}

// forms has the sign and the color of each kind of step.
var forms = [...]struct {
	sign  string
	style term.Style
}{
	plan.Create: {"+", term.Green}, plan.Import: {"=", term.Green}, plan.Move: {"→", term.Blue},
	plan.Update: {"~", term.Yellow}, plan.Replace: {"±", term.Magenta},
	plan.Delete: {"-", term.Red}, plan.Forget: {"x", term.Red},
}

// kindOf returns the kind that a step is shown as: a change of options alone is an update, without a call.
func kindOf(s *plan.Step) plan.Kind {
	if s.ChangesOptions() {
		return plan.Update
	}
	return s.Kind
}

// idOf returns what the provider calls the resource of a step: the old one, if there is one.
func idOf(s *plan.Step) string {
	if s.Old != nil {
		return s.Old.ID
	}
	return s.New.ID
}

// changes returns how a step changes what the program has: nothing if the resource goes away or is not compared.
func changes(s *plan.Step) *diff.Resource {
	old, new := s.Old, s.New
	if old == nil {
		old = &graph.Resource{URN: s.URN, Inputs: lumigl.ObjectOf()}
	}
	if new == nil || s.NotCompared {
		new = old
	}
	before, after := vertex(old.URN, old.Inputs, old.Options), vertex(new.URN, new.Inputs, new.Options)
	// What is plain in the program may be a secret to the provider.
	return diff.CompareResource(before, after, s.Replaces, old.Checked, old.Outputs, new.Checked, new.Outputs)
}

// vertex returns a resource as the program has it, without its id.
func vertex(u urn.URN, properties, options lumigl.Value) *lumigl.Vertex {
	v, err := lumigl.NewResource(u)
	if err != nil {
		v = &lumigl.Vertex{} // The key only shortens references.
	}
	v.Properties, v.Options = properties, options
	return v
}

// versions returns the module's version before a deployment and the one after it. They are empty if there is none,
// and for other plans.
func versions(p *plan.Plan) (old, new *graph.Version) {
	old, new = &graph.Version{}, &graph.Version{}
	if p.Purpose == plan.ToDeploy {
		for _, v := range p.Transition.Graph.Versions(p.Module) { // oldest first
			if !v.Partial {
				old, new = new, v
			}
		}
	}
	return old, new
}

// provides returns how the values change that the module provides.
func provides(p *plan.Plan) *diff.Resource {
	module := urn.Parts{Environment: p.Environment, Package: p.Module, Module: "index", Type: lumigl.ModuleType, Name: "m"}
	u, _ := urn.Format(module) // It only shortens references.
	of := func(v *graph.Version) *lumigl.Vertex {
		var values lumigl.ObjectBuilder
		for _, provided := range v.Outputs() {
			values.Set(provided.Name, provided.Result)
		}
		return vertex(u, values.Object(), lumigl.Value{})
	}
	old, new := versions(p)
	return diff.CompareResource(of(old), of(new), nil)
}

// note is what a plan means for a module that uses values of another one, or that its saved model is all that changes.
type note struct {
	Kind   string `json:"kind"`
	Module string `json:"module"`
	Text   string `json:"text"`
}

// notes returns what becomes of the edges between modules. It is the same for several versions in one position.
func notes(p *plan.Plan) []note {
	all := []note{}
	add := func(kind, module, format string, args ...any) {
		if n := (note{kind, module, fmt.Sprintf(format, args...)}); !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	of := func(v *graph.Version, value graph.Constraint) (to graph.VersionID) {
		for _, e := range v.Uses {
			if e.Module == value.Module && e.Name == value.Name {
				to = e.To
			}
		}
		return to
	}
	old, new := versions(p)
	isChange := func(s *plan.Step) bool { return kindOf(s) != plan.Same }
	was, now := old.Provided(graph.ModelName), new.Provided(graph.ModelName)
	if was != nil && now != nil && !was.Value.Equal(now.Value) && !slices.ContainsFunc(p.Steps, isChange) {
		add("model", p.Module, "the saved model of %s changes", p.Module)
	}
	for _, e := range new.Uses {
		switch was := of(old, e.Constraint); was {
		case e.To:
		case graph.VersionID{}:
			add("uses", p.Module, "%s uses %s.%s of %s", p.Module, e.Module, e.Name, e.To)
		default:
			add("uses", p.Module, "%s uses %s.%s of %s instead of %s", p.Module, e.Module, e.Name, e.To, was)
		}
	}
	for _, e := range old.Uses {
		if of(new, e.Constraint) == (graph.VersionID{}) {
			add("drops", p.Module, "%s no longer uses %s.%s", p.Module, e.Module, e.Name)
		}
	}
	for _, b := range slices.Concat(p.Transition.Bound, p.Transition.Moved, p.Transition.Stayed) {
		user, value := b.From.Module, b.Edge.Module+"."+b.Edge.Name
		switch {
		case b.Edge.Broken != "":
			add("broken", user, "%s can no longer use %s: %s", user, value, b.Edge.Broken)
		case b.Reason != "":
			add("keeps", user, "%s keeps using %s of %s: %s", user, value, b.Edge.To, b.Reason)
		case b.Stale:
			add("stale", user, "%s still reads the old value of %s: deploy %s", user, value, user)
		}
		if b.Unchecked {
			add("unchecked", user, "%s needs %s where %s: checked once the value is known", user, value, b.Edge.Where)
		}
	}
	return all
}
