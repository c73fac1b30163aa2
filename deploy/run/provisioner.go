package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// provision runs a task by a provisioner: its changes, and then the tasks that its Plan asks for. The steps are rows of the
// store from the intent until their results are known, as those of providers are.
func (x *execution) provision(ctx context.Context, i int, row *store.Task, p plan.Provisioner) error {
	task := x.plan.Tasks[i]
	calls, err := x.intend(ctx, task)
	if err != nil {
		return err
	}
	now := map[*graph.Resource]*graph.Resource{}
	for _, c := range calls {
		if c.new != nil {
			now[c.step.New] = c.new
		}
	}
	in := x.plan.Inputs()[i].Map(func(r *graph.Resource) *graph.Resource {
		if n := now[r]; n != nil {
			return n
		}
		return x.plan.Now(r)
	})
	more, err := p.Plan(x.calls, in)
	if err != nil {
		return x.failAll(ctx, calls, x.said(task.Provisioner, err, in))
	}
	row.Parts = 1 + len(more)
	var metadata map[string]lumigl.Value
	for n, in := range append([]plan.Input{in}, more...) {
		status, err := x.drive(ctx, row, p, in)
		if err != nil {
			return x.failAll(ctx, calls, x.said(task.Provisioner, err, in))
		}
		if n == 0 {
			metadata = status.Metadata
		}
	}
	for _, c := range calls {
		o := outcome{state: store.Done}
		if c.new != nil {
			if c.new, err = x.resolved(ctx, c); err != nil {
				return x.failAll(ctx, calls, err)
			}
			o.resource = provisioned(c.new, metadata)
			x.plan.Record(c.step, withNew(c.decided, o.resource))
		} else {
			x.deleted[identityOf(c.old)] = true
			delete(x.left, identityOf(c.old))
		}
		if err := x.ended(ctx, &c.call, o); err != nil {
			return err
		}
	}
	return nil
}

// intended is a step of a provisioner's task, as decided with the values that are known by now.
type intended struct {
	call
	step, decided *plan.Step
}

