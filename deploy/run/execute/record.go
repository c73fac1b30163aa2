package execute

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// call is a call that creates, changes or deletes a resource, with its row in the store.
type call struct {
	row store.Step
	// old is the resource before, nil for a creation, and new the resource as it is to become, nil for a deletion.
	old, new   *graph.Resource
	references map[urn.URN]plan.Reference
	caller     *provision.Caller
	// settles is set if an executor before has made the call: then nothing is created that it has not created.
	settles bool
	// limit and until are how long all attempts may take, and the end of that; see [execution.deadline].
	limit time.Duration
	until time.Time
	// attempts is how many were made.
	attempts int
}

// outcome is what became of a call.
type outcome struct {
	// state is DONE, FAILED or UNKNOWN.
	state store.State
	// resource is the resource as it is now, nil if it was deleted, or if a failed call changed nothing.
	resource *graph.Resource
	err      error
	// again is set if the resource exists, and the rest should be tried by an update.
	again bool
}

// deadline returns when the time for a call with all its attempts is over. It starts with the first use.
func (x *execution) deadline(c *call) time.Time {
	if c.until.IsZero() {
		c.limit = x.timeout(c)
		c.until = time.Now().Add(c.limit).UTC()
	}
	return c.until
}

// timeout returns how long a call with all its attempts may take: what the option "timeouts" says, or the default.
func (x *execution) timeout(c *call) time.Duration {
	of, key := c.new, "update"
	switch {
	case c.limit > 0:
		return c.limit
	case c.new == nil:
		of, key = c.old, "delete"
	case c.old == nil:
		key = "create"
	}
	text, _ := of.Options.Get("timeouts").Get(key).Text()
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	return x.Timeout
}

// record runs f in a transaction. The error is [store.ErrFenced] if the executor does not hold the deployment any more.
func (x *execution) record(ctx context.Context, f func(t *journal.Tx, d store.Job) error) error {
	return x.journal.Write(ctx, x.fenced(f))
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

// recordIntent stores the intent of a call.
func (x *execution) recordIntent(ctx context.Context, task int, kind plan.Kind, c *call) (err error) {
	c.row = store.Step{
		Deployment: x.Job.ID, Number: x.number(), Task: task, Kind: kind.String(), State: store.Planned, Token: c.row.Token,
	}
	if c.old != nil {
		c.row.URN, c.row.OldKey, c.row.OldID = string(c.old.URN), oldKey(c.old), c.old.ID
	}
	if c.new != nil {
		c.row.URN = string(c.new.URN)
		if c.row.New, err = x.text(c.new); err != nil {
			return err
		}
	}
	return x.recordStart(ctx, c, true)
}

// text returns a resource as text. It depends on others by the URNs that they have in the resource graph: if the deployment
// fails, they do not move.
func (x *execution) text(r *graph.Resource) (string, error) {
	now := *r
	now.Dependencies = slices.Clone(r.Dependencies)
	for i, u := range now.Dependencies {
		now.Dependencies[i] = cmp.Or(x.moves[u], u)
	}
	slices.Sort(now.Dependencies)
	return x.journal.Codec().Resource(&now)
}

// recordStart stores that a call is about to be made, and until when it may last. Of several attempts, only the first is shown.
func (x *execution) recordStart(ctx context.Context, c *call, first bool) error {
	isNew := c.row.State == store.Planned
	if err := job.Steps.Move(&c.row.State, store.Started); err != nil {
		return err
	}
	c.row.Owner, c.row.Deadline = x.Owner, x.deadline(c)
	err := x.record(ctx, func(t *journal.Tx, _ store.Job) error { return t.PutStep(c.row) })
	if err == nil && isNew {
		err = x.Interrupted(ctx) // by an event of a result that was stored together with the intent
	}
	if isNew && (errors.Is(err, store.ErrLost) || errors.Is(err, job.ErrStopped) || errors.Is(err, job.ErrAborted)) {
		none := c.row // The intent is stored, but its call is not made.
		none.State, none.New = store.Failed, ""
		_ = x.record(ctx, func(t *journal.Tx, _ store.Job) error { return t.PutStep(none) })
	}
	if err == nil && first { // The row says the same as long as it is true.
		x.Show(store.Event{
			Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), Task: c.row.Task, URN: c.row.URN, Source: sourceOf(c.new),
			Kind: c.row.Kind, State: store.Started,
		})
	}
	return err
}

