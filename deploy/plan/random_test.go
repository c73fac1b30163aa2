package plan_test

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestRandomChanges plans and runs random changes in random environments. With rapid's default of 100 checks, there are
// about 10,000 changes, the same each time. With -rapid.checks, it runs that number of other ones.
func TestRandomChanges(t *testing.T) {
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "rapid.checks" || f.Name == "rapid.seed" })
	var counts simCounts
	var seeding sync.Mutex // held until rapid has read the seed
	t.Run("all", func(t *testing.T) {
		for i := range 14 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				seeding.Lock()
				if !isSet {
					must.Do(t, flag.Set("rapid.seed", fmt.Sprint(i+1)))
				}
				var begun sync.Once
				rapid.Check(t, func(t *rapid.T) {
					begun.Do(seeding.Unlock)
					randomChanges(t, &counts)
				})
			})
		}
	})
	if !isSet {
		must.Do(t, flag.Set("rapid.seed", "0"))
	}
	planned, refused, steps := counts.planned.Load(), counts.refused.Load(), counts.steps.Load()
	t.Logf("%d changes planned and run with %d steps, %d refused, %d failed; %d unions, %d targeted", planned, steps, refused, counts.failed.Load(), counts.unions.Load(), counts.targeted.Load())
	if planned < 3*refused || steps < planned {
		t.Errorf("planned %d changes with %d steps and refused %d, want at least three times as many planned as refused, and at least one step each", planned, steps, refused)
	}
}

type simCounts struct{ planned, refused, failed, steps, unions, targeted atomic.Int64 }

// simState is an environment and its programs.
type simState struct {
	*simWorld
	graph       *graph.Graph
	environment *simEnvironment
	last        graph.Deployment
	counts      *simCounts
	// deployed holds the last deployed program of each module.
	deployed map[string]*simModule
	// waiting lists the modules whose cleanup is waiting.
	waiting []string
	// unique is set if requests ask for unique names.
	unique bool
}

func randomChanges(t *rapid.T, counts *simCounts) {
	s := &simState{
		simWorld: newWorld(t), graph: &graph.Graph{Environment: "dev", Lineage: "lineage"}, counts: counts,
		environment: &simEnvironment{next: 1}, deployed: map[string]*simModule{},
	}
	change := func(t *rapid.T) {
		d := newDraw(t, s.environment)
		d.change(d.module())
	}
	deploy := func(t *rapid.T) {
		d := newDraw(t, s.environment)
		m := d.module()
		s.unique = d.oneIn(2)
		if deployed := s.deployed[m.name]; deployed != nil && !s.failed[m.name] && len(deployed.resources) > 1 && d.oneIn(3) {
			s.checkUnion(d, deployed)
			s.checkMove(d, deployed)
		}
		if slices.ContainsFunc(m.uses, func(u simUse) bool { return s.failed[u.module] }) {
			return // The deployment would wait for the failed one.
		}
		if s.update(d, m, true) {
			s.deployed[m.name] = m.clone()
		} else if deployed := s.deployed[m.name]; deployed != nil {
			*m = *deployed.clone()
		} else {
			*m = simModule{name: m.name}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"change": change, "change 2": change, "change 3": change, "deploy": deploy, "deploy 2": deploy, "clean up": s.cleanUp,
	})
}

// request returns a request for the next deployment of a module.
func (s *simState) request(desired *lumigl.Snapshot) plan.Request {
	s.must(desired.Check())
	return plan.Request{
		Graph: s.graph, Deployment: s.last + 1, Desired: desired, Provider: s.provider, Provisioner: simToProvisioner, Parallelism: 1,
		UniqueNames: s.unique,
	}
}

// make plans a deployment. It returns nil if planning fails for a valid reason.
func (s *simState) make(r plan.Request) *plan.Plan {
	p, err := plan.Make(s.Context(), r)
	var refused *plan.Error
	switch {
	case err == nil:
		return p
	case !errors.As(err, &refused) || len(refused.Faults) == 0 || slices.ContainsFunc(refused.Faults, func(f plan.Fault) bool { return f.Message == "" }):
		s.Fatalf("Make() error = %v, want a *plan.Error with messages", err)
	}
	s.Logf("refused: %v", err)
	return nil
}

