package execute

import (
	"cmp"
	"context"
	"crypto/rand"
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

// call is a call that creates, changes, deletes, or only reads a resource. row is the stored step.
type call struct {
	row store.Step
	// old is the existing resource, or nil for a creation. new is the desired resource, or nil for a deletion.
	old, new   *graph.Resource
	references map[urn.URN]plan.Reference
	caller     *provision.Caller
	// settles is set if the call was made by an earlier executor, so nothing new may be created.
	settles bool
	// limit is the time limit for all attempts of the call, and until is the resulting local time. [execution.deadline]
	// sets both.
	limit    time.Duration
	until    time.Time
	attempts int
}

type outcome struct {
	// state is DONE, FAILED, or UNKNOWN.
	state store.State
	// resource is the resulting resource. It is nil if the resource was deleted or if a failed call changed nothing.
	resource *graph.Resource
	err      error
	// again is set if the resource exists but an update should make the remaining changes.
	again bool
}

// deadline returns the deadline for all attempts of a call. The first use starts the time limit.
func (x *execution) deadline(c *call) time.Time {
	if c.until.IsZero() {
		c.limit = x.timeout(c)
		c.until = time.Now().Add(c.limit)
	}
	return c.until
}

// timeout returns the time limit for all attempts of a call, as set by the option "timeouts" or by default.
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

// record runs f in a transaction. It returns an error wrapping [store.ErrFenced] if this executor no longer holds the
// deployment.
func (x *execution) record(ctx context.Context, f func(t *journal.Tx, d store.Job) error) error {
	return x.journal.Write(ctx, x.fenced(f))
}

// fenced returns a function that checks the fencing token and then calls f.
func (x *execution) fenced(f func(t *journal.Tx, d store.Job) error) func(*journal.Tx) error {
	return func(t *journal.Tx) error {
		d, err := x.Touch(t)
		if err != nil {
			return err
		}
		return f(t, d)
	}
}

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

func (x *execution) recordIntent(ctx context.Context, task int, kind plan.Kind, c *call) (err error) {
	c.row = store.Step{
		Deployment: x.Job.ID, Number: x.number(), Task: task, Kind: kind.String(), State: store.Planned, Token: rand.Text(),
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

// text encodes a resource. Its dependencies refer to URNs in the resource graph, since a failed deployment does not
// move resources.
func (x *execution) text(r *graph.Resource) (string, error) {
	now := *r
	now.Dependencies = slices.Clone(r.Dependencies)
	for i, u := range now.Dependencies {
		now.Dependencies[i] = cmp.Or(x.moves[u], u)
	}
	slices.Sort(now.Dependencies)
	return x.journal.Codec().Resource(&now)
}

// recordStart records the intent to make a call, with its deadline. If first is set, it also shows an event.
func (x *execution) recordStart(ctx context.Context, c *call, first bool) error {
	isNew := c.row.State == store.Planned
	if err := job.Steps.Move(&c.row.State, store.Started); err != nil {
		return err
	}
	c.row.Owner = x.Owner
	until := x.deadline(c)
	err := x.record(ctx, func(t *journal.Tx, _ store.Job) error {
		c.row.Deadline = t.Now().Add(time.Until(until))
		return t.PutStep(c.row)
	})
	if err == nil && isNew {
		err = x.Interrupted(ctx) // The handler of a result's event in the same transaction may have stopped the engine.
	}
	if isNew && (errors.Is(err, store.ErrLost) || errors.Is(err, job.ErrStopped) || errors.Is(err, job.ErrAborted)) {
		none := c.row // The intent is stored, but the call will not be made.
		none.State, none.New = store.Failed, ""
		_ = x.record(ctx, func(t *journal.Tx, _ store.Job) error { return t.PutStep(none) })
	}
	if err == nil && first { // The event is not stored, since the row contains the same information.
		x.Show(store.Event{
			Time: time.Now().UTC(), Deployment: x.Job.ID, Name: job.Name(x.Job), Task: c.row.Task, URN: c.row.URN, Source: sourceOf(c.new),
			Kind: c.row.Kind, State: store.Started,
		})
	}
	return err
}

// sourceOf returns the source position of a resource. It returns "" if r is nil.
func sourceOf(r *graph.Resource) string {
	if r == nil {
		return ""
	}
	return r.Source
}

func (x *execution) recordOutcome(ctx context.Context, c *call, o outcome) error {
	f, err := x.result(c, o)
	if err != nil {
		return err
	}
	return x.record(context.WithoutCancel(ctx), f)
}

// result returns a function that records the outcome of a call in a transaction.
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
	c.row.State = o.state // A PENDING step is stored as FAILED until the deployment ends, which removes the row.
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

// refuse adds an event for a step that failed before its call.
func (x *execution) refuse(ctx context.Context, task int, s *plan.Step, err error) error {
	message := err.Error()
	if wrong, ok := errors.AsType[*plan.Error](err); ok { // The event already contains the resource and its position.
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

// noteDone adds an event for a step that is done without a call.
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

// withNew returns a copy of a step with the actual resource as New.
func withNew(s *plan.Step, r *graph.Resource) *plan.Step {
	done := *s
	done.New, done.Possible = r, false
	return &done
}