// intend decides the steps of a provisioner's task with the values that are known by now, and stores their intents.
func (x *execution) intend(ctx context.Context, task plan.Task) (calls []*intended, err error) {
	for _, s := range task.Steps {
		if s.Kind == plan.Delete {
			if x.left == nil || x.left[identityOf(s.Old)] {
				calls = append(calls, &intended{call{old: s.Old}, s, s})
			}
			continue
		}
		again, err := x.plan.Again(ctx, s, s.Old != nil && x.isDeleted(s.Old))
		if err != nil {
			return nil, x.refuse(ctx, task.Number, s, err)
		}
		x.plan.Record(s, again)
		if !again.IsProvisioned() {
			continue
		}
		c := &intended{call{new: again.New}, s, again}
		if again.Kind == plan.Update {
			c.old = again.Old
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		if err := x.begin(ctx, task.Number, c.decided.Kind, &c.call); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// resolved returns the resource of a step with the outputs of others of the same task filled in, whose steps are recorded.
func (x *execution) resolved(ctx context.Context, c *intended) (*graph.Resource, error) {
	if expr.IsKnown(c.new.Inputs) {
		return c.new, nil
	}
	again, err := x.plan.Again(ctx, c.step, c.step.Old != nil && x.isDeleted(c.step.Old))
	if err != nil {
		return nil, err
	}
	return again.New, nil
}

// failAll stores that the steps of a task failed, and returns err unless they are deletions after the task of the module:
// these are left to a cleanup. What a provisioner did before it failed, it finds again.
func (x *execution) failAll(ctx context.Context, calls []*intended, err error) error {
	if x.interrupted(ctx) != nil {
		return x.interrupted(ctx)
	}
	for _, c := range calls {
		if err := x.ended(ctx, &c.call, outcome{state: store.Failed, err: err}); err != nil {
			return err
		}
		x.failures = append(x.failures, fmt.Sprintf("%s: %v", c.row.URN, err))
	}
	if x.left != nil {
		return nil
	}
	return err
}

// drive has a provisioner make its changes, and stores its token before it polls that.
func (x *execution) drive(ctx context.Context, row *store.Task, p plan.Provisioner, in plan.Input) (plan.Status, error) {
	token, err := p.Provision(x.calls, in)
	if err != nil || token == "" {
		return plan.Status{State: plan.Done}, err
	}
	row.Token = token
	if err := x.moveTask(ctx, row, store.Polling, ""); err != nil {
		return plan.Status{}, err
	}
	return x.poll(ctx, p, token)
}

// poll polls a provisioner until it is done. The error says why it failed.
func (x *execution) poll(ctx context.Context, p plan.Provisioner, token string) (plan.Status, error) {
	failures := 0
	for {
		status, err := p.Status(x.calls, token)
		switch {
		case err != nil:
			if failures++; failures > x.Retries {
				return status, err
			}
		case status.State == plan.Done:
			return status, nil
		case status.State == plan.Failed:
			return status, errors.New(status.Message)
		case status.State != plan.Running:
			return status, fmt.Errorf("invalid state %q: it must be running, failed or done", status.State)
		}
		if err := x.sleep(ctx, x.Poll); err != nil {
			return status, err
		}
	}
}

// said returns the error of a provisioner, without secrets of its input, of the desired state and of resources that exist.
func (x *execution) said(provisioner string, err error, in plan.Input) error {
	var all []lumigl.Value
	for _, v := range slices.Concat(in.New, in.Old, in.Context) {
		if v.Resource != nil {
			all = append(all, v.Resource.Properties())
		}
	}
	if x.request.Desired != nil {
		for v := range x.request.Desired.Vertices() {
			all = append(all, v.Properties)
		}
	}
	for _, module := range x.graph.Modules() {
		for _, v := range x.graph.Versions(module) {
			for r := range v.Resources() {
				all = append(all, r.Properties())
			}
		}
	}
	return fmt.Errorf("provisioner %s: %w", provisioner, provision.Mask(err, all...))
}

// provisioned returns a resource with the metadata of its provisioner, which references to its properties read.
func provisioned(r *graph.Resource, metadata map[string]lumigl.Value) *graph.Resource {
	now := *r
	if noted, ok := metadata[r.Key()]; ok {
		now.Metadata = noted
	}
	now.Outputs = now.Metadata
	if now.ID == "" {
		now.ID = r.Key()
	}
	return &now
}

// awaitProvisioners ends the tasks of provisioners that ran when the deployment was left: those with a token are polled,
// others start again with the next plan.
func (x *execution) awaitProvisioners(ctx context.Context) error {
	var tasks []store.Task
	var rows []stored
	err := x.read(ctx, func(t *txn) (err error) {
		if tasks, err = t.Tasks(x.d.ID); err != nil || len(tasks) == 0 {
			return err
		}
		g, err := t.Graph()
		if err != nil {
			return err
		}
		x.graph = g
		rows, err = x.stored(t, g)
		return err
	})
	if err != nil {
		return err
	}
	for _, task := range tasks {
		p := x.Provisioners[task.Provisioner]
		if p == nil || task.State == store.Done {
			continue
		}
		o := outcome{state: store.Failed, err: errors.New("the executor ended before it had the provisioner's token: the task starts again")}
		var metadata map[string]lumigl.Value
		if task.State == store.Polling {
			status, err := x.poll(ctx, p, task.Token)
			if errors.Is(err, errStopped) || errors.Is(err, errAborted) {
				return err
			}
			switch {
			case err != nil:
				o.err = x.said(task.Provisioner, err, plan.Input{})
			case task.Parts > 1:
				o.err = errors.New("the executor ended before the tasks that the provisioner added: all of them start again")
			default:
				o, metadata = outcome{state: store.Done}, status.Metadata
			}
		}
		for _, s := range rows {
			if s.Task != task.Number || s.State != store.Started && s.State != store.Unknown {
				continue
			}
			ended := o
			if ended.state == store.Done && s.new != nil {
				ended.resource = provisioned(s.new, metadata)
			}
			if err := x.ended(ctx, &call{row: s.Step, old: s.old, new: s.new}, ended); err != nil {
				return err
			}
		}
	}
	return nil
}
