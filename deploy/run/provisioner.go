package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// provision runs a task by a provisioner: its changes, and then the tasks that its Plan asks for. The steps are rows of the
// store from the intent until their results are known, as those of providers are.
func (x *execution) provision(ctx context.Context, i int, row *store.Task, p plan.Provisioner) error {
	task := x.plan.Tasks[i]
	calls, err := x.intend(ctx, task)
	if err != nil {
		return err
	}
	if len(calls) == 0 && len(task.Steps) > 0 {
		return nil
	}
	now := x.plan.Outcomes()
	for _, c := range calls {
		if c.new != nil {
			now[c.step.New] = c.new
		}
	}
	in := x.plan.Inputs()[i].Map(func(r *graph.Resource) *graph.Resource { return cmp.Or(now[r], r) })
	in = madeBy(task.Provisioner, in)
	if len(task.Steps) == 0 { // What the module provides is known by now.
		tr, err := x.plan.Commit(x.graph)
		for i, v := range in.New {
			if v.Version != nil && err == nil { // An error is that of the commit, too.
				in.New[i].Version = tr.Graph.Version(v.Version.VersionID)
			}
		}
	}
	var details plan.Details
	secrets := x.secrets(in)
	err = x.withTimeout(ctx, calls, func(ctx context.Context) (err error) {
		details, err = p.Plan(provision.WithSecrets(ctx, secrets...), in)
		return err
	})
	if err != nil {
		return x.failAll(ctx, calls, false, x.wrapProvisionerError(task.Provisioner, err, in))
	}
	row.Parts = 1 + len(details.Tasks)
	var metadata map[string]lumigl.Value
	for n, part := range append([]string{""}, details.Tasks...) {
		in.Task = part
		for _, c := range calls {
			if n > 0 {
				c.until = time.Time{} // It is another call, with another deadline.
				if err := x.recordStart(ctx, &c.call, true); err != nil {
					return err
				}
			}
		}
		status, err := x.applyAndPoll(ctx, row, p, calls, in)
		if err == nil && n == 0 {
			err = checkKeys(status.Metadata, in.New)
		}
		if err != nil {
			unreached := errors.As(err, new(*plan.UnreachedError)) && n == 0
			return x.failAll(ctx, calls, !unreached, x.wrapProvisionerError(task.Provisioner, err, in))
		}
		if n == 0 {
			metadata = status.Metadata
		}
	}
	made := map[urn.URN]*graph.Resource{}
	for _, c := range calls {
		o := outcome{state: store.Done}
		if c.new != nil {
			if c.new, err = x.filled(c.new, made); err != nil {
				return x.failAll(ctx, calls, true, err)
			}
			o.resource = provisioned(c.old, c.new, task.Provisioner, metadata)
			made[c.new.URN] = o.resource
			x.plan.Record(c.step, withNew(c.decided, o.resource))
		} else {
			x.deleted[identityOf(c.old)] = true
			delete(x.remainingDeletes, identityOf(c.old))
		}
		if err := x.recordOutcome(ctx, &c.call, o); err != nil {
			return err
		}
	}
	return nil
}

// intended is a step of a provisioner's task, as decided with the values that are known by now.
type intended struct {
	call
	by            string // the name of the provisioner
	step, decided *plan.Step
}

