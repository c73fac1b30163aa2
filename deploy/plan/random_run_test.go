package plan_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

type simRun struct {
	*simWorld
	random  *rand.Rand
	before  *graph.Graph
	plan    *plan.Plan
	planned *graph.Version // planned new version, nil for a cleanup
	steps   map[urn.URN]*plan.Step
	// changes maps ids of existing resources to their steps.
	changes map[string]*plan.Step
	// moved maps former URNs of resources to new ones.
	moved map[urn.URN]*lumigl.Vertex
	done  map[*plan.Step]bool
	// now holds the actual resources of the new version, each after its step.
	now map[urn.URN]*graph.Resource
	// kept holds possible replacements that did not happen.
	kept   map[*plan.Step]bool
	became map[*graph.Resource]*graph.Resource
	gone   map[*graph.Resource]bool
	// forgotten holds the ids of retained resources. Their dependencies may disappear, and their names may be reused,
	// which a real provider would refuse.
	forgotten  map[string]bool
	transition *graph.Transition
	// results lists the results so far, in case the deployment fails.
	results []graph.Result
	// left is the number of steps until one fails; negative if none does.
	left int
}

func (w *simWorld) newRun(random *rand.Rand, before *graph.Graph, p *plan.Plan) *simRun {
	r := &simRun{
		simWorld: w, random: random, before: before, plan: p, steps: map[urn.URN]*plan.Step{}, changes: map[string]*plan.Step{},
		moved: map[urn.URN]*lumigl.Vertex{}, done: map[*plan.Step]bool{}, now: map[urn.URN]*graph.Resource{},
		kept: map[*plan.Step]bool{}, became: map[*graph.Resource]*graph.Resource{}, gone: map[*graph.Resource]bool{},
		forgotten: map[string]bool{},
	}
	for _, s := range p.Steps {
		if s.Kind == plan.Forget {
			r.forgotten[s.Old.ID], r.done[s] = true, true
		}
	}
	return r
}

// simFailure is the panic value of a failing step.
type simFailure struct{}

// deploy runs a deployment, which may be made to fail. It returns the resulting graph, the modules to clean up, and
// whether it succeeded.
func (w *simWorld) deploy(random *rand.Rand, before *graph.Graph, p *plan.Plan, left int) (after *graph.Graph, cleanups []string, ok bool) {
	r := w.newRun(random, before, p)
	r.left, r.planned = left, p.Transition.Graph.Newest(p.Module)
	for _, s := range p.Steps {
		if s.New != nil {
			r.steps[s.New.URN] = s
		}
		if s.New != nil && s.Old != nil {
			r.changes[s.Old.ID] = s
		}
		if s.New != nil && s.Old != nil && s.Kind != plan.Replace {
			r.moves(s)
		}
		if s.Kind == plan.Same || s.Kind == plan.Move {
			r.same(s)
		}
	}
	defer func() {
		if failure := recover(); failure == nil {
			return
		} else if _, is := failure.(simFailure); !is {
			panic(failure)
		}
		w.failed[p.Module] = true
		for id := range r.forgotten { // Replacements may have taken their names.
			w.real[id].name = ""
		}
		after = before.Overlay(graph.VersionID{Module: p.Module, Deployment: p.Deployment}, r.planned.Configuration, r.results)
		if err := after.Check(); err != nil {
			w.Fatalf("after the failed deployment: %v", err)
		}
		w.checkExist(after)
		for _, real := range w.real { // Some may lack resources that were deleted first, until the deployment succeeds.
			real.needs = slices.DeleteFunc(real.needs, func(id string) bool { return w.real[id] == nil })
		}
	}()
	committed := false
	for _, task := range p.Tasks {
		if len(task.Steps) == 0 {
			r.commit()
			committed = true
		}
		r.task(task)
	}
	if !committed {
		r.commit()
	}
	w.failed[p.Module] = false
	r.check()
	return r.transition.Graph, r.transition.Cleanups, true
}

// remove runs a plan that only deletes.
func (w *simWorld) remove(random *rand.Rand, before *graph.Graph, p *plan.Plan, t *graph.Transition) {
	r := w.newRun(random, before, p)
	r.transition = t
	r.forget()
	for _, task := range p.Tasks {
		r.task(task)
	}
	r.check()
}