// sourceOf returns where the program constructs a resource, "" for nil.
func sourceOf(r *graph.Resource) string {
	if r == nil {
		return ""
	}
	return r.Source
}

// recordOutcome stores what became of a call.
func (x *execution) recordOutcome(ctx context.Context, c *call, o outcome) error {
	f, err := x.result(c, o)
	if err != nil {
		return err
	}
	return x.record(context.WithoutCancel(ctx), f)
}

// result returns what stores the outcome of a call.
func (x *execution) result(c *call, o outcome) (f func(*journal.Tx, store.Job) error, err error) {
	c.row.New, c.row.Message = "", ""
	if o.resource != nil {
		if c.row.New, err = x.text(o.resource); err != nil {
			return nil, err
		}
	} else if o.state == store.Unknown && c.new != nil {
		if c.row.New, err = x.text(c.new); err != nil {
			return nil, err
		}
	}
	if o.err != nil {
		c.row.Message = job.Brief(o.err.Error())
	}
	to := o.state
	if to == store.Failed && c.new == nil && x.isAfterModule() {
		to = store.Pending
	}
	if c.row.State != to {
		if err := job.Steps.Move(&c.row.State, to); err != nil {
			return nil, err
		}
	}
	c.row.State = o.state // What is PENDING is FAILED in its row, which the end of the deployment removes.
	event := store.Event{
		Task: c.row.Task, URN: c.row.URN, Source: sourceOf(c.new), Kind: c.row.Kind, State: to, Message: c.row.Message,
	}
	if o.resource != nil {
		event.ID = o.resource.ID
		if c.old != nil && c.old.URN != o.resource.URN {
			event.Was = string(c.old.URN)
		}
	} else if c.old != nil {
		event.ID = c.old.ID
	}
	row := c.row
	return func(t *journal.Tx, d store.Job) error {
		t.Note(d, event)
		return t.PutStep(row)
	}, nil
}

// refuse notes that a step failed before its call.
func (x *execution) refuse(ctx context.Context, task int, s *plan.Step, err error) error {
	message := err.Error()
	if wrong, ok := errors.AsType[*plan.Error](err); ok { // whose resource and position the event has
		bare := slices.Clone(wrong.Faults)
		for i := range bare {
			bare[i].URN, bare[i].Source = "", ""
		}
		message = (&plan.Error{Faults: bare}).Error()
	}
	if noted := x.record(ctx, func(t *journal.Tx, d store.Job) error {
		event := store.Event{Task: task, URN: string(s.URN), Source: sourceOf(s.New), Kind: s.Kind.String(), State: store.Failed, Message: message}
		t.Note(d, event)
		return nil
	}); noted != nil {
		return noted
	}
	return err
}

// noteDone notes that a step is done without a call.
func (x *execution) noteDone(ctx context.Context, task int, s *plan.Step, r *graph.Resource) error {
	return x.record(ctx, func(t *journal.Tx, d store.Job) error {
		event := store.Event{Task: task, URN: string(r.URN), Source: r.Source, Kind: s.Kind.String(), ID: r.ID, State: store.Done}
		if s.Old != nil && s.Old.URN != r.URN {
			event.Was = string(s.Old.URN)
		}
		t.Note(d, event)
		return nil
	})
}

// withNew returns a step that has turned out to make a resource.
func withNew(s *plan.Step, r *graph.Resource) *plan.Step {
	done := *s
	done.New, done.Possible = r, false
	return &done
}
