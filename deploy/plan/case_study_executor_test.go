package plan_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

const caseStudy = "testdata/case-study/"

// study is an environment with a minimal executor, which keeps everything in memory and runs steps only on request, one
// at a time.
type study struct {
	t    *testing.T
	page *page
	aws  *fakeProvisioner
	ftl  *fakeProvisioner

	resources   *graph.Graph
	waiting     queue.Queue
	last        graph.Deployment
	deployments []*deployment // rows of the task table
}

// deployment is a queue entry with its plan and the progress of its tasks.
type deployment struct {
	queue.Entry
	desired *lumigl.Snapshot // nil for a cleanup
	plan    *plan.Plan
	base    *graph.Graph // graph when it was started, or nil
	tasks   []taskProgress
	results map[string]lumigl.Value // metadata by vertex key
}

type taskProgress struct{ state, token string }

func newStudy(t *testing.T) *study {
	s := &study{t: t, page: openPage(t, "../../docs/case-study.md")}
	s.reset()
	return s
}

// reset replaces the environment with an empty one.
func (s *study) reset() {
	s.aws, s.ftl = newFakeProvisioner(s.t, "aws", 2), newFakeProvisioner(s.t, "ftl", 1)
	s.resources, s.waiting, s.last, s.deployments = &graph.Graph{Environment: "prod"}, nil, 0, nil
}

// request queues the deployment of a module and plans it against the graph expected when it is its turn. It starts a
// new task table if nothing is running.
func (s *study) request(file string) {
	s.t.Helper()
	if err := s.tryRequest(file); err != nil {
		s.t.Fatalf("planning %s: %v", file, err)
	}
}

// refused returns the error for a deployment that cannot be planned.
func (s *study) refused(file string) string {
	s.t.Helper()
	err := s.tryRequest(file)
	if wrong := (*plan.Error)(nil); !errors.As(err, &wrong) {
		s.t.Fatalf("planning %s: error %T: %v, want a *plan.Error", file, err, err)
	}
	return err.Error()
}

func (s *study) tryRequest(file string) error {
	desired, err := lumigl.ParseSnapshot(s.read(file))
	if err != nil {
		return err
	}
	module, err := graph.ModuleOf(desired, s.resources.Environment)
	if err != nil {
		return err
	}
	e := queue.Entry{ID: s.last + 1, Module: module.Name}
	for _, c := range module.Uses {
		e.Uses = append(e.Uses, c.Module)
	}
	slices.Sort(e.Uses)
	e.Uses = slices.Compact(e.Uses)
	waiting, _, err := s.waiting.Add(e, s.resources)
	if err != nil {
		return err
	}
	d := &deployment{Entry: e, desired: desired}
	deployments := append(slices.Clone(s.deployments), d)
	if len(s.waiting) == 0 {
		deployments = []*deployment{d}
	}
	before := *s
	s.waiting, s.deployments = waiting, deployments
	if d.plan, err = s.plan(d, s.expected(d)); err != nil {
		*s = before
		return err
	}
	s.last++
	d.tasks = waitingTasks(d.plan)
	return nil
}

// expected returns the resource graph expected after the deployments that d waits for.
func (s *study) expected(d *deployment) *graph.Graph {
	needed := map[string]bool{d.Name(): true}
	for i, e := range slices.Backward(s.waiting) {
		if needed[e.Name()] {
			for _, w := range s.waiting.Waits(i, s.resources) {
				needed[w.For.Name()] = true
			}
		}
	}
	g := s.resources
	for _, e := range s.waiting {
		if needed[e.Name()] && e.Name() != d.Name() {
			p, err := s.plan(s.deployment(e.Name()), g)
			if err != nil {
				s.t.Fatal(err)
			}
			g = p.Transition.Graph
		}
	}
	return g
}

func (s *study) plan(d *deployment, g *graph.Graph) (*plan.Plan, error) {
	provisioner := func(t tokens.Type) string {
		if t == lumigl.ModuleType {
			return "ftl"
		}
		return "aws"
	}
	if d.IsCleanup() {
		return plan.MakeCleanup(g, d.Module, provisioner), nil
	}
	return plan.Make(context.Background(), plan.Request{
		Graph: g, Deployment: d.ID, Desired: d.desired, Provider: databases{}, Provisioner: provisioner,
	})
}

func waitingTasks(p *plan.Plan) []taskProgress {
	return slices.Repeat([]taskProgress{{state: "WAIT"}}, len(p.Tasks))
}

// deployment returns the unfinished deployment with the given name.
func (s *study) deployment(name string) *deployment {
	s.t.Helper()
	for _, d := range slices.Backward(s.deployments) {
		if d.Name() == name && slices.ContainsFunc(s.waiting, func(e queue.Entry) bool { return e.Name() == name }) {
			return d
		}
	}
	s.t.Fatalf("%s is not in the queue", name)
	return nil
}

// start starts a ready deployment. It plans the deployment again and checks that the plan has not changed.
func (s *study) start(name string) {
	s.t.Helper()
	if !slices.ContainsFunc(s.waiting.Ready(s.resources), func(e queue.Entry) bool { return e.Name() == name }) {
		s.t.Fatalf("%s is not ready", name)
	}
	d := s.deployment(name)
	again, err := s.plan(d, s.resources)
	if err != nil {
		s.t.Fatal(err)
	}
	if !d.IsCleanup() {
		if err := again.Continues(d.plan.Effects()); err != nil {
			s.t.Errorf("%s: Continues() = %v, want nil", name, err)
		}
	}
	d.plan, d.tasks, d.base, d.results = again, waitingTasks(again), s.resources, map[string]lumigl.Value{}
	s.waiting = slices.Clone(s.waiting)
	for i := range s.waiting {
		if s.waiting[i].Name() == name {
			s.waiting[i].Running = true
		}
	}
}

