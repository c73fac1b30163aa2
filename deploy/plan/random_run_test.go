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
	planned *graph.Version // planned new version, or nil for a cleanup
	steps   map[urn.URN]*plan.Step
	// changes maps the IDs of existing resources to their steps.
	changes map[string]*plan.Step
	// moved maps the old URNs of moved resources to their new vertices.
	moved map[urn.URN]*lumigl.Vertex
	done  map[*plan.Step]bool
	// now holds the actual resources of the new version whose steps are done.
	now map[urn.URN]*graph.Resource
	// kept holds the possible replacements that turned out to be unnecessary.
	kept   map[*plan.Step]bool
	became map[*graph.Resource]*graph.Resource
	gone   map[*graph.Resource]bool
	// forgotten holds the IDs of retained resources. Their dependencies may be deleted, and their names may be reused,
	// neither of which a real provider would allow.
	forgotten  map[string]bool
	transition *graph.Transition
	// results lists the results so far, which are needed if the deployment fails.
	results []graph.Result
	// left is the number of steps up to the one that fails. It is negative if no step fails.
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

// simFailure is the value that a failing step panics with.
type simFailure struct{}

// deploy runs a deployment, in which a step may fail. It returns the resulting graph, the modules to clean up, and
// whether the deployment succeeded.
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
		for id := range r.forgotten { // Replacements may have reused the names.
			w.real[id].name = ""
		}
		after = before.Overlay(graph.VersionID{Module: p.Module, Deployment: p.Deployment}, r.planned.Configuration, r.results)
		if err := after.Check(); err != nil {
			w.Fatalf("Check after a failed deployment: %v", err)
		}
		w.checkExist(after)
		for _, real := range w.real { // Until a retry succeeds, dependencies that were deleted first may be missing.
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

// remove runs a plan that only deletes resources.
func (w *simWorld) remove(random *rand.Rand, before *graph.Graph, p *plan.Plan, t *graph.Transition) {
	r := w.newRun(random, before, p)
	r.transition = t
	r.forget()
	for _, task := range p.Tasks {
		r.task(task)
	}
	r.check()
}

// check fails the test if the existing resources do not match the graph after the plan.
func (r *simRun) check() {
	for _, deleted := range r.transition.Deleted {
		if !r.gone[deleted] {
			r.Fatalf("%s is no longer in any version, but no step deleted it", deleted.Key())
		}
	}
	r.checkNeeds(r.transition.Graph)
}

// task runs the steps of a task in a random order that respects their After.
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
			r.Fatalf("task %d: %s %s waits for a step that never runs", task.Number, left[0].Kind, left[0].URN)
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
		r.Fatalf("task contains %s %s, which needs no provisioner", s.Kind, s.URN)
	}
}

// same keeps a resource, but its URN, options, or references may differ.
func (r *simRun) same(s *plan.Step) {
	if !expr.IsKnown(s.New.Inputs) || !expr.IsKnown(s.New.Checked) || s.New.ID == "" {
		r.Fatalf("unchanged resource %s contains unknown values: %s", s.URN, simText(s.New.Inputs))
	}
	r.now[s.New.URN] = s.New
	if s.New != s.Old {
		r.became[s.Old] = s.New
	}
	r.real[s.New.ID].urn = s.New.URN
	r.done[s] = true
}

// moves records the new URN of a resource that is moved, but not replaced.
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
		r.Fatalf("no use is bound to %s.%s", parts.Package, name)
	}
	now := r.now[u]
	if now == nil {
		r.Fatalf("output of %s is needed before its step is done", u)
	}
	return now.Output(property)
}

// targets returns the resources referenced in a resolved value, including resources of other modules.
func (r *simRun) targets(v lumigl.Value) (all []*graph.Resource) {
	for target := range v.References() {
		found := r.find(target.URN())
		if found == nil {
			r.Fatalf("%s is referenced before its step is done", target.URN())
		}
		all = append(all, found)
	}
	return all
}

// find returns the resource that a resolved value refers to as u, or nil.
func (r *simRun) find(u urn.URN) *graph.Resource {
	found := r.now[u]
	if found == nil && r.planned.Resource(u) == nil {
		found = r.before.Used(r.planned.Uses, u)
	}
	return found
}

// referents returns the Referents of a resource with the given properties, in which a property whose changes are ignored
// may refer to a resource that the program no longer contains.
func (r *simRun) referents(checked lumigl.Value) lumigl.Value {
	return graph.ReferentsOf(checked, func(u urn.URN) string {
		if found := r.find(u); found != nil {
			return found.ID
		}
		return ""
	})
}

