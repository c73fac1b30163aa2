package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

// Plan implements [API].
func (s *Service) Plan(ctx context.Context, environment string, r RunRequest) (Plan, error) {
	_, sch, err := s.schedule(ctx, environment, &r)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Type: r.Type, Items: make([]PlanItem, 0, len(sch.Items))}
	for i, item := range sch.Items {
		if item.Skip == schedule.ByChoice {
			continue
		}
		planned := PlanItem{Task: item.Task.ID, Type: item.Task.Type, Skip: item.Skip, Holds: item.Holds}
		if item.Holds != nil {
			planned.Condition = item.Task.Condition
		}
		if item.Node != nil {
			planned.Node = item.Node.Name
		}
		planned.Waits, planned.Any = sch.Waits(i)
		p.Items = append(p.Items, planned)
	}
	for _, w := range sch.Windows {
		shown := PlanWindow{Group: w.Group.ID, Amount: w.Amount, MayFail: w.Tolerance, Nodes: []string{}}
		for _, place := range w.Places {
			shown.Nodes = append(shown.Nodes, place.Node.Name)
		}
		p.Windows = append(p.Windows, shown)
	}
	return p, nil
}

// Start implements [API].
func (s *Service) Start(ctx context.Context, environment string, r RunRequest) (Run, error) {
	request, _, err := s.schedule(ctx, environment, &r)
	if err != nil {
		return Run{}, err
	}
	return s.engage(environment, true, func(e *run.Engine) (store.Job, error) { return e.Start(ctx, request) })
}

// schedule returns the request to the engine and the schedule for a run. It sets missing fields of r to their defaults.
func (s *Service) schedule(ctx context.Context, environment string, r *RunRequest) (request run.Request, sch *schedule.Schedule, err error) {
	r.Type, r.Event = cmp.Or(r.Type, taskgraph.DefaultType), cmp.Or(r.Event, taskgraph.DefaultEvent)
	last := map[[2]string]schedule.Last{}
	e, err := read(ctx, s, func(v *view) *taskgraph.Effective {
		e := v.effective(environment, r.Type, nil)
		rows, err := v.LastTaskRuns(environment, r.Type)
		v.err = cmp.Or(v.err, err)
		for _, t := range rows {
			last[[2]string{t.Task, t.Node}] = schedule.Last{Succeeded: t.State == store.Done, Digest: t.Digest, Refresh: t.Refresh}
		}
		return e
	})
	if err != nil {
		return request, nil, err
	}
	if _, err := taskgraph.Check(e, s.Types.Check); err != nil {
		return request, nil, err
	}
	nodes, snapshot, err := s.Inventory(ctx, environment)
	if err != nil {
		return request, nil, err
	}
	data := inventory.Data{
		Environment: environment, Type: r.Type, Event: r.Event, Inventory: nodes, Snapshot: snapshot,
		History: func(ctx context.Context) ([]inventory.Past, error) { return s.history(ctx, environment, r.Type) },
	}
	wrong := e.Evaluate(func(text string) (any, error) { return data.Evaluate(ctx, text, nil) })
	specs, err := taskgraph.Check(e, s.Types.Check)
	in := schedule.Input{
		Tasks: specs, Digests: schedule.Digests(e.Tasks), Nodes: nodes.Nodes, Only: r.Nodes, Choice: r.Choice, Event: r.Event, All: r.All, Refresh: data.Refresh,
		Condition: func(x string, n *inventory.Node) (bool, error) { return data.Condition(ctx, x, n) },
		Evaluate:  func(x string, n *inventory.Node) (any, error) { return data.Evaluate(ctx, x, n) },
		Check: func(t *taskgraph.Spec) []string {
			check, _ := s.Types.Check(t.Type) // Check has found all types
			return check(t.Parameters)
		},
		Last: func(task, node string) (schedule.Last, bool) {
			l, ok := last[[2]string{task, node}]
			return l, ok
		},
	}
	if err == nil {
		sch, err = schedule.New(in)
	}
	if err := joined(e.Tasks, wrong, err); err != nil {
		return request, nil, err
	}
	if !slices.ContainsFunc(sch.Items, func(i schedule.Item) bool { return i.Skip != schedule.ByChoice }) {
		if !r.IsAll() {
			return request, nil, fail(Invalid, "graph %s of %s has none of the chosen tasks on these nodes: check the tasks, tags, and nodes", r.Type, environment)
		}
		return request, nil, fail(Invalid, "graph %s of %s has no tasks for these nodes: check the roles of its tasks and the nodes", r.Type, environment)
	}
	for _, item := range sch.Items {
		if s.Remote && item.Skip != schedule.ByChoice && item.Node != nil && item.Node.Local {
			return request, nil, fail(Invalid, tasktype.NoLocal, item.Node.Name)
		}
	}
	if err := s.checkSources(sch); err != nil {
		return request, nil, err
	}
	request = run.Request{Type: r.Type, Tasks: e.Tasks, Inventory: *nodes, Only: r.Nodes, Choice: r.Choice, Event: r.Event, Digests: in.Digests}
	request.Decisions = sch.Decisions()
	request.Outputs, err = data.Known()
	return request, sch, err
}

