package execute

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
)

// fold takes the results of steps into the resource graph, whose version stays as it is. Steps that have started stay in
// the store.
func (x *execution) fold(t *journal.Tx) (*graph.Graph, error) {
	g, err := t.Graph()
	if err != nil {
		return nil, err
	}
	all, err := x.stored(t, g)
	if err != nil {
		return nil, err
	}
	var results []graph.Result
	for _, s := range all {
		if s.hasResult() && (s.old != nil || s.new != nil) {
			results = append(results, graph.Result{Old: s.old, New: s.new})
		}
	}
	if len(results) > 0 {
		version := graph.VersionID{Module: x.Job.Module}
		if x.Job.Kind == store.Deploy && !x.isCommitted(g) {
			version.Deployment = graph.Deployment(x.Job.Number)
		}
		g = g.Overlay(version, x.Configuration, results)
	}
	if err := t.SetGraph(g); err != nil {
		return nil, err
	}
	return g, t.DeleteSteps(x.Job.ID, store.Started, store.Unknown)
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
		for _, r := range tr.Deleted {
			if !x.isDeleted(r) && !forgotten[identityOf(r)] {
				left = append(left, graph.Pending{Resource: r, Configuration: x.configurationOf(now, r)})
			}
		}
		x.leave(left)
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

// isCommitted reports whether the module's new version is in the resource graph already, so that only deletions are left.
func (x *execution) isCommitted(g *graph.Graph) bool {
	newest := g.Newest(x.Job.Module)
	if x.Job.Kind == store.Destroy {
		return newest == nil
	}
	return newest != nil && newest.Deployment == graph.Deployment(x.Job.Number)
}

// configurationOf returns the configuration that a resource is deleted with: that of the new version where it has one of the
// package, and otherwise that of the version that made the resource.
func (x *execution) configurationOf(g *graph.Graph, r *graph.Resource) lumigl.Value {
	var all lumigl.ObjectBuilder
	all.SetAll(g.Configuration(r))
	all.SetAll(x.Configuration)
	return all.Object()
}

// callerOf returns the caller that a resource of the graph is deleted with.
func (x *execution) callerOf(r *graph.Resource) *provision.Caller {
	pkg := r.Type().Package()
	configuration := x.configurationOf(x.graph, r)
	if configuration.Get(pkg).Equal(x.Configuration.Get(pkg)) {
		return x.Caller
	}
	return x.Caller.With(configuration.Get)
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
	if x.Job.Kind != store.Cleanup && (x.isAfterModule() || x.isCommitted(x.graph)) {
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

// conclude stores that an execution ended early, because of err, unless that is nil.
func (x *execution) conclude(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	to, message := store.Failed, err.Error()
	var ask *AskError
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
