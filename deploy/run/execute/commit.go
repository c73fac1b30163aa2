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
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
)

// commit adds the module's new version, including the results of its steps, to the resource graph.
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
		forgotten, planned := map[identity]bool{}, map[identity]bool{}
		for _, s := range x.plan.Steps {
			if s.New == nil {
				forgotten[identityOf(s.Old)], planned[identityOf(s.Old)] = s.Kind == plan.Forget, true
			}
			x.noteUncalled(t, d, s)
		}
		var left []graph.Pending
		for _, r := range tr.Deleted {
			if !x.isDeleted(r) && !forgotten[identityOf(r)] {
				// A resource that was still held when this was planned has no step, and is left to a cleanup.
				p := graph.Pending{Resource: r, Configuration: x.configurationOf(now, r), Held: !planned[identityOf(r)]}
				left = append(left, now.Leaving(tr.Graph, p)...)
			}
		}
		x.noteHeld(t, d, tr)
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

// noteUncalled adds an event for a step that requires no call.
func (x *execution) noteUncalled(t *journal.Tx, d store.Job, s *plan.Step) {
	switch s.Kind {
	case plan.Move:
		t.Note(d, store.Event{URN: string(s.URN), Was: string(s.Old.URN), Kind: s.Kind.String(), ID: s.Old.ID, State: store.Done})
	case plan.Forget:
		t.Note(d, store.Event{URN: string(s.URN), Kind: s.Kind.String(), ID: s.Old.ID, State: store.Done})
	}
}

// noteHeld adds an event for each deletion that waits for a pending deletion of another module.
func (x *execution) noteHeld(t *journal.Tx, d store.Job, tr *graph.Transition) {
	for _, r := range tr.Held {
		t.Note(d, store.Event{
			URN: string(r.URN), Kind: plan.Delete.String(), ID: r.ID, State: store.Pending, Message: "waits for a pending deletion of another module",
		})
	}
}

// finish moves a deployment to DONE after its tasks are completed, and queues the resulting cleanups.
func (x *execution) finish(ctx context.Context) error {
	return x.record(context.WithoutCancel(ctx), func(t *journal.Tx, d store.Job) error {
		g, err := x.fold(t)
		if err != nil {
			return err
		}
		// The steps are no longer needed, since a cleanup retries deletions with an unknown outcome.
		if err := cmp.Or(t.DeleteSteps(d.ID), t.DeleteTasks(d.ID)); err != nil {
			return err
		}
		if err := t.Move(&d, store.Done, strings.Join(x.failures, "\n")); err != nil {
			return err
		}
		return t.QueueCleanups(d, g, x.Cleanup)
	})
}

// conclude records that an execution ended early because of err. It is a no-op if err is nil.
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
		to = store.Done // A failed cleanup must not block its module. The next cleanup or deployment retries it.
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

// markInterrupted moves the started calls of this execution whose outcomes could not be stored to UNKNOWN.
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

// release lets the lease expire, so that another process can claim the deployment immediately. Owner is kept, since
// this process may still be running calls.
func (x *execution) release(ctx context.Context) error {
	return x.record(ctx, func(t *journal.Tx, d store.Job) error {
		d.Expires = time.Time{}
		return cmp.Or(x.markInterrupted(t), t.PutJob(d))
	})
}