// joined returns a *[taskgraph.Error] with the problems of several errors in the order of tasks. It returns other errors
// alone, and nil if there are none.
func joined(tasks []taskgraph.Task, errs ...error) error {
	var all taskgraph.Error
	for _, err := range errs {
		if wrong := (*taskgraph.Error)(nil); errors.As(err, &wrong) {
			all.Problems = append(all.Problems, wrong.Problems...)
		} else if err != nil {
			return err
		}
	}
	if all.Problems == nil {
		return nil
	}
	at := map[string]int{}
	for i, t := range tasks {
		at[t.ID] = i
	}
	slices.SortStableFunc(all.Problems, func(a, b taskgraph.Problem) int { return cmp.Compare(at[a.Task], at[b.Task]) })
	return &all
}

// checkSources returns an error if a task cannot copy its files. It checks equal parameters only once.
func (s *Service) checkSources(sch *schedule.Schedule) error {
	var problems []string
	checked := map[string]bool{}
	for _, item := range sch.Items {
		if item.Skip != "" || item.Node == nil || s.CheckSources == nil {
			continue
		}
		t := cmp.Or(item.Evaluated, item.Task)
		key := fmt.Sprint(t.ID, t.Parameters)
		if checked[key] {
			continue
		}
		checked[key] = true
		for _, problem := range s.CheckSources(t, item.Node) {
			problems = append(problems, "task "+t.ID+": "+problem)
		}
	}
	if problems == nil {
		return nil
	}
	return fail(Invalid, "%s", strings.Join(problems, "\n"))
}

// history returns the data of successful runs of all tasks, newest first, up to the last one that included all nodes.
func (s *Service) history(ctx context.Context, environment, graphType string) ([]inventory.Past, error) {
	return read(ctx, s, func(v *view) (all []inventory.Past) {
		const page = 100
		for before, full := int64(0), false; !full && v.err == nil; {
			rows, err := v.Runs(environment, before, page)
			v.err, full = err, len(rows) < page
			for _, d := range rows {
				if before = d.ID; d.State != store.Done || d.Module != graphType {
					continue
				}
				content, err := v.Content(d.ID)
				var r run.Request
				if v.err = cmp.Or(err, r.Read(content)); v.err != nil {
					break
				}
				if !r.Choice.IsAll() { // it has not applied all values
					continue
				}
				all = append(all, inventory.Past{Only: r.Only, Inventory: r.Inventory, Outputs: r.Outputs})
				if full = len(r.Only) == 0; full {
					break
				}
			}
		}
		return all
	})
}

// Resume implements [API].
func (s *Service) Resume(ctx context.Context, id int64, answer *Answer) (Run, error) {
	return s.act(ctx, id, true, func(e *run.Engine) (store.Job, error) { return e.Resume(ctx, id, answer) })
}

