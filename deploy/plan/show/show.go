// Package show formats plans as text and JSON. Both formats are documented in docs/plan.md.
package show

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Options configure the output.
type Options struct {
	// Color enables colored text.
	Color bool
	// Limit is the maximum size of the text in bytes, not counting the totals and the line about omitted lines. 0 means
	// no limit.
	Limit int
	// Waits lists the deployments that this one waits for.
	Waits []queue.Wait
	// Idle is set if the plan will not be run because it has no changes. The deployment number and waits are then
	// omitted.
	Idle bool
	// Details lists the provisioners' plans.
	Details []plan.TaskDetails
	// Findings lists the rules of the policy that the plan violates or that are undecided.
	Findings []policy.Finding
}

// purposes maps each purpose to its name and title.
var purposes = [...]struct{ name, title string }{
	plan.ToDeploy:  {"deploy", "Plan for %s in %s"},
	plan.ToCleanUp: {"cleanup", "Cleanup of %s in %s"},
	plan.ToDestroy: {"destroy", "Destroy %s in %s"},
}

// forms maps each kind of step to its sign and color.
var forms = [...]struct {
	sign  string
	style term.Style
}{
	plan.Read: {"<", term.Blue}, plan.Create: {"+", term.Green}, plan.Import: {"=", term.Green}, plan.Move: {"→", term.Blue},
	plan.Update: {"~", term.Yellow}, plan.Replace: {"±", term.Magenta},
	plan.Delete: {"-", term.Red}, plan.Forget: {"x", term.Red},
}

// kindOf returns the kind to display for a step. A step that changes only options is displayed as an update, and all
// look-ups and calls as reads.
func kindOf(s *plan.Step) plan.Kind {
	if s.IsRead() {
		return plan.Read
	}
	if s.ChangesOptions() {
		return plan.Update
	}
	return s.Kind
}

// idOf returns the provider's ID of a step's old resource or, if there is none, of its new resource.
func idOf(s *plan.Step) string {
	if s.Old != nil {
		return s.Old.ID
	}
	return s.New.ID
}

// changes returns the step's changes to program properties. It is empty if the resource is removed or was not compared.
func changes(s *plan.Step) *diff.Resource {
	old, new := s.Old, s.New
	if old == nil {
		old = &graph.Resource{URN: s.URN, Inputs: lumigl.ObjectOf()}
	}
	if new == nil || s.NotCompared {
		new = old
	}
	was, now := old.Inputs, new.Inputs
	if s.IsRead() { // with the results
		was, now = lumigl.Merged(was, old.Outputs), lumigl.Merged(now, new.Outputs)
	}
	if !s.Possible && !s.IsRead() { // otherwise, the old name may stay
		was, now = old.NamedInputs(), new.NamedInputs()
	}
	if old.Gone() && new != old {
		was = lumigl.ObjectOf()
	}
	for _, name := range old.DriftedProperties() { // The program may not have changed, but the real properties have.
		if is, wanted := old.Checked.Get(name), new.Checked.Get(name); !is.Equal(wanted) && new != old {
			was, now = was.With(name, is), now.With(name, wanted)
		}
	}
	before, after := vertex(old.URN, was, old.Options), vertex(new.URN, now, new.Options)
	// Values that are not secret in the program may be secret in the provider's properties.
	return diff.CompareResource(before, after, s.Replaces, old.Checked, old.Outputs, new.Checked, new.Outputs)
}

// vertex returns the resource as a program's vertex, without an ID.
func vertex(u urn.URN, properties, options lumigl.Value) *lumigl.Vertex {
	v, err := lumigl.NewResource(u)
	if err != nil {
		v = &lumigl.Vertex{} // the key is used only to shorten references
	}
	v.Properties, v.Options = properties, options
	return v
}

// versions returns the module's versions before and after a deployment. Nonexistent versions are empty, as are both
// versions for other kinds of plans.
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

// provides returns the changes to provided values.
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

// config returns the changes to the program's configuration. It omits stored secrets that cannot be compared without the
// key.
func config(p *plan.Plan) *diff.Resource {
	old, new := versions(p)
	was, now := old.Config, new.Config
	for key, v := range old.Config.Members() {
		if !expr.IsKnown(v) {
			was, now = was.With(key, lumigl.Value{}), now.With(key, lumigl.Value{})
		}
	}
	return diff.CompareResource(vertex("", was, lumigl.Value{}), vertex("", now, lumigl.Value{}), nil)
}

// note describes a plan's effect on a use between modules, or a change of only the saved model.
type note struct {
	Kind   string `json:"kind"`
	Module string `json:"module"`
	Text   string `json:"text"`
}

// refersTo reports whether a value refers to a value of another module.
func refersTo(v lumigl.Value, module string) bool {
	for target := range v.References() {
		if parts, _ := target.URN().Parts(); parts.Type == lumigl.ModuleType && parts.Package == module {
			return true
		}
	}
	return false
}

// notes returns the effects of a plan on edges between modules, without duplicates.
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
	isChange := func(s *plan.Step) bool { return kindOf(s) > plan.Read }
	was, now := old.Provided(graph.ModelName), new.Provided(graph.ModelName)
	if was != nil && now != nil && !was.Value.Equal(now.Value) && !slices.ContainsFunc(p.Steps, isChange) {
		add("model", p.Module, "the saved model of %s changes", p.Module)
	}
	for _, s := range p.Steps {
		if !s.IsRead() || s.New.ID == "" || s.New.Flag(graph.CallOption) {
			continue
		}
		by := p.Transition.Graph.Manager(s.New.Type(), s.New.ID, "")
		if by == nil {
			continue
		}
		switch parts, _ := by.URN.Parts(); {
		case parts.Package == p.Module:
			add("managed", p.Module, "%s looks up %s, which this module manages: use that resource instead", s.URN.Name(), by.URN.Name())
		case !refersTo(s.New.Options, parts.Package):
			add("managed", p.Module, "%s looks up %s, which module %s manages: use lumi.module(%[3]q) instead",
				s.URN.Name(), by.URN.Name(), parts.Package)
		}
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