// check fails the test if the real resources do not match the graph after the plan.
func (r *simRun) check() {
	for _, deleted := range r.transition.Deleted {
		if !r.gone[deleted] {
			r.Fatalf("%s is in no version any more, and no step deleted it", deleted.Key())
		}
	}
	r.checkNeeds(r.transition.Graph)
}

// task runs the steps of a task in a random order that their After allows.
func (r *simRun) task(task plan.Task) {
	left := slices.Clone(task.Steps)
	for len(left) > 0 {
		var ready []int
		for i, s := range left {
			if !slices.ContainsFunc(s.After, func(a *plan.Step) bool { return !r.done[a] }) {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			r.Fatalf("task %d never becomes ready for %s %s", task.Number, left[0].Kind, left[0].URN)
		}
		i := ready[r.random.IntN(len(ready))]
		s := left[i]
		left = slices.Delete(left, i, i+1)
		r.step(s)
		r.done[s] = true
	}
}

func (r *simRun) step(s *plan.Step) {
	if r.left--; r.left == 0 && r.transition == nil {
		r.Logf("%s fails", simStep(s))
		panic(simFailure{})
	}
	switch s.Kind {
	case plan.Delete:
		r.delete(s)
	case plan.Create:
		r.create(s)
	case plan.Update, plan.Replace:
		r.change(s)
	default:
		r.Fatalf("%s %s needs no provisioner", s.Kind, s.URN)
	}
}

// same keeps a resource. Its URN, options, and references may still differ.
func (r *simRun) same(s *plan.Step) {
	if !expr.IsKnown(s.New.Inputs) || !expr.IsKnown(s.New.Checked) || s.New.ID == "" {
		r.Fatalf("%s is shown as unchanged, but contains unknown values: %s", s.URN, simText(s.New.Inputs))
	}
	r.now[s.New.URN] = s.New
	if s.New != s.Old {
		r.became[s.Old] = s.New
	}
	r.real[s.New.ID].urn = s.New.URN
	r.done[s] = true
}

// moves records the new URN of a resource that is not replaced.
func (r *simRun) moves(s *plan.Step) {
	if s.Old.URN != s.New.URN {
		moved, err := lumigl.NewResource(s.New.URN)
		r.must(err)
		r.moved[s.Old.URN] = moved
	}
}

// resolve returns the current value of an output.
func (r *simRun) resolve(v *lumigl.Vertex, property string) (lumigl.Value, bool) {
	u := urn.URN(v.Key())
	if u.Type() == lumigl.ModuleType {
		name := strings.TrimPrefix(property, "provides.")
		parts, err := u.Parts()
		r.must(err)
		for _, e := range r.planned.Uses {
			if e.Module == parts.Package && e.Name == name {
				return r.before.Version(e.To).Provided(name).Result, true
			}
		}
		r.Fatalf("nothing is bound to %s.%s", parts.Package, name)
	}
	now := r.now[u]
	if now == nil {
		r.Fatalf("%s is needed before its step is done", u)
	}
	return now.Output(property)
}

// targets returns the resources referenced in a resolved value, including resources of other modules.
func (r *simRun) targets(v lumigl.Value) (all []*graph.Resource) {
	for target := range v.References() {
		u := urn.URN(target.Key())
		found := r.now[u]
		if found == nil && r.planned.Resource(u) == nil {
			for _, e := range r.planned.Uses {
				if other := r.before.Version(e.To).Resource(u); other != nil {
					found = other
				}
			}
		}
		if found == nil {
			r.Fatalf("%s is referred to before its step is done", u)
		}
		all = append(all, found)
	}
	return all
}

// inputs returns the fully resolved inputs of a step and the result of Check.
func (r *simRun) inputs(s *plan.Step, old *graph.Resource) (inputs, checked lumigl.Value) {
	inputs, err := expr.Evaluate(s.New.Inputs, r.resolve)
	r.must(err)
	if !expr.IsKnown(inputs) {
		r.Fatalf("%s: not all inputs are known: %s", s.URN, simText(inputs))
	}
	request := plan.CheckRequest{Desired: plan.Desired{URN: s.New.URN, Properties: inputs}, Seed: s.New.Seed}
	if old != nil {
		request.Old = old.Checked
		request.Properties = simIgnore(s.New, old, inputs)
	}
	checked, err = r.provider.Check(context.Background(), request)
	r.must(err)
	return inputs, checked
}

// simIgnore returns the inputs with former values of properties whose changes are ignored.
func simIgnore(new, old *graph.Resource, inputs lumigl.Value) lumigl.Value {
	for _, path := range new.Options.Get("ignoreChanges").Elements() {
		name, _ := path.Text()
		inputs = inputs.With(name, old.Inputs.Get(name))
	}
	return inputs
}

// needs returns the ids of the resources that a resource refers to, all of which must exist.
func (r *simRun) needs(of *graph.Resource, inputs lumigl.Value) (ids []string) {
	for _, u := range of.Dependencies {
		if r.now[u] == nil {
			r.Fatalf("%s depends on %s, whose step is not done", of.URN, u)
		}
		ids = append(ids, r.now[u].ID)
	}
	for _, target := range r.targets(inputs) {
		ids = append(ids, target.ID)
	}
	for _, id := range ids {
		if r.real[id] == nil {
			r.Fatalf("%s refers to %q, which does not exist", of.URN, id)
		}
	}
	return ids
}

// create makes a new real resource.
func (r *simRun) create(s *plan.Step) {
	inputs, checked := r.inputs(s, nil)
	r.checkAgain(s, s.Kind, checked)
	if s.New.Deployment != r.plan.Deployment {
		r.Fatalf("%s is new: got deployment %d, want %d", s.URN, s.New.Deployment, r.plan.Deployment)
	}
	r.next++
	id := fmt.Sprintf("id-%d", r.next)
	made := &simReal{urn: s.New.URN, needs: r.needs(s.New, inputs)}
	if simTypeOf(s.New.Type()).Named {
		made.name, _ = checked.Get("name").Text()
		r.claim(made)
	}
	r.real[id] = made
	now := *s.New
	now.ID, now.Inputs, now.Checked, now.Outputs = id, inputs, checked, simOutputs(id, checked)
	r.now[s.New.URN] = &now
	r.record(s, s.Kind, &now)
	r.results = append(r.results, graph.Result{New: &now})
}

// claim fails the test if another resource has the same physical name, except "shared" in other modules, which a
// planner cannot see.
func (r *simRun) claim(made *simReal) {
	for id, other := range r.real {
		if made.name != "shared" && !r.forgotten[id] && other.name == made.name && other.urn.Type() == made.urn.Type() {
			r.Fatalf("%s cannot have the name %q: it belongs to %s (%s)", made.urn, made.name, other.urn, id)
		}
	}
}

// change updates or replaces a resource, or does less than the step announced.
func (r *simRun) change(s *plan.Step) {
	if r.gone[s.Old] { // deleted first
		r.create(s)
		return
	}
	kind, inputs, checked := r.really(s)
	if kind == plan.Replace {
		r.create(s)
		return
	}
	r.checkAgain(s, kind, checked)
	r.kept[s] = true
	now := *s.New
	now.ID, now.Inputs, now.Checked, now.Outputs, now.Deployment = s.Old.ID, inputs, checked, s.Old.Outputs, s.Old.Deployment
	now.Incarnation, now.Seed = s.Old.Incarnation, s.Old.Seed
	if kind == plan.Update {
		now.Deployment = r.plan.Deployment
		now.Outputs = simOutputs(now.ID, checked)
	}
	r.moves(s)
	real := r.real[s.Old.ID]
	real.urn, real.needs = s.New.URN, r.needs(s.New, inputs)
	r.now[s.New.URN], r.became[s.Old] = &now, &now
	r.record(s, kind, &now)
	r.results = append(r.results, graph.Result{Old: s.Old, New: &now})
}

// record records the result of a step in the plan.
func (r *simRun) record(s *plan.Step, kind plan.Kind, now *graph.Resource) {
	done := *s
	done.Kind, done.New, done.Possible = kind, now, false
	r.plan.Record(s, &done)
}

// checkAgain compares the planner's second decision about a step with the required action.
func (r *simRun) checkAgain(s *plan.Step, kind plan.Kind, checked lumigl.Value) {
	again, err := r.plan.Again(context.Background(), s, r.gone[s.Old])
	switch {
	case err != nil:
		r.Fatalf("%s turns out to be %s, but is refused: %v", simStep(s), kind, err)
	case again.Kind != kind && (kind != plan.Same || again.Kind != plan.Move):
		r.Fatalf("%s turns out to be %s, but got %s", simStep(s), kind, simStep(again))
	case kind != plan.Same && !simCompared(again.New, again.New.Checked).Equal(simCompared(s.New, checked)):
		r.Fatalf("%s: want %s, got %s", simStep(s), simText(checked), simText(again.New.Checked))
	}
}

// simCompared returns properties without those whose changes the type ignores. The planner hides references to other
// resources from providers, so these cannot ignore them, whereas really does not hide them.
func simCompared(r *graph.Resource, properties lumigl.Value) lumigl.Value {
	for _, name := range simTypeOf(r.Type()).ignored {
		properties = properties.With(name, lumigl.Value{})
	}
	return properties
}

// really returns the required action for a resource with known inputs. It never exceeds the step.
func (r *simRun) really(s *plan.Step) (kind plan.Kind, inputs, checked lumigl.Value) {
	if r.real[s.Old.ID] == nil {
		r.Fatalf("%s is changed after its deletion", s.URN)
	}
	inputs, checked = r.inputs(s, s.Old)
	d, err := r.provider.InspectChange(context.Background(), plan.InspectChangeRequest{
		Desired: plan.Desired{URN: s.New.URN, Properties: r.renewed(checked, r.real[s.Old.ID])},
		ID:      s.Old.ID, Old: r.follow(s.Old.Properties()),
	})
	r.must(err)
	if d.Properties.Exists() {
		checked = checked.With("text", d.Properties.Get("text"))
	}
	if len(d.Changes) > 0 {
		kind = plan.Update
	}
	var replaces []string
	for _, c := range d.Changes {
		for _, option := range s.New.Options.Get("replaceOnChanges").Elements() {
			path, _ := option.Text()
			c.Replaces = c.Replaces || path == c.Path
		}
		if c.Replaces {
			kind = plan.Replace
			replaces = append(replaces, c.Path)
		}
	}
	switch {
	case kind == plan.Replace && s.Kind == plan.Update && len(s.Replaces) > 0 && s.Old.Flag("protect"):
		r.Logf("%s fails: it is protected and must be replaced", simStep(s))
		if _, err := r.plan.Again(context.Background(), s, false); err == nil {
			r.Fatal("it is not refused")
		}
		panic(simFailure{})
	case kind == plan.Replace && s.Kind != plan.Replace:
		r.Fatalf("%s was shown as %s, but must be replaced because %v changed", s.URN, s.Kind, replaces)
	case kind != s.Kind && !s.Possible:
		r.Fatalf("%s was shown as %s, but turns out to be %s: %v", s.URN, s.Kind, kind, d.Changes)
	}
	return kind, inputs, checked
}

// follow returns a value with updated references to moved resources.
func (r *simRun) follow(v lumigl.Value) lumigl.Value {
	return v.Retarget(func(old *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(r.moved[urn.URN(old.Key())], old) })
}

// renewed marks references to resources that were replaced under the same URN, so that they differ from the former
// ones.
func (r *simRun) renewed(v lumigl.Value, of *simReal) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		target, property, ok := part.Target()
		if !ok || property != "" || slices.Contains(of.needs, r.targets(part)[0].ID) {
			return lumigl.Value{}, false
		}
		return lumigl.TextOf("another " + target.Key()), true
	})
}