// update deploys a module. It reports whether the deployment could be planned.
func (s *simState) update(d simDraw, m *simModule, mayFail bool) bool {
	s.Logf("deploy %s:\n%s", m.name, m)
	if len(m.resources) > 0 && d.oneIn(4) {
		s.target(d, m)
	}
	p := s.make(s.request(m.desired(true)))
	if p == nil {
		s.counts.refused.Add(1)
		return false
	}
	s.Logf("plan %d:\n%s", p.Deployment, simSteps(p))
	s.checkPlan(p)
	again := s.make(s.request(m.desired(false)))
	if again == nil {
		s.Fatal("Make returned an error only for desired state in another order")
	}
	if d := cmp.Diff(simSteps(p), simSteps(again)) + cmp.Diff(p.Digest, again.Digest); d != "" {
		s.Fatalf("plan depends on the order of desired state:\n%s", d)
	}
	for _, of := range []*plan.Plan{p, again} {
		if err := of.Continues(p.Effects()); err != nil {
			s.Fatalf("Continues with the effects of an equal plan: %v", err)
		}
	}
	s.last++
	left := -1
	if mayFail && d.oneIn(6) {
		left = 1 + d.IntN(len(effective(p))+1)
	}
	after, cleanups, ok := s.deploy(d.Rand, s.graph, p, left)
	s.graph = after
	if !ok {
		s.counts.failed.Add(1)
		return s.update(d, m, false)
	}
	s.checkCleanups(p, cleanups)
	s.waiting = append(s.waiting, cleanups...)
	s.counts.planned.Add(1)
	s.counts.steps.Add(int64(len(effective(p))))
	calls := s.provider.calls.Load()
	s.unique = !s.unique // which only affects resources to be created
	result := s.make(s.request(m.desired(true)))
	if result == nil {
		s.Fatal("Make returned an error for a program that is already deployed")
	}
	if left := effective(result); len(left) > 0 {
		s.Fatalf("plan of a second deployment has changes:\n%s", simSteps(result))
	}
	if more := s.provider.calls.Load() - calls; more > 0 {
		s.Fatalf("planning a second deployment called the provider %d times, want 0", more)
	}
	return true
}

// target deploys only one resource of a module and its dependencies.
func (s *simState) target(d simDraw, m *simModule) {
	r := s.request(m.desired(true))
	r.Targets = []urn.URN{m.urn(d.IntN(len(m.resources)))}
	if newest := s.graph.Newest(m.name); newest != nil && newest.Len() > 0 && d.oneIn(3) {
		all := slices.Collect(newest.Resources())
		r.Targets = append(r.Targets, all[d.IntN(len(all))].URN)
	}
	s.Logf("target %v", r.Targets)
	p := s.make(r)
	if p == nil {
		return
	}
	s.Logf("plan %d:\n%s", p.Deployment, simSteps(p))
	s.checkPlan(p)
	if before := s.graph.Newest(m.name); before != nil {
		after := p.Transition.Graph.Newest(m.name)
		for old := range before.Resources() {
			isGone := after.Resource(old.URN) == nil && !slices.ContainsFunc(p.Steps, func(s *plan.Step) bool { return s.Old == old && s.New != nil })
			if isGone && !slices.Contains(r.Targets, old.URN) {
				s.Fatalf("plan deletes %s, which is not a target", old.URN)
			}
		}
	}
	s.last++
	after, cleanups, ok := s.deploy(d.Rand, s.graph, p, -1)
	if s.graph = after; ok {
		s.checkCleanups(p, cleanups)
		s.waiting = append(s.waiting, cleanups...)
		s.counts.targeted.Add(1)
	}
}

func effective(p *plan.Plan) (steps []*plan.Step) {
	for _, s := range p.Steps {
		if s.Kind != plan.Same {
			steps = append(steps, s)
		}
	}
	return steps
}

func simStep(s *plan.Step) string {
	text := fmt.Sprintf("%s %s", s.Kind, graph.ShortName(s.URN))
	for _, flag := range []struct {
		set  bool
		name string
	}{{s.Possible, "possible"}, {s.DeleteFirst, "delete first"}, {s.Replaced, "replaced"}, {s.NotCompared, "not compared"}} {
		if flag.set {
			text += ", " + flag.name
		}
	}
	return text + ": " + strings.Join(append(slices.Clone(s.Reasons), s.Replaces...), "; ")
}

