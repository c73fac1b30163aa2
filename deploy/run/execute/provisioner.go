package execute

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
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// provisioner is the driver for a provisioner, which makes the changes of all steps in a task at once.
type provisioner struct {
	*execution
	plan.Provisioner
	name  string
	row   *store.Task
	task  plan.Task
	input plan.Input
}

// run asks the provisioner to make the changes of the task and then to run the additional tasks returned by Plan. As
// with providers, each step is stored from its intent until its result is known.
func (x *provisioner) run(ctx context.Context) error {
	task := x.task
	calls, err := x.intend(ctx)
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
	in := x.input.Map(func(r *graph.Resource) *graph.Resource { return cmp.Or(now[r], r) })
	in = MadeBy(x.name, in)
	if len(task.Steps) == 0 { // Provided values are known now.
		tr, err := x.plan.Commit(x.graph)
		for i, v := range in.New {
			if v.Version != nil && err == nil { // The later commit returns the same error.
				in.New[i].Version = tr.Graph.Version(v.Version.VersionID)
			}
		}
	}
	var details plan.Details
	secrets := x.secrets(in)
	err = x.withTimeout(ctx, calls, func(ctx context.Context) (err error) {
		details, err = x.Plan(provision.WithSecrets(ctx, secrets...), in)
		return err
	})
	if err != nil {
		return x.failAll(ctx, calls, false, x.wrapError(err, in))
	}
	x.row.Parts = 1 + len(details.Tasks)
	var metadata map[string]lumigl.Value
	for n, part := range append([]string{""}, details.Tasks...) {
		in.Task = part
		for _, c := range calls {
			if n > 0 {
				c.until = time.Time{} // An additional task is a separate call with its own deadline.
				if err := x.recordStart(ctx, &c.call, true); err != nil {
					return err
				}
			}
		}
		status, err := x.applyAndPoll(ctx, calls, in)
		if err == nil && n == 0 {
			err = checkKeys(status.Metadata, in.New)
		}
		if err != nil {
			unreached := errors.As(err, new(*plan.UnreachedError)) && n == 0
			return x.failAll(ctx, calls, !unreached, x.wrapError(err, in))
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
			o.resource = provisioned(c.old, c.new, x.name, metadata)
			made[c.new.URN] = o.resource
			x.plan.Record(c.step, withNew(c.decided, o.resource))
		} else {
			x.setDeleted(c.old)
		}
		if err := x.recordOutcome(ctx, &c.call, o); err != nil {
			return err
		}
	}
	return nil
}

// intended is a step of a provisioner's task. decided is the step decided again with known values.
type intended struct {
	call
	step, decided *plan.Step
}

// intend decides the steps of the task again with known values and stores their intents.
func (x *provisioner) intend(ctx context.Context) (calls []*intended, err error) {
	forbidden := x.forbidden()
	for _, s := range x.task.Steps {
		if s.Kind == plan.Delete {
			if x.isAfterModule() && !x.isLeft(s.Old) {
				continue
			}
			if err := cmp.Or(x.planner.CheckHandler(s.Old), forbidden[s]); err != nil { // occurs only in a cleanup, which skips the step
				x.fail(failureOf(s, err))
				if err := x.refuse(ctx, x.task.Number, s, err); errors.Is(err, store.ErrFenced) {
					return nil, err
				}
			} else {
				calls = append(calls, &intended{call{old: s.Old}, s, s})
			}
			continue
		}
		again, err := x.plan.Again(ctx, s, s.Old != nil && x.isDeleted(s.Old))
		if err == nil {
			err = x.allow(s, again)
		}
		if err != nil {
			return nil, x.refuse(ctx, x.task.Number, s, err)
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
		if err := x.recordIntent(ctx, x.task.Number, c.decided.Kind, &c.call); err != nil {
			return nil, err
		}
		x.setCalled(c.row.Number)
	}
	return calls, nil
}

// forbidden returns the errors of deletions that the policy does not allow. If there is one, no deletion of the task is
// allowed, since the provisioner makes all changes at once.
func (x *provisioner) forbidden() map[*plan.Step]error {
	all := map[*plan.Step]error{}
	var first *plan.Step
	for _, s := range x.task.Steps {
		if s.Kind == plan.Delete && (!x.isAfterModule() || x.isLeft(s.Old)) {
			if all[s] = x.allow(s, s); all[s] != nil && first == nil {
				first = s
			}
		}
	}
	for s, err := range all {
		if first != nil && err == nil {
			all[s] = fmt.Errorf("the policy does not allow the provisioner to delete %s", graph.ShortName(first.URN))
		}
	}
	return all
}

// filled returns r with references to outputs of resources made earlier in its task resolved.
func (x *execution) filled(r *graph.Resource, made map[urn.URN]*graph.Resource) (*graph.Resource, error) {
	if expr.IsKnown(r.Inputs) {
		return r, nil
	}
	inputs, err := expr.Evaluate(r.Inputs, x.graph.Resolve(nil, func(to *lumigl.Vertex) *graph.Resource { return made[to.URN()] }))
	now := *r
	now.Inputs = inputs
	now.Checked = now.NamedInputs()
	return &now, err
}

// failAll records err as the failure of all steps in a task and returns err. For deletions after the module's task, it
// returns nil, since they are left to a cleanup. If reached is set, the changes are stored as possibly applied.
func (x *provisioner) failAll(ctx context.Context, calls []*intended, reached bool, err error) error {
	if x.Interrupted(ctx) != nil {
		return x.Interrupted(ctx)
	}
	for _, c := range calls {
		o := outcome{state: store.Failed, err: err}
		if reached && c.new != nil {
			o.resource = maybeApplied(c.old, c.new, x.name)
		}
		if err := x.recordOutcome(ctx, &c.call, o); err != nil {
			return err
		}
		x.fail(fmt.Sprintf("%s: %v", c.row.URN, err))
	}
	if x.isAfterModule() {
		return nil
	}
	return err
}

// applyAndPoll starts the provisioner's changes, stores the token, and polls until the changes are done.
func (x *provisioner) applyAndPoll(ctx context.Context, calls []*intended, in plan.Input) (plan.Status, error) {
	var token string
	secrets := x.secrets(in)
	err := x.withTimeout(ctx, calls, func(ctx context.Context) (err error) {
		token, err = x.Provision(provision.WithSecrets(ctx, secrets...), in)
		return err
	})
	if err != nil || token == "" {
		return plan.Status{State: plan.Done}, err
	}
	x.row.Token = token
	if err := x.moveTask(ctx, x.row, store.Polling, ""); err != nil {
		return plan.Status{}, err
	}
	return x.poll(ctx, in)
}

// withTimeout calls f with the latest deadline of all steps, and retries as long as the provisioner requests it.
func (x *provisioner) withTimeout(ctx context.Context, calls []*intended, f func(context.Context) error) error {
	limit, deadline := x.Timeout, time.Now().Add(x.Timeout)
	for i, c := range calls {
		if i == 0 || c.until.After(deadline) {
			limit, deadline = x.timeout(&c.call), c.until
		}
	}
	limited, cancel := context.WithDeadlineCause(x.Calls, deadline, fmt.Errorf("timed out after %s", limit))
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := deadlineError(limited, f(limited))
		if !errors.As(err, new(*lumi.RetryError)) || attempt > x.Retries || x.Sleep(ctx, x.delay(attempt, err)) != nil {
			return err
		}
	}
}