// delete deletes a resource, unless it is not replaced after all or a version keeps it.
func (r *simRun) delete(s *plan.Step) {
	if replacement := r.replacementOf(s); replacement != nil && r.decide(replacement) != plan.Replace {
		return
	}
	if r.transition != nil && !slices.Contains(r.transition.Deleted, s.Old) {
		return
	}
	if r.real[s.Old.ID] == nil {
		r.Fatalf("%s is deleted twice", s.Old.Key())
	}
	for id, other := range r.real {
		if slices.Contains(other.needs, s.Old.ID) && !r.forgotten[id] && !r.willFollow(r.changes[id], s) {
			r.Fatalf("%s is deleted before %s (%s), which refers to it", s.Old.Key(), other.urn, id)
		}
	}
	r.gone[s.Old] = true
	delete(r.real, s.Old.ID)
	r.results = append(r.results, graph.Result{Old: s.Old})
}

// decide returns the actual kind of a step that may replace a resource. It must be known before the old resource is
// deleted, unless it depends on a step that itself waits for a deletion. Then the resource is replaced.
func (r *simRun) decide(s *plan.Step) plan.Kind {
	switch {
	case r.kept[s]:
		return plan.Update
	case r.done[s], !s.Possible:
		return plan.Replace
	}
	for _, u := range s.New.Dependencies {
		on := r.steps[u]
		switch {
		case r.done[on]:
		case on.DeleteFirst, waitsFor(on, func(s *plan.Step) bool { return s.Kind == plan.Delete }):
			return plan.Replace
		default:
			r.Fatalf("%s is deleted before its replacement is decided: %s is not done", s.Old.Key(), simStep(on))
		}
	}
	kind, _, _ := r.really(s)
	return kind
}

