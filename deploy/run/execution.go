package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// execution is the run of a deployment by this process, from its claim until it is done, fails, asks or is stopped.
type execution struct {
	*Engine
	*job.Held
	request         Request
	approvedEffects []plan.Effect
	caller          *provision.Caller
	// graph is the resource graph that the plan was made for.
	graph *graph.Graph
	plan  *plan.Plan
	// replacements has the steps that replace resources, by these.
	replacements map[*graph.Resource]*plan.Step
	// moves has the URNs in the resource graph of resources that the plan moves, by those that they will have.
	moves map[urn.URN]urn.URN

	// users finds what refers to a resource that a cleanup deletes.
	users func(*graph.Resource) []*graph.Resource

	mutex sync.Mutex // of what follows
	rows  int        // how many steps the store has or had
	// called has the numbers of the steps whose calls this execution makes or made.
	called map[int]bool
	// deleted holds what was deleted, remainingDeletes what is deleted after the task of the module; it is nil before.
	deleted, remainingDeletes map[identity]bool
	done                      map[*plan.Step]bool
	failures                  []string
	// awaited has the steps that others of the task wait for, and results what waits for the store to have theirs.
	awaited map[*plan.Step]bool
	results []func() error
}

// errNotReady says that a deployment cannot be claimed now.
var errNotReady = errors.New("the deployment cannot be claimed")

// askError puts a deployment into the state ASK.
type askError struct{ message string }

func (e *askError) Error() string { return e.message }

// execute claims a deployment and runs it. The error is errNotReady if it cannot be claimed now.
func (e *Engine) execute(ctx context.Context, id int64) error {
	x, err := e.claim(ctx, id)
	if err != nil {
		return err
	}
	err = x.Held.Run(ctx, func(ctx context.Context) error {
		err := x.run(ctx)
		if errors.Is(err, job.ErrAborted) {
			err = x.abort(ctx)
		}
		return err
	}, x.conclude)
	if errors.Is(err, store.ErrFenced) {
		return errNotReady
	}
	return err
}

// claim takes the lease of a deployment. The error is errNotReady if it cannot be claimed now.
func (e *Engine) claim(ctx context.Context, id int64) (x *execution, err error) {
	err = e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil {
			return err
		}
		rows, g, err := t.QueueAndGraph()
		if err != nil {
			return err
		}
		if !e.IsReady(d, rows, g) {
			return errNotReady
		}
		// Until it ends, the resources that it is to delete still refer to what older versions use.
		d.Uses = slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.Uses, g.Uses(d.Module)))))
		to := store.Running
		if d.Abort || d.State == store.Aborting {
			to = store.Aborting
		}
		if err := t.Claim(&d, to); err != nil {
			return err
		}
		x = &execution{Engine: e, Held: e.jobs.Hold(d), called: map[int]bool{}}
		return nil
	})
	return x, err
}

// IsReady reports whether this process can claim a deployment now.
func (e *Engine) IsReady(d store.Job, rows []store.Job, g *graph.Graph) bool {
	switch d.State {
	case store.Wait:
		if d.Owner != e.Owner && !e.jobs.IsFree(d) {
			return false
		}
		i := slices.IndexFunc(rows, func(o store.Job) bool { return o.ID == d.ID })
		return i >= 0 && len(e.Entries(rows).Waits(i, g)) == 0
	case store.Running, store.Aborting:
		return e.jobs.IsFree(d)
	default:
		return false
	}
}

// record runs f in a transaction. The error is [store.ErrFenced] if the executor does not hold the deployment any more.
func (x *execution) record(ctx context.Context, f func(t *journal.Tx, d store.Job) error) error {
	return x.Journal.Write(ctx, x.fenced(f))
}

// fenced returns f for a transaction of this executor.
func (x *execution) fenced(f func(t *journal.Tx, d store.Job) error) func(*journal.Tx) error {
	return func(t *journal.Tx) error {
		d, err := x.Touch(t)
		if err != nil {
			return err
		}
		return f(t, d)
	}
}

// conclude stores that an execution ended early, because of err, unless that is nil.
func (x *execution) conclude(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	to, message := store.Failed, err.Error()
	var ask *askError
	switch {
	case errors.Is(err, job.ErrStopped) || errors.Is(err, context.Canceled):
		return x.release(ctx)
	case errors.As(err, &ask), errors.As(err, new(*secret.KeyError)) && x.Job.Kind != store.Cleanup:
		to = store.Ask
	case x.Job.Kind == store.Cleanup:
		to = store.Done // It must not block its module, whose next cleanup or deployment tries again.
	}
	return x.record(ctx, func(t *journal.Tx, d store.Job) error {
		if err := x.markInterrupted(t); err != nil {
			return err
		}
		if _, err := x.fold(t); err != nil {
			return err
		}
		if to == store.Done {
			if err := cmp.Or(t.DeleteSteps(d.ID), t.DeleteTasks(d.ID)); err != nil {
				return err
			}
		}
		return t.Move(&d, to, message)
	})
}