// deadlineError adds the cause of a timeout to the error of a call. It returns other errors unchanged.
func deadlineError(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, cause):
		return err
	case errors.Is(err, context.DeadlineExceeded): // The cause is more specific.
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// statusTime is the timeout of a Status call unless Options.Timeout is shorter.
const statusTime = time.Minute

// poll polls a provisioner and shows its progress until its changes are done. It returns an error if they fail.
func (x *provisioner) poll(ctx context.Context, in plan.Input) (plan.Status, error) {
	failures, shown := 0, ""
	masked := func(message string) string { // mask before truncating, since part of a secret would not be recognized
		return job.Brief(provision.Mask(errors.New(message), x.secrets(in)...).Error())
	}
	for {
		limit := min(statusTime, x.Timeout)
		limited, cancel := context.WithTimeoutCause(x.Calls, limit, fmt.Errorf("status timed out after %s", limit))
		status, err := x.Status(provision.WithSecrets(limited, x.secrets(in)...), x.row.Token)
		err = deadlineError(limited, err)
		cancel()
		if err == nil && status.State == plan.Running && status.Message != shown {
			shown = status.Message
			message := fmt.Sprintf("provisioner %s: %s", x.name, masked(shown))
			x.Show(store.Event{Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), Level: "progress", Message: message})
		}
		switch {
		case err != nil:
			if errors.Is(err, lumi.ErrNotFound) {
				return status, fmt.Errorf("the provisioner does not recognize the token that it returned: %w", err)
			}
			if failures++; failures > x.Retries {
				return status, err
			}
		case status.State == plan.Done:
			return status, nil
		case status.State == plan.Failed:
			return status, errors.New(cmp.Or(masked(status.Message), "failed without a message"))
		case status.State != plan.Running:
			return status, fmt.Errorf("invalid state %q: must be running, failed, or done", status.State)
		default:
			failures = 0
		}
		if err := x.Sleep(ctx, x.Poll); err != nil {
			return status, err
		}
	}
}

// checkKeys returns an error if metadata contains the key of a vertex not passed to the provisioner.
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
			return fmt.Errorf("returned metadata for %q, which it was not given", key)
		}
	}
	return nil
}

// maybeApplied returns the state of a resource that a provisioner may have created or changed. It has no inputs, so it
// differs from any desired resource. old is nil for a new resource.
func maybeApplied(old, r *graph.Resource, by string) *graph.Resource {
	now := provisioned(nil, r, by, nil)
	now.Metadata, now.Outputs = lumigl.Value{}, lumigl.Value{} // unknown
	if old != nil {
		now.Metadata, now.Outputs = old.Metadata, old.Outputs
	}
	now.Inputs, now.Checked = lumigl.Value{}, plan.Known(now.Checked)
	return now
}

// provisioned returns a resource with the metadata returned by its provisioner as its outputs. If there is none, it
// keeps the old metadata. old is nil for a new resource.
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

func (x *provisioner) wrapError(err error, in plan.Input) error {
	return WrapError(x.name, err, x.secrets(in))
}