// replacementOf returns the step that replaces a deleted resource.
func (r *simRun) replacementOf(s *plan.Step) *plan.Step {
	for _, other := range r.plan.Steps {
		if s.Replaced && other.Kind == plan.Replace && other.Old == s.Old {
			return other
		}
	}
	return nil
}

// willFollow reports whether a resource will no longer refer to a deleted one after its step: its references differ
// only in options, or it could not be changed earlier.
func (r *simRun) willFollow(step, deletion *plan.Step) bool {
	switch {
	case step == nil:
		return false
	case step.Kind == plan.Same || step.Kind == plan.Move:
		return r.steps[deletion.URN] != nil || !slices.Contains(step.New.Dependencies, deletion.URN)
	}
	return !r.done[step] && waitsFor(step, func(s *plan.Step) bool { return s == deletion })
}

// waitsFor reports whether a step waits, directly or indirectly, for a matching step.
func waitsFor(s *plan.Step, sought func(*plan.Step) bool) bool {
	return slices.ContainsFunc(s.After, func(a *plan.Step) bool { return sought(a) || waitsFor(a, sought) })
}

// commit makes the new version of the module with the actual resources.
func (r *simRun) commit() {
	var resources []*graph.Resource
	for planned := range r.planned.Resources() {
		now := r.now[planned.URN]
		if now == nil {
			r.Fatalf("%s is in the new version, but its step is not done", planned.URN)
		}
		resources = append(resources, now)
	}
	v := graph.NewVersion(r.planned.VersionID, resources)
	v.Configuration, v.Uses = r.planned.Configuration, slices.Clone(r.planned.Uses)
	for _, p := range r.planned.Provides {
		result, err := expr.Evaluate(p.Value, r.resolve)
		r.must(err)
		p.Result = result
		v.Provides = append(v.Provides, p)
	}
	removed := slices.Collect(maps.Keys(r.gone))
	t, err := r.before.Deploy(graph.Update{Version: v, Became: r.became, Removed: removed})
	if err != nil {
		r.Fatalf("the graph refuses the plan: %v", err)
	}
	for _, c := range t.Conflicts {
		r.Fatalf("unplanned conflict: %s is needed by %s", c.Resource.Key(), c.Version)
	}
	if err := t.Graph.Check(); err != nil {
		r.Fatalf("after the deployment: %v", err)
	}
	r.transition = t
	r.forget()
}

// forget removes retained resources from the world.
func (r *simRun) forget() {
	for _, s := range r.plan.Steps {
		if s.Kind == plan.Forget && slices.Contains(r.transition.Deleted, s.Old) {
			r.gone[s.Old] = true
			r.real[s.Old.ID].name, r.real[s.Old.ID].needs = "", nil
		}
	}
}
