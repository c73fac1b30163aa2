// Package execute runs a deployment that this process has claimed:
//
//	settle ──▶ plan ──▶ tasks ──▶ commit ──▶ deletions ──▶ finish
//
// Settle determines the outcomes of calls started by an earlier executor. A driver runs a task, either one step at a
// time with resource providers, or as a whole with a provisioner. In both cases, it records a step's intent before the
// call and the outcome after it.
package execute

import (
	"cmp"
	"context"
	"errors"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Run runs a deployment until it is done, fails, waits for an answer, or is stopped, and records the outcome. It
// returns only errors of the store. The error wraps [store.ErrFenced] if another process has taken over the deployment.
func Run(ctx context.Context, h *job.Held, j *journal.Journal, p Planner, o Options) error {
	x := &execution{Held: h, Options: o, planner: p, journal: j, progress: newProgress()}
	return h.Run(ctx, func(ctx context.Context) error {
		err := x.run(ctx)
		if errors.Is(err, job.ErrAborted) {
			err = x.abort(ctx)
		}
		return err
	}, x.conclude)
}

func (x *execution) run(ctx context.Context) (err error) {
	if x.Order, err = x.planner.Load(ctx); err != nil {
		return err
	}
	if err := x.settle(ctx); err != nil {
		return err
	}
	if x.Job.State == store.Aborting {
		return job.ErrAborted
	}
	if err := x.rename(ctx); err != nil {
		return err
	}
	if err := x.refresh(ctx); err != nil {
		return err
	}
	if err := x.makePlan(ctx); err != nil {
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

// rename updates renamed properties of the module's stored resources to their current names.
func (x *execution) rename(ctx context.Context) error {
	if x.isCommitted(x.graph) {
		return nil
	}
	names, err := x.planner.Renamed(ctx)
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

// refresh records the actual state of the module's resources if the request asks for it. The deployment is then planned
// against that state, and a retry or an abort starts from it.
func (x *execution) refresh(ctx context.Context) error {
	if x.isCommitted(x.graph) {
		return nil
	}
	actual, err := x.planner.Actual(ctx, x.graph)
	if err != nil || actual == nil {
		return err
	}
	return x.record(ctx, func(t *journal.Tx, _ store.Job) error {
		now, err := t.Graph()
		if err != nil {
			return err
		}
		x.graph = actual(now)
		return t.SetGraph(x.graph)
	})
}

// makePlan plans the deployment against the current resource graph and evaluates the policy. In a cleanup, only the
// deletions that violate it fail.
func (x *execution) makePlan(ctx context.Context) (err error) {
	if x.Job.Kind == store.Cleanup || x.isCommitted(x.graph) {
		x.plan = plan.MakeCleanup(x.graph, x.Job.Module, x.planner.HandlerOf)
	} else if x.plan, err = x.planner.Plan(ctx, x.graph); err != nil {
		return err
	}
	x.moves = map[urn.URN]urn.URN{}
	for _, s := range x.plan.Steps {
		if s.Kind != plan.Replace && s.Old != nil && s.New != nil && s.Old.URN != s.New.URN {
			x.moves[s.New.URN] = s.Old.URN
		}
	}
	findings := x.Policy.Evaluate(x.plan)
	x.watch = x.Policy.Watch(x.plan, findings)
	if x.plan.Purpose == plan.ToCleanUp {
		return nil
	}
	return policy.Refusal(findings)
}

// driver runs the steps of a task. It records the intent of each step, makes its call, and records the outcome.
type driver interface {
	run(context.Context) error
}

func (x *execution) task(ctx context.Context, i int, task plan.Task) error {
	row := store.Task{
		Deployment: x.Job.ID, Number: task.Number, Provisioner: task.Provisioner, Steps: len(task.Steps), State: store.Wait,
	}
	if err := x.moveTask(ctx, &row, store.Running, ""); err != nil {
		return err
	}
	var by driver
	if p := x.Provisioners[task.Provisioner]; p == nil {
		by = newProviders(x, task)
	} else {
		by = &provisioner{execution: x, Provisioner: p, name: task.Provisioner, row: &row, task: task, input: x.plan.Inputs()[i]}
	}
	err := by.run(ctx)
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

// abort leaves the deletion of resources created by the deployment to a cleanup. If the module's new version is already
// in the resource graph, it leaves only the remaining deletions to a cleanup.
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
		return t.QueueCleanups(d, g, x.Cleanup)
	})
}