// inputs returns the resolved inputs of a step and the result of Check for them.
func (r *simRun) inputs(s *plan.Step, old *graph.Resource) (inputs, checked lumigl.Value) {
	inputs, err := expr.Evaluate(s.New.Inputs, r.resolve)
	r.must(err)
	if !expr.IsKnown(inputs) {
		r.Fatalf("resolved inputs of %s contain unknown values: %s", s.URN, simText(inputs))
	}
	inputs, name := simName(s, old, inputs)
	request := plan.CheckRequest{Desired: plan.Desired{URN: s.New.URN, Properties: inputs}, Seed: s.New.Seed}
	if old != nil {
		request.Old = old.Checked
		request.Properties = simIgnore(s.New, old, inputs)
	}
	if name.Exists() {
		request.Properties = request.Properties.With("name", name)
	}
	checked, err = r.provider.Check(context.Background(), request)
	r.must(err)
	return inputs, checked
}

// isAutoNamed reports whether the program leaves the name of a planned resource to the engine.
func isAutoNamed(r *graph.Resource) bool {
	return r.AutoName || graph.IsDefaultName(r.Inputs.Get("name"), r.URN)
}

// simName returns the inputs of a step with the name of the old resource if the engine chose it, and the text of a
// unique name.
func simName(s *plan.Step, old *graph.Resource, inputs lumigl.Value) (named, text lumigl.Value) {
	if old != nil && isAutoNamed(s.New) {
		if stored, isAuto := old.PhysicalName(); isAuto {
			inputs = inputs.With("name", stored)
		}
	}
	switch name := inputs.Get("name"); {
	case !name.IsExpression():
	case old != nil && old.Inputs.Get("name").Equal(name):
		text = old.Checked.Get("name")
	default:
		text = s.New.Checked.Get("name")
	}
	return inputs, text
}

// simIgnore returns inputs in which properties with ignored changes have their old values.
func simIgnore(new, old *graph.Resource, inputs lumigl.Value) lumigl.Value {
	for _, path := range new.Options.Get("ignoreChanges").Elements() {
		name, _ := path.Text()
		inputs = inputs.With(name, old.Inputs.Get(name))
	}
	return inputs
}

// needs returns the IDs of the resources that a resource refers to. It fails the test if one of them does not exist.
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

// create creates a resource.
func (r *simRun) create(s *plan.Step) {
	inputs, checked := r.inputs(s, nil)
	r.checkAgain(s, s.Kind, checked)
	if s.New.Deployment != r.plan.Deployment {
		r.Fatalf("deployment of the new resource %s = %d, want %d", s.URN, s.New.Deployment, r.plan.Deployment)
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
	now.Referents = r.referents(checked)
	r.now[s.New.URN] = &now
	r.record(s, s.Kind, &now)
	r.results = append(r.results, graph.Result{New: &now})
}

// claim fails the test if another resource has the same physical name. The name "shared" in other modules is allowed,
// since the planner cannot see it.
func (r *simRun) claim(made *simReal) {
	for id, other := range r.real {
		if made.name != "shared" && !r.forgotten[id] && other.name == made.name && other.urn.Type() == made.urn.Type() {
			r.Fatalf("%s has the name %q, which is already taken by %s (%s)", made.urn, made.name, other.urn, id)
		}
	}
}

// change updates or replaces a resource, or does less than the step announces.
func (r *simRun) change(s *plan.Step) {
	if r.gone[s.Old] { // already deleted
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
	now.Incarnation, now.Seed, now.Referents = s.Old.Incarnation, s.Old.Seed, r.referents(checked)
	now.AutoName = isAutoNamed(s.New) && !graph.IsDefaultName(inputs.Get("name"), s.New.URN)
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

// record records the actual result of a step in the plan.
func (r *simRun) record(s *plan.Step, kind plan.Kind, now *graph.Resource) {
	done := *s
	done.Kind, done.New, done.Possible = kind, now, false
	r.plan.Record(s, &done)
}

// checkAgain fails the test if [plan.Plan.Again] does not return the required action.
func (r *simRun) checkAgain(s *plan.Step, kind plan.Kind, checked lumigl.Value) {
	again, err := r.plan.Again(context.Background(), s, r.gone[s.Old])
	switch {
	case err != nil:
		r.Fatalf("Again(%s) requires %s, but returned the error %v", simStep(s), kind, err)
	case again.Kind != kind && (kind != plan.Same || again.Kind != plan.Move):
		r.Fatalf("Again(%s) = %s, want %s", simStep(s), simStep(again), kind)
	case kind != plan.Same && !simCompared(again.New, again.New.Checked).Equal(simCompared(s.New, checked)):
		r.Fatalf("Again(%s).New.Checked = %s, want %s", simStep(s), simText(again.New.Checked), simText(checked))
	}
}

// simCompared returns properties without those whose changes the type ignores. The planner hides references to
// different resources from providers, so providers cannot ignore changes to them. really does not hide them.
func simCompared(r *graph.Resource, properties lumigl.Value) lumigl.Value {
	for _, name := range simTypeOf(r.Type()).ignored {
		properties = properties.With(name, lumigl.Value{})
	}
	return properties
}

// really returns the action required for a resource once its inputs are known. The action never exceeds the step.
func (r *simRun) really(s *plan.Step) (kind plan.Kind, inputs, checked lumigl.Value) {
	if r.real[s.Old.ID] == nil {
		r.Fatalf("%s is changed after it was deleted", s.URN)
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
		r.Logf("%s must fail: the resource is protected, but must be replaced", simStep(s))
		if _, err := r.plan.Again(context.Background(), s, false); err == nil {
			r.Fatal("Again returned nil, want an error for the replacement of a protected resource")
		}
		panic(simFailure{})
	case kind == plan.Replace && s.Kind != plan.Replace:
		r.Fatalf("planned step for %s is %s, but it must be replaced because %v changed", s.URN, s.Kind, replaces)
	case kind != s.Kind && !s.Possible:
		r.Fatalf("planned step for %s is %s, but the required one is %s: %v", s.URN, s.Kind, kind, d.Changes)
	}
	return kind, inputs, checked
}

// follow returns a value with references to moved resources updated.
func (r *simRun) follow(v lumigl.Value) lumigl.Value {
	return v.Retarget(func(old *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(r.moved[urn.URN(old.Key())], old) })
}

// renewed replaces references to resources that were replaced under the same URN, so that they differ from the old
// references.
func (r *simRun) renewed(v lumigl.Value, of *simReal) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		target, property, ok := part.Target()
		if !ok || property != "" || slices.Contains(of.needs, r.targets(part)[0].ID) {
			return lumigl.Value{}, false
		}
		return lumigl.TextOf("another " + target.Key()), true
	})
}

