// Package show writes plans as text and as JSON. docs/plan.md documents both forms.
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

// Options configure the output.
type Options struct {
	// Color enables colors in the text.
	Color bool
	// Limit is the maximum size of the text in bytes, excluding the line about omitted lines and the totals; 0 means no
	// limit.
	Limit int
	// Waits lists the deployments that this one waits for.
	Waits []queue.Wait
	// Idle is set if the plan will not run because nothing changes. Its number and waits are then omitted.
	Idle bool
	// Details lists the plans of provisioners.
	Details []plan.TaskDetails
}

// purposes has the name and title of plans by purpose.
var purposes = [...]struct{ name, title string }{
	plan.ToDeploy:  {"deploy", "Plan for %s in %s"},
	plan.ToCleanUp: {"cleanup", "Cleanup of %s in %s"},
	plan.ToDestroy: {"destroy", "Destroy %s in %s"},
}

// forms has the sign and color by kind of step.
var forms = [...]struct {
	sign  string
	style term.Style
}{
	plan.Create: {"+", term.Green}, plan.Import: {"=", term.Green}, plan.Move: {"→", term.Blue},
	plan.Update: {"~", term.Yellow}, plan.Replace: {"±", term.Magenta},
	plan.Delete: {"-", term.Red}, plan.Forget: {"x", term.Red},
}

// kindOf returns the displayed kind of a step. A change of only options is displayed as an update.
func kindOf(s *plan.Step) plan.Kind {
	if s.ChangesOptions() {
		return plan.Update
	}
	return s.Kind
}

// idOf returns the provider's ID of a step's old resource, or else of the new one.
func idOf(s *plan.Step) string {
	if s.Old != nil {
		return s.Old.ID
	}
	return s.New.ID
}

// changes returns the step's changes to program properties, which are empty if the resource is removed or not compared.
func changes(s *plan.Step) *diff.Resource {
	old, new := s.Old, s.New
	if old == nil {
		old = &graph.Resource{URN: s.URN, Inputs: lumigl.ObjectOf()}
	}
	if new == nil || s.NotCompared {
		new = old
	}
	before, after := vertex(old.URN, old.Inputs, old.Options), vertex(new.URN, new.Inputs, new.Options)
	// Values that are plain in the program may be secret in the provider's properties.
	return diff.CompareResource(before, after, s.Replaces, old.Checked, old.Outputs, new.Checked, new.Outputs)
}

// vertex returns a resource as in the program, without its ID.
func vertex(u urn.URN, properties, options lumigl.Value) *lumigl.Vertex {
	v, err := lumigl.NewResource(u)
	if err != nil {
		v = &lumigl.Vertex{} // the key only shortens references
	}
	v.Properties, v.Options = properties, options
	return v
}

// versions returns the module's versions before and after a deployment. Nonexistent versions, and those of other kinds
// of plans, are empty.
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

// provides returns the changes of provided values.
func provides(p *plan.Plan) *diff.Resource {
	module := urn.Parts{Environment: p.Environment, Package: p.Module, Module: "index", Type: lumigl.ModuleType, Name: "m"}
	u, _ := urn.Format(module) // only shortens references
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

// note is an effect of a plan on uses between modules, or a change of only the saved model.
type note struct {
	Kind   string `json:"kind"`
	Module string `json:"module"`
	Text   string `json:"text"`
}

// notes returns the changes of the edges between modules, without duplicates.
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