// simSteps formats the steps of a plan, sorted independently of program order, and the plan's cleanups.
func simSteps(p *plan.Plan) string {
	var b strings.Builder
	var steps []string
	for _, s := range p.Steps {
		text := simStep(s)
		if s.Kind == plan.Same {
			continue
		}
		for _, a := range slices.Sorted(slices.Values(simStepTexts(s.After))) {
			text += "\n  after " + a
		}
		steps = append(steps, text)
	}
	slices.Sort(steps)
	b.WriteString(strings.Join(steps, "\n") + "\n")
	for _, c := range p.Cleanups {
		fmt.Fprintf(&b, "cleanup of %s: %v", c.Module, c.Versions)
		for _, r := range c.Deleted {
			fmt.Fprintf(&b, " %s", r.Key())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// checkPlan fails the test if a plan violates an invariant.
func (s *simState) checkPlan(p *plan.Plan) {
	if err := p.Transition.Graph.Check(); err != nil {
		s.Fatalf("Check of the planned graph: %v", err)
	}
	if len(p.Transition.Conflicts) > 0 {
		s.Fatalf("plan has conflicts: %+v", p.Transition.Conflicts)
	}
	place := map[*plan.Step]int{}
	stepsOf := map[string]int{}
	for i, step := range p.Steps {
		place[step] = i
		if step.New != nil {
			stepsOf[string(step.New.URN)]++
		}
		for _, a := range step.After {
			if at, ok := place[a]; !ok || at >= i {
				s.Fatalf("%s comes before %s, which it waits for", simStep(step), simStep(a))
			}
		}
	}
	for r := range p.Transition.Graph.Newest(p.Module).Resources() {
		if n := stepsOf[string(r.URN)]; n != 1 {
			s.Fatalf("plan has %d steps for %s, want 1", n, r.URN)
		}
	}
	// Early deletions and the steps they wait for come before the module's task.
	first := map[*plan.Step]bool{}
	var hasToBeFirst func(*plan.Step)
	hasToBeFirst = func(step *plan.Step) {
		first[step] = true
		for _, a := range step.After {
			hasToBeFirst(a)
		}
	}
	for _, step := range p.Steps {
		if step.DeleteFirst {
			hasToBeFirst(step)
		}
	}
	var inTasks []*plan.Step
	modules := 0
	for i, t := range p.Tasks {
		if t.Number != i+1 {
			s.Fatalf("Tasks[%d].Number = %d, want %d", i, t.Number, i+1)
		}
		if len(t.Steps) == 0 {
			modules++
		}
		for _, step := range t.Steps {
			if last := step.Kind == plan.Delete && !first[step]; last != (modules > 0) {
				s.Fatalf("%s is on the wrong side of the module's task (deletions come after it, other steps before it)", simStep(step))
			}
		}
		inTasks = append(inTasks, t.Steps...)
	}
	if modules != 1 {
		s.Fatalf("plan has %d tasks for the module, want 1", modules)
	}
	provisioned := slices.DeleteFunc(effective(p), func(s *plan.Step) bool { return s.Kind == plan.Move || s.Kind == plan.Forget })
	if want, got := simStepTexts(provisioned), simStepTexts(inTasks); !slices.Equal(want, got) {
		s.Fatalf("steps of tasks differ from the provisioned steps of the plan (-want +got):\n%s", cmp.Diff(want, got))
	}
}

func simStepTexts(steps []*plan.Step) (all []string) {
	for _, s := range steps {
		all = append(all, simStep(s))
	}
	return all
}

// checkCleanups fails the test if the cleanups after a deployment delete resources whose deletion its plan did not
// announce.
func (s *simState) checkCleanups(p *plan.Plan, modules []string) {
	shown := map[string]bool{}
	for _, step := range p.Steps {
		if step.New == nil {
			shown[graph.ShortName(step.URN)] = true
		}
	}
	for _, c := range p.Cleanups {
		for _, r := range c.Deleted {
			shown[graph.ShortName(r.URN)] = true
		}
	}
	for g := s.graph; len(modules) > 0; {
		t := g.Cleanup(modules[0])
		for _, step := range plan.MakeCleanup(g, modules[0], simToProvisioner).Steps {
			if !slices.Contains(t.Deleted, step.Old) || !shown[graph.ShortName(step.URN)] {
				s.Fatalf("Cleanup[%s] would delete %s, which the plan did not show", modules[0], step.Old.Key())
			}
		}
		g, modules = t.Graph, t.Cleanups
	}
}

// cleanUp runs the first waiting cleanup.
func (s *simState) cleanUp(t *rapid.T) {
	d := newDraw(t, s.environment)
	if len(s.waiting) > 0 {
		module := s.waiting[0]
		s.waiting = slices.DeleteFunc(s.waiting, func(m string) bool { return m == module })
		p := plan.MakeCleanup(s.graph, module, simToProvisioner)
		after := s.graph.Cleanup(module)
		if err := after.Graph.Check(); err != nil {
			s.Fatalf("Check after the cleanup of %s: %v", module, err)
		}
		s.remove(d.Rand, s.graph, p, after)
		s.graph = after.Graph
		s.waiting = append(s.waiting, after.Cleanups...)
	}
}

// checkUnion plans two changes of a module separately and together. If the changes are independent, the combined plan
// must consist of the steps of both plans.
func (s *simState) checkUnion(d simDraw, deployed *simModule) {
	base := deployed.clone()
	d.environment = s.environment.with(base)
	first, second := d.IntN(len(base.resources)), d.IntN(len(base.resources))
	if first == second || base.resources[first].name == "" && base.resources[second].name == "" { // Names of unnamed resources depend on both changes.
		return
	}
	draw := func(at int) func(*simModule) {
		name := simProperties[d.IntN(len(simProperties))]
		value := d.valueOf(name, base, at)
		return func(m *simModule) { m.resources[at].properties[name] = value }
	}
	change1, change2 := draw(first), draw(second)
	urn1, urn2 := base.urn(first), base.urn(second)
	// planned returns the steps of a plan, and the resources affected by the steps or the changes.
	planned := func(changed urn.URN, changes ...func(*simModule)) (steps []string, touched []urn.URN, ok bool) {
		m := base.clone()
		for _, change := range changes {
			change(m)
		}
		s.Logf("one of two:\n%s", m)
		p := s.make(s.request(m.desired(true)))
		if p == nil {
			return nil, nil, false
		}
		for _, step := range p.Steps {
			if step.Kind != plan.Same {
				touched = append(touched, step.URN)
			}
			for _, r := range []*graph.Resource{step.Old, step.New} {
				if r != nil && (step.Old != step.New || step.URN == urn1 || step.URN == urn2) {
					touched = append(touched, r.URN) // A computed name may change with the inputs.
					touched = append(touched, r.Dependencies...)
				}
			}
		}
		return simStepTexts(effective(p)), touched, true
	}
	steps1, touched1, ok1 := planned(urn1, change1)
	steps2, touched2, ok2 := planned(urn2, change2)
	touched1, touched2 = append(touched1, urn1), append(touched2, urn2)
	touch := slices.ContainsFunc(touched1, func(u urn.URN) bool { return slices.Contains(touched2, u) })
	if !ok1 || !ok2 || touch {
		return
	}
	both, _, ok := planned(urn1, change1, change2)
	if !ok {
		return // One change keeps a version that needs a resource changed by the other change.
	}
	want := slices.Concat(steps1, steps2)
	slices.Sort(want)
	slices.Sort(both)
	if !slices.Equal(want, both) {
		s.Fatalf("steps of two independent changes differ (-separate +combined):\n%s", cmp.Diff(want, both))
	}
	s.counts.unions.Add(1)
}

// checkMove renames a resource, adds an alias, and checks that the plan only moves the resource.
func (s *simState) checkMove(d simDraw, deployed *simModule) {
	m := deployed.clone()
	r := &m.resources[d.IntN(len(m.resources))]
	before := s.make(s.request(m.desired(true)))
	if r.name == "" || before == nil || len(effective(before)) > 0 {
		return // Values used by the module have changed.
	}
	if text, ok := r.properties["name"].literal.Text(); ok && text == r.name { // left to the engine, as the new name is
		r.properties["name"] = simValue{form: "literal", literal: lumigl.TextOf("moved")}
	}
	r.name, r.aliases = "moved", []string{r.name}
	s.Logf("move a resource:\n%s", m)
	p := s.make(s.request(m.desired(true)))
	if p == nil {
		s.Fatal("Make returned an error for a renamed resource with an alias")
	}
	if steps := effective(p); len(steps) != 1 || steps[0].Kind != plan.Move {
		s.Fatalf("plan of a move =\n%s\nwant only a move", simSteps(p))
	}
}