// markInterrupted notes that the calls of this execution are over, although the store did not take their outcomes.
func (x *execution) markInterrupted(t *journal.Tx) error {
	rows, err := t.Steps(x.Job.ID)
	for _, row := range rows {
		if row.State == store.Started && x.called[row.Number] && err == nil {
			if err = job.Steps.Move(&row.State, store.Unknown); err == nil {
				err = t.PutStep(row)
			}
		}
	}
	return err
}

// release ends the lease, so that the deployment can be claimed at once. The owner stays: its calls may not have ended.
func (x *execution) release(ctx context.Context) error {
	return x.record(ctx, func(t *journal.Tx, d store.Job) error {
		d.Expires = time.Time{}
		return cmp.Or(x.markInterrupted(t), t.PutJob(d))
	})
}

// run runs a deployment.
func (x *execution) run(ctx context.Context) (err error) {
	known, _ := x.queued.LoadAndDelete(x.Job.ID)
	first, _ := known.(queued)
	if x.request = first.request; first.plan == nil {
		if x.request, x.approvedEffects, err = x.RequestOf(ctx, x.Job); err != nil {
			return err
		}
	}
	x.caller = x.Engine.caller(x.Job.Module, x.request)
	if err := x.settle(ctx); err != nil {
		return err
	}
	if x.Job.State == store.Aborting {
		return job.ErrAborted
	}
	if err := x.rename(ctx); err != nil {
		return err
	}
	if err := x.makePlan(ctx, first.plan); err != nil {
		return err
	}
	for i, task := range x.plan.Tasks {
		if err := x.Interrupted(ctx); err != nil {
			return err
		}
		if err := x.task(ctx, i, task); err != nil {
			return err
		}
	}
	return x.finish(ctx)
}

// isCommitted reports whether the module's new version is in the resource graph already, so that only deletions are left.
func (x *execution) isCommitted(g *graph.Graph) bool {
	newest := g.Newest(x.Job.Module)
	if x.Job.Kind == store.Destroy {
		return newest == nil
	}
	return newest != nil && newest.Deployment == graph.Deployment(x.Job.Number)
}

// rename stores the properties of the module's resources under the names that they have now.
func (x *execution) rename(ctx context.Context) error {
	if x.isCommitted(x.graph) {
		return nil
	}
	names, err := x.renamed(ctx, x.Job.Module, x.request)
	if err != nil || x.graph.WithNames(x.Job.Module, names) == x.graph {
		return err
	}
	return x.record(ctx, func(t *journal.Tx, _ store.Job) error {
		now, err := t.Graph()
		if err != nil {
			return err
		}
		x.graph = now.WithNames(x.Job.Module, names)
		return t.SetGraph(x.graph)
	})
}

// makePlan plans the deployment for the resource graph as it is, unless the first plan was made for that. It must not do more
// than what was shown.
func (x *execution) makePlan(ctx context.Context, first *plan.Plan) (err error) {
	number := graph.Deployment(x.Job.Number)
	switch {
	case x.Job.Kind == store.Cleanup || x.isCommitted(x.graph):
		x.plan = plan.MakeCleanup(x.graph, x.Job.Module, x.provisioner)
	case first != nil && first.IsFor(x.graph, number):
		x.plan = first
	default:
		if x.plan, err = x.planFor(ctx, x.graph, entry(x.Job), x.request); err != nil {
			return err
		}
		if first != nil {
			x.approvedEffects = first.Effects()
		}
		if err := x.plan.Continues(x.approvedEffects); err != nil {
			return &askError{err.Error()}
		}
	}
	x.deleted, x.replacements, x.done = map[identity]bool{}, map[*graph.Resource]*plan.Step{}, map[*plan.Step]bool{}
	x.moves = map[urn.URN]urn.URN{}
	for _, s := range x.plan.Steps {
		if s.Kind != plan.Replace && s.Old != nil && s.New != nil && s.Old.URN != s.New.URN {
			x.moves[s.New.URN] = s.Old.URN
		}
		if s.Kind == plan.Replace {
			x.replacements[s.Old] = s
		}
	}
	return nil
}

// task runs a task.
func (x *execution) task(ctx context.Context, i int, task plan.Task) error {
	row := store.Task{
		Deployment: x.Job.ID, Number: task.Number, Provisioner: task.Provisioner, Steps: len(task.Steps), State: store.Wait,
	}
	if err := x.moveTask(ctx, &row, store.Running, ""); err != nil {
		return err
	}
	var err error
	switch p := x.Provisioners[task.Provisioner]; {
	case p != nil:
		err = x.provision(ctx, i, &row, p)
	case len(task.Steps) > 0:
		err = x.steps(ctx, task)
	}
	if err == nil && len(task.Steps) == 0 {
		err = x.commit(ctx)
	}
	switch {
	case err == nil:
		return x.moveTask(ctx, &row, store.Done, "")
	case errors.Is(err, job.ErrStopped) || errors.Is(err, job.ErrAborted) || errors.Is(err, store.ErrFenced):
		return err
	}
	return cmp.Or(x.moveTask(ctx, &row, store.Failed, err.Error()), err)
}