// finish advances a deployment until it is done.
func (s *study) finish(name string) {
	s.t.Helper()
	d := s.deployment(name)
	for range 100 {
		if !s.advance(name) {
			return
		}
	}
	s.t.Fatalf("%s is not done after 100 steps: %v", name, d.tasks)
}

// run deploys a file and runs the resulting cleanups.
func (s *study) run(file, name string) {
	s.t.Helper()
	s.request(file)
	s.start(name)
	s.finish(name)
	for len(s.waiting) > 0 {
		name = s.waiting.Ready(s.resources)[0].Name()
		s.start(name)
		s.finish(name)
	}
}

// advance moves the first unfinished task of a deployment to its next state. After the last task, it removes the
// deployment from the queue. It reports whether the deployment is unfinished.
func (s *study) advance(name string) bool {
	s.t.Helper()
	d := s.deployment(name)
	if d.base == nil {
		s.t.Fatalf("%s has not been started", name)
	}
	i := slices.IndexFunc(d.tasks, func(p taskProgress) bool { return p.state != "DONE" })
	if i >= 0 {
		s.advanceTask(d, d.plan.Tasks[i], &d.tasks[i])
		if i < len(d.tasks)-1 || d.tasks[i].state != "DONE" {
			return true
		}
	}
	s.commit(d)
	return false
}

func (s *study) advanceTask(d *deployment, task plan.Task, p *taskProgress) {
	s.t.Helper()
	provisioner := map[string]plan.Provisioner{"aws": s.aws, "ftl": s.ftl}[task.Provisioner]
	if provisioner == nil {
		s.t.Fatalf("no provisioner %q", task.Provisioner)
	}
	switch p.state {
	case "WAIT":
		token, err := provisioner.Provision(context.Background(), d.plan.Inputs()[task.Number-1])
		if err != nil {
			s.t.Fatalf("%s: Provision: %v", d.Name(), err)
		}
		p.state, p.token = "RUNNING", token
	case "RUNNING":
		p.state = "DONE"
		if p.token != "" {
			p.state = "POLLING"
		}
	case "POLLING":
		status, err := provisioner.Status(context.Background(), p.token)
		switch {
		case err != nil || status.State == plan.Failed:
			s.t.Fatalf("%s: Status() = %+v, %v", d.Name(), status, err)
		case status.State == plan.Done:
			p.state = "DONE"
			maps.Copy(d.results, status.Metadata)
		}
	}
}

// commit updates the resource graph once all tasks of a deployment are done, and queues the resulting cleanups.
func (s *study) commit(d *deployment) {
	s.t.Helper()
	transition := s.transition(d)
	if err := transition.Graph.Check(); err != nil {
		s.t.Fatalf("Check after %s: %v", d.Name(), err)
	}
	// The plan does not account for deployments that ran in the meantime.
	if got, want := compact(transition.Graph), compact(d.plan.Transition.Graph); got != want && s.resources == d.base {
		s.t.Errorf("graph after %s =\n%s\nwant the planned graph\n%s", d.Name(), got, want)
	}
	s.resources = transition.Graph
	s.waiting = s.waiting.Remove(d.Name())
	for _, module := range transition.Cleanups {
		s.addCleanup(module)
	}
}

func (s *study) transition(d *deployment) *graph.Transition {
	s.t.Helper()
	if d.IsCleanup() {
		return s.resources.Cleanup(d.Module)
	}
	for _, step := range d.plan.Steps {
		if step.Kind != plan.Same && step.Kind != plan.Create && step.Kind != plan.Delete {
			s.t.Fatalf("unexpected step %s %s in the case study", step.Kind, step.URN)
		}
	}
	planned := d.plan.Transition.Graph.Version(graph.VersionID{Module: d.Module, Deployment: d.ID})
	var made []*graph.Resource
	for r := range planned.Resources() {
		if metadata, found := d.results[r.Key()]; found {
			created := *r
			created.ID, _ = metadata.Get("id").Text()
			created.Outputs = metadata.Get("outputs")
			created.Metadata = lumigl.ObjectOf(lumigl.Member{Key: "stack", Value: metadata.Get("stack")})
			r = &created
		}
		if r.ID == "" {
			s.t.Fatalf("no step created %s", r.Key())
		}
		made = append(made, r)
	}
	v := graph.NewVersion(planned.VersionID, made)
	v.Provides, v.Configuration = planned.Provides, planned.Configuration
	for _, e := range planned.Uses {
		v.Uses = append(v.Uses, graph.Edge{Constraint: e.Constraint})
	}
	transition, err := s.resources.Deploy(graph.Update{Version: v})
	if err != nil {
		s.t.Fatal(err)
	}
	return transition
}

// addCleanup queues a cleanup of a module unless one is already waiting.
func (s *study) addCleanup(module string) {
	s.t.Helper()
	waiting, _, err := s.waiting.Add(queue.Entry{Module: module}, s.resources)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(waiting) > len(s.waiting) {
		s.deployments = append(s.deployments, &deployment{Entry: waiting[len(waiting)-1]})
	}
	s.waiting = waiting
}

func (s *study) read(file string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(caseStudy, file))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}