// intend decides the steps of a provisioner's task with the values that are known by now, and stores their intents.
func (x *execution) intend(ctx context.Context, task plan.Task) (calls []*intended, err error) {
	for _, s := range task.Steps {
		if s.Kind == plan.Delete {
			if x.remainingDeletes != nil && !x.remainingDeletes[identityOf(s.Old)] {
				continue
			}
			if err := x.keeper(s.Old); err != nil { // in a cleanup, which goes on without it
				x.failures = append(x.failures, fmt.Sprintf("%s: %v", s.URN, err))
				if err := x.refuse(ctx, task.Number, s, err); errors.Is(err, store.ErrFenced) {
					return nil, err
				}
			} else {
				calls = append(calls, &intended{call{old: s.Old}, task.Provisioner, s, s})
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
		c := &intended{call{new: again.New}, task.Provisioner, s, again}
		if again.Kind == plan.Update {
			c.old = again.Old
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		if err := x.recordIntent(ctx, task.Number, c.decided.Kind, &c.call); err != nil {
			return nil, err
		}
		x.called[c.row.Number] = true
	}
	return calls, nil
}

// filled returns a resource with the outputs of others of its task filled in, which refer to no later ones.
func (x *execution) filled(r *graph.Resource, made map[urn.URN]*graph.Resource) (*graph.Resource, error) {
	if expr.IsKnown(r.Inputs) {
		return r, nil
	}
	inputs, err := expr.Evaluate(r.Inputs, x.graph.Resolve(nil, func(to *lumigl.Vertex) *graph.Resource { return made[to.URN()] }))
	now := *r
	now.Inputs, now.Checked = inputs, inputs
	return &now, err
}

// failAll stores that the steps of a task failed, and returns err unless they are deletions after the task of the module:
// these are left to a cleanup. If the provisioner was reached, its changes may have been made, and are stored like that.
func (x *execution) failAll(ctx context.Context, calls []*intended, reached bool, err error) error {
	if x.Interrupted(ctx) != nil {
		return x.Interrupted(ctx)
	}
	for _, c := range calls {
		o := outcome{state: store.Failed, err: err}
		if reached && c.new != nil {
			o.resource = maybeApplied(c.old, c.new, c.by)
		}
		if err := x.recordOutcome(ctx, &c.call, o); err != nil {
			return err
		}
		x.failures = append(x.failures, fmt.Sprintf("%s: %v", c.row.URN, err))
	}
	if x.remainingDeletes != nil {
		return nil
	}
	return err
}

// applyAndPoll has a provisioner make its changes, and stores its token before it polls that.
func (x *execution) applyAndPoll(
	ctx context.Context, row *store.Task, p plan.Provisioner, calls []*intended, in plan.Input,
) (plan.Status, error) {
	var token string
	secrets := x.secrets(in)
	err := x.withTimeout(ctx, calls, func(ctx context.Context) (err error) {
		token, err = p.Provision(provision.WithSecrets(ctx, secrets...), in)
		return err
	})
	if err != nil || token == "" {
		return plan.Status{State: plan.Done}, err
	}
	row.Token = token
	if err := x.moveTask(ctx, row, store.Polling, ""); err != nil {
		return plan.Status{}, err
	}
	return x.poll(ctx, row, p, in)
}

// withTimeout makes a call of a provisioner that has until the latest deadline of its steps, and repeats it as long as the
// provisioner asks for that.
func (x *execution) withTimeout(ctx context.Context, calls []*intended, f func(context.Context) error) error {
	limit, deadline := x.Timeout, time.Now().Add(x.Timeout)
	for i, c := range calls {
		if i == 0 || c.row.Deadline.After(deadline) {
			limit, deadline = x.timeout(&c.call), c.row.Deadline
		}
	}
	limited, cancel := context.WithDeadlineCause(x.Calls, deadline, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := deadlineError(limited, f(limited))
		if !errors.As(err, new(*lumi.RetryError)) || attempt > x.Retries || x.Sleep(ctx, x.delay(attempt, err)) != nil {
			return err
		}
	}
}

// deadlineError returns the error of a call with why its context ended, if that is because it took too long.
func deadlineError(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, cause):
		return err
	case errors.Is(err, context.DeadlineExceeded): // in other words
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// statusTime is how long a provisioner may take to return a status, unless calls have less time.
const statusTime = time.Minute

// poll polls a provisioner until it is done, and shows what it waits for. The error says why it failed.
func (x *execution) poll(ctx context.Context, row *store.Task, p plan.Provisioner, in plan.Input) (plan.Status, error) {
	failures, shown := 0, ""
	masked := func(message string) string { // before it is cut off: a part of a secret looks like none
		return job.Brief(provision.Mask(errors.New(message), x.secrets(in)...).Error())
	}
	for {
		limit := min(statusTime, x.Timeout)
		limited, cancel := context.WithTimeoutCause(x.Calls, limit, fmt.Errorf("its status took longer than %s", limit))
		status, err := p.Status(provision.WithSecrets(limited, x.secrets(in)...), row.Token)
		err = deadlineError(limited, err)
		cancel()
		if err == nil && status.State == plan.Running && status.Message != shown {
			shown = status.Message
			message := fmt.Sprintf("provisioner %s: %s", row.Provisioner, masked(shown))
			x.Show(store.Event{Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), Level: "progress", Message: message})
		}
		switch {
		case err != nil:
			if errors.Is(err, lumi.ErrNotFound) {
				return status, fmt.Errorf("it does not know the token that it returned: %w", err)
			}
			if failures++; failures > x.Retries {
				return status, err
			}
		case status.State == plan.Done:
			return status, nil
		case status.State == plan.Failed:
			return status, errors.New(cmp.Or(masked(status.Message), "it failed without a message"))
		case status.State != plan.Running:
			return status, fmt.Errorf("invalid state %q: it must be running, failed or done", status.State)
		default:
			failures = 0
		}
		if err := x.Sleep(ctx, x.Poll); err != nil {
			return status, err
		}
	}
}

// wrapProvisionerError returns the error of a provisioner, without secrets.
func (x *execution) wrapProvisionerError(provisioner string, err error, in plan.Input) error {
	return fmt.Errorf("provisioner %s: %w", provisioner, provision.Mask(err, x.secrets(in)...))
}

// secrets returns values that have the secrets of an input, of the desired state and of resources that exist.
func (x *execution) secrets(in plan.Input) (all []lumigl.Value) {
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
	return all
}

// checkKeys returns an error if metadata is about resources that the provisioner was not given.
func checkKeys(metadata map[string]lumigl.Value, given []plan.Vertex) error {
	known := map[string]bool{}
	for _, v := range given {
		if v.Version != nil {
			known[v.Version.String()] = true
		} else {
			known[v.Resource.Key()] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !known[key] {
			return fmt.Errorf("it returned metadata for %q, which is not among the resources that it was given", key)
		}
	}
	return nil
}

// maybeApplied returns a resource that a provisioner was to create or change, and perhaps did. It differs from any desired one.
// Old is nil for a new resource.
func maybeApplied(old, r *graph.Resource, by string) *graph.Resource {
	now := provisioned(nil, r, by, nil)
	now.Metadata, now.Outputs = lumigl.Value{}, lumigl.Value{} // which are not known
	if old != nil {
		now.Metadata, now.Outputs = old.Metadata, old.Outputs
	}
	now.Inputs, now.Checked = lumigl.Value{}, plan.Known(now.Checked)
	return now
}

// provisioned returns a resource with the metadata of its provisioner, or what there was, which references to its properties
// read. Old is nil for a new resource.
func provisioned(old, r *graph.Resource, by string, metadata map[string]lumigl.Value) *graph.Resource {
	now := *r
	if now.Metadata = lumigl.ObjectOf(); old != nil && old.Metadata.Exists() {
		now.Metadata = old.Metadata
	}
	now.Provisioner = by
	if noted, ok := metadata[r.Key()]; ok {
		now.Metadata = noted
	}
	now.Outputs = now.Metadata
	if id, ok := now.Metadata.Get("id").Text(); ok && id != "" {
		now.ID = id
	}
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
	err := x.Journal.Read(ctx, func(t *journal.Tx) (err error) {
		if tasks, err = t.Tasks(x.Job.ID); err != nil || len(tasks) == 0 {
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
		var open []stored
		made := map[urn.URN]*graph.Resource{}
		for _, s := range rows {
			switch {
			case s.Task != task.Number:
			case s.State == store.Started || s.State == store.Unknown:
				open = append(open, s)
			case s.new != nil:
				made[s.new.URN] = s.new
			}
		}
		if len(open) > 0 && task.Provisioner != Providers && task.Provisioner != Module {
			if err := x.awaitProvisioner(ctx, &task, x.perhapsGiven(rows), open, made); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitProvisioner ends the steps of a provisioner's task that have no results. Made has the resources of the others, and given
// all that the provisioner may have been given.
func (x *execution) awaitProvisioner(
	ctx context.Context, task *store.Task, given []plan.Vertex, open []stored, made map[urn.URN]*graph.Resource,
) error {
	p := x.Provisioners[task.Provisioner]
	if p == nil {
		return fmt.Errorf("provisioner %s has yet to end task %d: install lumi-provisioner-%[1]s", task.Provisioner, task.Number)
	}
	o := outcome{state: store.Failed, err: errors.New("the executor ended before it had the provisioner's token: the task starts again")}
	if task.Token == "" || task.Parts > 1 {
		for _, s := range open {
			if err := x.awaitCall(ctx, s); err != nil {
				return err
			}
		}
	}
	var metadata map[string]lumigl.Value
	if task.Token != "" {
		status, err := x.poll(ctx, task, p, plan.Input{})
		if errors.Is(err, job.ErrStopped) || errors.Is(err, job.ErrAborted) {
			return err
		}
		if err == nil && task.Parts == 1 {
			err = checkKeys(status.Metadata, given)
		}
		switch {
		case err != nil:
			o.err = x.wrapProvisionerError(task.Provisioner, err, plan.Input{})
		case task.Parts > 1:
			o.err = errors.New("the executor ended before the tasks that the provisioner added: all of them start again")
		default:
			o, metadata = outcome{state: store.Done}, status.Metadata
		}
	}
	for _, s := range open {
		ended := o
		if s.new != nil && ended.state == store.Done {
			if r, err := x.filled(s.new, made); err != nil {
				ended = outcome{state: store.Failed, err: err}
			} else {
				ended.resource = provisioned(s.old, r, task.Provisioner, metadata)
				made[r.URN] = ended.resource
			}
		}
		if s.new != nil && ended.state == store.Failed {
			ended.resource = maybeApplied(s.old, s.new, task.Provisioner)
		}
		if err := x.recordOutcome(ctx, &call{row: s.Step, old: s.old, new: s.new}, ended); err != nil {
			return err
		}
	}
	return nil
}

// perhapsGiven returns what a provisioner may have been given: what steps make, and the rest of the module.
func (x *execution) perhapsGiven(steps []stored) (all []plan.Vertex) {
	for _, s := range steps {
		if s.new != nil {
			all = append(all, plan.Vertex{Resource: s.new})
		}
	}
	for _, v := range x.graph.Versions(x.Job.Module) {
		for r := range v.Resources() {
			all = append(all, plan.Vertex{Resource: r})
		}
	}
	for _, p := range x.graph.Pending(x.Job.Module) {
		all = append(all, plan.Vertex{Resource: p.Resource})
	}
	return all
}
