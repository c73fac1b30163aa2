package run

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Answer resolves a task run whose outcome is unknown.
type Answer struct {
	Number int `json:"number"`
	// Done means that the task took effect. Otherwise, it is run again.
	Done bool `json:"done"`
}

// Start queues a run. It returns a *[job.RefusedError] if the environment has a waiting, running, or interrupted run.
func (e *Engine) Start(ctx context.Context, r Request) (d store.Job, err error) {
	r.Nonce = strings.ToLower(rand.Text()[:10])
	text, err := json.Marshal(r)
	if err != nil {
		return d, err
	}
	err = e.jobs.Write(ctx, func(t *job.Tx) error {
		if err := e.refuseOther(t, 0); err != nil {
			return err
		}
		d = store.Job{
			Environment: e.Environment, Kind: store.Tasks, Module: r.Type, Fence: 1, Owner: e.jobs.Owner, Expires: t.Expires(),
		}
		return t.Add(&d, store.Content{Request: string(text)})
	})
	return d, err
}

// Resume requeues a run that failed, was stopped, was interrupted, or is waiting for an answer, so that [Engine.Run]
// can continue it in this process. answer is required if the run is waiting for one. Resume returns a
// *[job.RefusedError] if the run cannot be resumed.
func (e *Engine) Resume(ctx context.Context, id int64, answer *Answer) (store.Job, error) {
	return e.change(ctx, id, func(t *job.Tx, d *store.Job) error {
		if d.State == store.Done {
			return job.RefuseState(*d, "resumed")
		}
		if (d.State == store.Wait || d.State == store.Running) && !e.jobs.IsGone(t.Now(), *d) {
			return e.conflict(t.Now(), *d)
		}
		if err := e.refuseOther(t, id); err != nil {
			return err
		}
		rows, err := t.TaskRuns(id)
		if err != nil {
			return err
		}
		asks := asked(rows)
		if answer != nil {
			at := slices.IndexFunc(asks, func(r store.TaskRun) bool { return r.Number == answer.Number })
			if at < 0 {
				return job.Refuse("%s is not waiting for an answer about task run %d", job.Name(*d), answer.Number)
			}
			r := asks[at]
			if r.State, r.Message = store.Failed, "answered: it had no effect"; answer.Done {
				r.State, r.Message = store.Done, "answered: it took effect"
			}
			if err := t.PutTaskRuns(id, []store.TaskRun{r}); err != nil {
				return err
			}
		} else if d.State == store.Ask && len(asks) > 0 {
			return job.Refuse("%s needs an answer: %s", job.Name(*d), question(asks[0]))
		}
		d.Abort = false
		return t.Claim(d, store.Wait)
	})
}

// Cancel stops a run. Its process starts no more tasks, and the run becomes CANCELLED when the running tasks have
// ended. A run without a process becomes CANCELLED immediately. Cancel returns a *[job.RefusedError] if the run cannot
// be stopped.
func (e *Engine) Cancel(ctx context.Context, id int64) (store.Job, error) {
	return e.change(ctx, id, func(t *job.Tx, d *store.Job) error {
		switch {
		case d.State == store.Running && !e.jobs.IsGone(t.Now(), *d):
			d.Abort = true
			return t.PutJob(*d)
		case d.State == store.Wait || d.State == store.Running:
			return t.Revoke(d, store.Canceled)
		default:
			return job.RefuseState(*d, "stopped")
		}
	})
}

// Stop stops the runs of this engine. After the first call, no more tasks start; the second call cancels running tasks.
// The runs end as CANCELLED and can be resumed.
func (e *Engine) Stop() { e.jobs.Stop() }

// Status is a snapshot of the state of a run.
type Status struct {
	store.Job
	// Name is the display name of the run, such as "upgrade[12]".
	Name string
	// Held means that a process holds the run. A run that is WAIT or RUNNING but not held has been interrupted.
	Held bool
	// Tasks lists the started task runs by number. Asks lists the task runs that [Engine.Resume] accepts an answer for.
	Tasks, Asks []store.TaskRun
}

// Status returns the status of a run.
func (e *Engine) Status(ctx context.Context, id int64) (s Status, err error) {
	err = e.jobs.Read(ctx, func(t *job.Tx) error {
		if s.Job, err = e.find(t, id); err != nil {
			return err
		}
		s.Name, s.Held = job.Name(s.Job), e.IsHeld(t.Now(), s.Job)
		s.Tasks, err = t.TaskRuns(id)
		s.Asks = asked(s.Tasks)
		return err
	})
	return s, err
}

// IsHeld reports whether a process holds a run, which was read by a transaction at the time now.
func (e *Engine) IsHeld(now time.Time, d store.Job) bool {
	return (d.State == store.Wait || d.State == store.Running) && !e.jobs.IsGone(now, d)
}

// find returns a run of this environment. It returns an error wrapping [store.ErrNotFound] if there is none with this
// ID.
func (e *Engine) find(tx store.Tx, id int64) (store.Job, error) {
	d, err := tx.Job(id)
	if err == nil && (d.Environment != e.Environment || d.Kind != store.Tasks) {
		err = fmt.Errorf("run %d of %s: %w", id, e.Environment, store.ErrNotFound)
	}
	return d, err
}

// refuseOther returns an error if the environment has a waiting, running, or interrupted run other than id.
func (e *Engine) refuseOther(tx store.Tx, id int64) error {
	runs, err := tx.Runs(e.Environment, 0, math.MaxInt32)
	for _, d := range runs {
		if d.ID != id && (d.State == store.Wait || d.State == store.Running) {
			return e.conflict(tx.Now(), d)
		}
	}
	return err
}

// conflict returns the error for a request that conflicts with run d.
func (e *Engine) conflict(now time.Time, d store.Job) error {
	switch {
	case e.jobs.IsGone(now, d):
		return job.Refuse("%s was interrupted: 'lumi tasks run --resume=%d' continues it, 'lumi tasks stop %[2]d' ends it", job.Name(d), d.ID)
	case d.State == store.Wait:
		return job.Refuse("%s is about to run: wait for it to end, or stop it", job.Name(d))
	}
	return job.Refuse("%s is running: wait for it to end, or stop it", job.Name(d))
}

// change modifies a run in a transaction and returns it.
func (e *Engine) change(ctx context.Context, id int64, f func(*job.Tx, *store.Job) error) (d store.Job, err error) {
	err = e.jobs.Write(ctx, func(t *job.Tx) error {
		if d, err = e.find(t, id); err != nil {
			return err
		}
		return f(t, &d)
	})
	return d, err
}

// asked returns the task runs whose outcome is unknown.
func asked(rows []store.TaskRun) (asks []store.TaskRun) {
	for _, r := range rows {
		if r.State == store.Unknown {
			asks = append(asks, r)
		}
	}
	return asks
}

func question(r store.TaskRun) string {
	return fmt.Sprintf("did task %s on node %s take effect?", r.Task, r.Node)
}