// Stop implements [API].
func (s *Service) Stop(ctx context.Context, id int64) (Run, error) {
	return s.act(ctx, id, false, func(e *run.Engine) (store.Job, error) { return e.Cancel(ctx, id) })
}

// act calls engage for the environment of the run with the given ID.
func (s *Service) act(ctx context.Context, id int64, begins bool, change func(*run.Engine) (store.Job, error)) (Run, error) {
	d, err := read(ctx, s, func(v *view) store.Job { return v.run(id) })
	if err != nil {
		return Run{}, err
	}
	return s.engage(d.Environment, begins, change)
}

// engage calls change with the engine of an environment. If begins is set, it also executes the run returned by change.
func (s *Service) engage(environment string, begins bool, change func(*run.Engine) (store.Job, error)) (Run, error) {
	e := s.Engine(environment)
	d, err := change(e)
	if refused := new(job.RefusedError); errors.As(err, &refused) {
		err = &Error{Conflict, refused.Message}
	} else if errors.Is(err, store.ErrNotFound) { // deleted concurrently
		err = &Error{NotFound, err.Error()}
	}
	if err != nil {
		return Run{}, err
	}
	r := shown(d, !d.State.IsFinal()) // Start and Resume claim the run, and Cancel ends a run without a process.
	if begins && s.Go != nil {
		s.Go(environment, d.ID)
	}
	return r, nil
}

func shown(d store.Job, held bool) Run {
	return Run{
		ID: d.ID, Environment: d.Environment, Type: d.Module, State: d.State, Message: d.Message, Created: d.Created, Ended: d.Ended,
		Running: held,
	}
}

func (v *view) run(id int64) store.Job {
	d, err := v.Job(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && d.Kind != store.Tasks {
		err = fail(NotFound, "run %d does not exist", id)
	}
	v.err = cmp.Or(v.err, err)
	return d
}

// Runs implements [API].
func (s *Service) Runs(ctx context.Context, environment string, before int64, limit int) ([]Run, error) {
	return read(ctx, s, func(v *view) []Run {
		v.environment(environment)
		rows, err := v.Runs(environment, before, limit)
		v.err = cmp.Or(v.err, err)
		all := make([]Run, len(rows))
		for i, d := range rows {
			all[i] = shown(d, s.Engine(environment).IsHeld(v.Now(), d))
		}
		return all
	})
}

// Run implements [API].
func (s *Service) Run(ctx context.Context, id int64) (Run, error) {
	return read(ctx, s, func(v *view) Run {
		d := v.run(id)
		if v.err != nil {
			return Run{}
		}
		r := shown(d, s.Engine(d.Environment).IsHeld(v.Now(), d))
		r.Tasks, v.err = v.TaskRuns(id)
		return r
	})
}

// maxEvents is the maximum number of events returned by a call.
const maxEvents = 1000

// Events implements [API].
func (s *Service) Events(ctx context.Context, id, after int64) ([]store.Event, error) {
	return read(ctx, s, func(v *view) (all []store.Event) {
		if d := v.run(id); v.err == nil {
			all, v.err = v.Events(d.Environment, id, after, maxEvents)
		}
		return all
	})
}

// Poll is the time between two looks at the events of a followed run.
const Poll = time.Second / 2

// Follow implements [API].
func (s *Service) Follow(ctx context.Context, id, after int64, show func([]store.Event) error) (Run, error) {
	for ended := false; ; {
		events, err := s.Events(ctx, id, after)
		if err == nil {
			err = show(events)
		}
		if err != nil {
			return Run{}, err
		}
		if n := len(events); n > 0 {
			after = events[n-1].Serial
			continue
		}
		if ended {
			return s.Run(ctx, id)
		}
		held, err := read(ctx, s, func(v *view) bool {
			d := v.run(id)
			return v.err == nil && s.Engine(d.Environment).IsHeld(v.Now(), d)
		})
		if err != nil {
			return Run{}, err
		}
		if ended = !held; ended {
			continue // fetch the last events, which may have been stored since
		}
		select {
		case <-ctx.Done():
			return Run{}, ctx.Err()
		case <-time.After(Poll):
		}
	}
}