// delete deletes a resource unless it is not replaced after all or is still in a version.
func (r *simRun) delete(s *plan.Step) {
	if replacement := r.replacementOf(s); replacement != nil && r.decide(replacement) != plan.Replace {
		return
	}
	if r.transition != nil && !slices.Contains(r.transition.Deleted, s.Old) {
		return
	}
	if r.real[s.Old.ID] == nil {
		r.Fatalf("step deletes %s, which is already deleted", s.Old.Key())
	}
	for id, other := range r.real {
		if slices.Contains(other.needs, s.Old.ID) && !r.forgotten[id] && !r.willFollow(r.changes[id], s) {
			r.Fatalf("%s is deleted before %s (%s), which still refers to it", s.Old.Key(), other.urn, id)
		}
	}
	r.gone[s.Old] = true
	delete(r.real, s.Old.ID)
	r.results = append(r.results, graph.Result{Old: s.Old})
}

// decide returns the actual kind of a step that may replace a resource. The kind must be known before the old resource
// is deleted, unless the step depends on one that itself waits for a deletion. In that case, the resource is replaced.
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
			r.Fatalf("%s is deleted before its replacement can be decided: %s is not done", s.Old.Key(), simStep(on))
		}
	}
	kind, _, _ := r.really(s)
	return kind
}

// replacementOf returns the step that creates the replacement of a deleted resource, or nil.
func (r *simRun) replacementOf(s *plan.Step) *plan.Step {
	for _, other := range r.plan.Steps {
		if s.Replaced && other.Kind == plan.Replace && other.Old == s.Old {
			return other
		}
	}
	return nil
}

// willFollow reports whether a resource may still refer to the resource that deletion deletes. If step leaves the
// resource as it is or moves it, the deleted resource must have another step or must not be one of its dependencies.
// Otherwise, step must not be done, and must wait for the deletion.
func (r *simRun) willFollow(step, deletion *plan.Step) bool {
	switch {
	case step == nil:
		return false
	case step.Kind == plan.Same || step.Kind == plan.Move:
		return r.steps[deletion.URN] != nil || !slices.Contains(step.New.Dependencies, deletion.URN)
	}
	return !r.done[step] && waitsFor(step, func(s *plan.Step) bool { return s == deletion })
}

// waitsFor reports whether a step waits, directly or indirectly, for a step that satisfies sought.
func waitsFor(s *plan.Step, sought func(*plan.Step) bool) bool {
	return slices.ContainsFunc(s.After, func(a *plan.Step) bool { return sought(a) || waitsFor(a, sought) })
}

// commit creates the new version of the module with the actual resources.
func (r *simRun) commit() {
	var resources []*graph.Resource
	for planned := range r.planned.Resources() {
		now := r.now[planned.URN]
		if now == nil {
			r.Fatalf("new version contains %s, whose step is not done", planned.URN)
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
		r.Fatalf("Deploy with the actual resources: %v", err)
	}
	for _, c := range t.Conflicts {
		r.Fatalf("unplanned conflict: %s is needed by %s", c.Resource.Key(), c.Version)
	}
	if err := t.Graph.Check(); err != nil {
		r.Fatalf("Check after the deployment: %v", err)
	}
	r.transition = t
	r.forget()
}

// forget marks retained resources as gone, although they still exist.
func (r *simRun) forget() {
	for _, s := range r.plan.Steps {
		if s.Kind == plan.Forget && slices.Contains(r.transition.Deleted, s.Old) {
			r.gone[s.Old] = true
			r.real[s.Old.ID].name, r.real[s.Old.ID].needs = "", nil
		}
	}
}