// moveTask changes the state of a task.
func (x *execution) moveTask(ctx context.Context, row *store.Task, to store.State, message string) error {
	if err := job.Tasks.Move(&row.State, to); err != nil {
		return err
	}
	row.Message = job.Brief(message)
	return x.record(context.WithoutCancel(ctx), func(t *journal.Tx, d store.Job) error {
		t.Note(d, store.Event{Task: row.Number, State: to, Message: message})
		return t.PutTask(*row)
	})
}

// commit adds the new version of the module, with the results of its steps, to the resource graph.
func (x *execution) commit(ctx context.Context) error {
	return x.record(ctx, func(t *journal.Tx, d store.Job) error {
		now, err := t.Graph()
		if err != nil {
			return err
		}
		tr, err := x.plan.Commit(now)
		if err != nil {
			return err
		}
		forgotten := map[identity]bool{}
		for _, s := range x.plan.Steps {
			if s.Kind == plan.Forget {
				forgotten[identityOf(s.Old)] = true
			}
			x.noteUncalled(t, d, s)
		}
		var left []graph.Pending
		x.remainingDeletes = map[identity]bool{}
		for _, r := range tr.Deleted {
			if id := identityOf(r); !x.deleted[id] && !forgotten[id] {
				x.remainingDeletes[id] = true
				left = append(left, graph.Pending{Resource: r, Configuration: x.configurationOf(now, r)})
			}
		}
		after := tr.Graph.Leave(x.Job.Module, left...)
		if x.Job.Kind == store.Cleanup {
			x.users = after.Users()
		}
		if err := t.SetGraph(after); err != nil {
			return err
		}
		return t.DeleteSteps(d.ID)
	})
}

// noteUncalled adds the event of a step that needs no call.
func (x *execution) noteUncalled(t *journal.Tx, d store.Job, s *plan.Step) {
	switch s.Kind {
	case plan.Move:
		t.Note(d, store.Event{URN: string(s.URN), Was: string(s.Old.URN), Kind: s.Kind.String(), ID: s.Old.ID, State: store.Done})
	case plan.Forget:
		t.Note(d, store.Event{URN: string(s.URN), Kind: s.Kind.String(), ID: s.Old.ID, State: store.Done})
	}
}

// configurationOf returns the configuration that a resource is deleted with: that of the new version where it has one of the
// package, and otherwise that of the version that made the resource.
func (x *execution) configurationOf(g *graph.Graph, r *graph.Resource) lumigl.Value {
	var all lumigl.ObjectBuilder
	all.SetAll(g.Configuration(r))
	all.SetAll(x.configuration())
	return all.Object()
}

// callerOf returns the caller that a resource of the graph is deleted with.
func (x *execution) callerOf(r *graph.Resource) *provision.Caller {
	pkg := r.Type().Package()
	configuration := x.configurationOf(x.graph, r)
	if configuration.Get(pkg).Equal(x.configuration().Get(pkg)) {
		return x.caller
	}
	return x.caller.With(configuration.Get)
}

// finish ends a deployment whose tasks are done, and queues the cleanups that follow.
func (x *execution) finish(ctx context.Context) error {
	return x.record(context.WithoutCancel(ctx), func(t *journal.Tx, d store.Job) error {
		g, err := x.fold(t)
		if err != nil {
			return err
		}
		// A deletion whose outcome is unknown is repeated by a cleanup.
		if err := cmp.Or(t.DeleteSteps(d.ID), t.DeleteTasks(d.ID)); err != nil {
			return err
		}
		if err := t.Move(&d, store.Done, strings.Join(x.failures, "\n")); err != nil {
			return err
		}
		return t.QueueCleanups(d, g)
	})
}

// abort has what the deployment created deleted by a cleanup. Once the new version of the module is in the resource graph, it
// is too late: then only what is left to delete is left to a cleanup.
func (x *execution) abort(ctx context.Context) error {
	if x.Job.Kind != store.Cleanup && (x.remainingDeletes != nil || x.isCommitted(x.graph)) {
		return x.finish(ctx)
	}
	if x.Job.State == store.Running {
		err := x.record(ctx, func(t *journal.Tx, d store.Job) error { return t.Move(&d, store.Aborting, "") })
		if err != nil {
			return err
		}
		x.Job.State = store.Aborting
		if err := x.settle(ctx); err != nil {
			return err
		}
	}
	return x.record(ctx, func(t *journal.Tx, d store.Job) error {
		g, err := t.Graph()
		if err != nil {
			return err
		}
		g = g.Abandon(x.Job.Module)
		if err := t.SetGraph(g); err != nil {
			return err
		}
		if err := t.Move(&d, store.Aborted, ""); err != nil {
			return err
		}
		return t.QueueCleanups(d, g)
	})
}

// configuration returns that of the deployment, by package.
func (x *execution) configuration() lumigl.Value { return x.request.configuration() }

// say shows a message about a resource, which is not stored.
func (x *execution) say(u, message string) {
	x.Show(store.Event{Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), URN: u, Level: "info", Message: message})
}
