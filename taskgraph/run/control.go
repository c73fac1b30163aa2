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

	"github.com/lumi-idl/lumi/deploy/store"
)

// Answer says what became of a task run whose outcome is unknown.
type Answer struct {
	Number int `json:"number"`
	// Done is set if it took effect; otherwise it runs again.
	Done bool `json:"done"`
}

// Start adds a run. The error is a *[RefusedError] while the environment has one that runs, waits or was interrupted.
func (e *Engine) Start(ctx context.Context, r Request) (d store.Job, err error) {
	r.Nonce = strings.ToLower(rand.Text()[:10])
	text, err := json.Marshal(r)
	if err != nil {
		return d, err
	}
	d = store.Job{
		Environment: e.Environment, Kind: store.Tasks, Module: r.Type, State: store.Wait, Created: time.Now().UTC(),
	}
	e.holder.Claim(&d)
	err = e.Store.Write(ctx, e.Environment, func(tx store.Tx) error {
		if err := e.refuseOther(tx, 0); err != nil {
			return err
		}
		d.ID = 0 // of an earlier attempt
		if d.ID, err = tx.AddJob(d, store.Content{Request: string(text)}); err != nil {
			return err
		}
		return e.note(tx, d)
	})
	if err == nil {
		e.show(moved(d))
	}
	return d, err
}

// Resume puts a run that has failed, asks, or was stopped or interrupted back to WAIT, for [Engine.Run] of this process. A run
// that asks needs an answer. The error may be a *[RefusedError].
func (e *Engine) Resume(ctx context.Context, id int64, answer *Answer) (store.Job, error) {
	return e.change(ctx, id, func(tx store.Tx, d *store.Job) error {
		if d.State == store.Done {
			return refusal(*d, "resumed")
		}
		if (d.State == store.Wait || d.State == store.Running) && !e.holder.IsGone(*d) {
			return e.inTheWay(*d)
		}
		if err := e.refuseOther(tx, id); err != nil {
			return err
		}
		rows, err := tx.TaskRuns(id)
		if err != nil {
			return err
		}
		asks := asked(rows)
		if answer != nil {
			at := slices.IndexFunc(asks, func(r store.TaskRun) bool { return r.Number == answer.Number })
			if at < 0 {
				return &RefusedError{fmt.Sprintf("%s asks nothing about task run %d", Name(*d), answer.Number)}
			}
			r := asks[at]
			if r.State, r.Message = store.Failed, "it had no effect, as was answered"; answer.Done {
				r.State, r.Message = store.Done, "it took effect, as was answered"
			}
			if err := tx.PutTaskRuns(id, []store.TaskRun{r}); err != nil {
				return err
			}
		} else if d.State == store.Ask && len(asks) > 0 {
			return &RefusedError{fmt.Sprintf("%s needs an answer: %s", Name(*d), question(asks[0]))}
		}
		d.State, d.Message, d.Abort, d.Ended = store.Wait, "", false, time.Time{}
		e.holder.Claim(d)
		return nil
	})
}

// Cancel stops a run: its process starts no more tasks, and the run is CANCELLED when those that run have ended. One that has no
// process is CANCELLED at once. The error may be a *[RefusedError].
func (e *Engine) Cancel(ctx context.Context, id int64) (store.Job, error) {
	return e.change(ctx, id, func(_ store.Tx, d *store.Job) error {
		switch {
		case d.State == store.Running && !e.holder.IsGone(*d):
			d.Abort = true
		case d.State == store.Wait || d.State == store.Running:
			d.Fence++
			d.State = store.Cancelled
			release(d)
		default:
			return refusal(*d, "stopped")
		}
		return nil
	})
}

// Stop stops what the engine runs: the first call starts no more tasks, the second cancels running ones. Runs are CANCELLED then,
// and can be resumed.
func (e *Engine) Stop() {
	e.stopMu.Lock()
	defer e.stopMu.Unlock()
	e.stopped++
	switch e.stopped {
	case 1:
		close(e.stopStarting)
	case 2:
		close(e.cancelCalls)
	}
}

// Status is a run as it is now.
type Status struct {
	store.Job
	// Name is what users call the run, such as "upgrade[12]".
	Name string
	// Held is set while a process holds the run. One that waits or runs and is not held was interrupted.
	Held bool
	// Tasks has the task runs that have begun, by number, and Asks those that [Engine.Resume] takes an answer about.
	Tasks, Asks []store.TaskRun
}

// Status returns a run.
func (e *Engine) Status(ctx context.Context, id int64) (s Status, err error) {
	err = e.Store.Read(ctx, func(tx store.Tx) error {
		if s.Job, err = e.find(tx, id); err != nil {
			return err
		}
		s.Name, s.Held = Name(s.Job), e.IsHeld(s.Job)
		s.Tasks, err = tx.TaskRuns(id)
		s.Asks = asked(s.Tasks)
		return err
	})
	return s, err
}

// IsHeld reports whether a process holds a run.
func (e *Engine) IsHeld(d store.Job) bool {
	return (d.State == store.Wait || d.State == store.Running) && !e.holder.IsGone(d)
}

// find returns a run of the environment.
func (e *Engine) find(tx store.Tx, id int64) (store.Job, error) {
	d, err := tx.Job(id)
	if err == nil && (d.Environment != e.Environment || d.Kind != store.Tasks) {
		err = fmt.Errorf("run %d of %s: %w", id, e.Environment, store.ErrNotFound)
	}
	return d, err
}

// refuseOther returns an error if the environment has a run that waits, runs or was interrupted, except the one with an ID.
func (e *Engine) refuseOther(tx store.Tx, id int64) error {
	runs, err := tx.Runs(e.Environment, 0, math.MaxInt32)
	for _, d := range runs {
		if d.ID != id && (d.State == store.Wait || d.State == store.Running) {
			return e.inTheWay(d)
		}
	}
	return err
}

// inTheWay returns the error of a request that has to wait for a run.
func (e *Engine) inTheWay(d store.Job) error {
	switch {
	case e.holder.IsGone(d):
		return &RefusedError{fmt.Sprintf("%s was interrupted: 'lumi tasks run --resume=%d' continues it, 'lumi tasks stop %[2]d' ends it", Name(d), d.ID)}
	case d.State == store.Wait:
		return &RefusedError{Name(d) + " is about to run: wait until it has ended, or stop it"}
	}
	return &RefusedError{Name(d) + " is running: wait until it has ended, or stop it"}
}

// refusal returns the error of a request that the state of a run does not allow.
func refusal(d store.Job, what string) error {
	return &RefusedError{fmt.Sprintf("%s cannot be %s: it is %s", Name(d), what, d.State)}
}

// change changes a run in a transaction. If its state changes, it adds an event.
func (e *Engine) change(ctx context.Context, id int64, f func(store.Tx, *store.Job) error) (d store.Job, err error) {
	var before store.State
	err = e.Store.Write(ctx, e.Environment, func(tx store.Tx) error {
		if d, err = e.find(tx, id); err != nil {
			return err
		}
		before = d.State
		if err := f(tx, &d); err != nil {
			return err
		}
		if err := tx.PutJob(d); err != nil || d.State == before {
			return err
		}
		return e.note(tx, d)
	})
	if err == nil && d.State != before {
		e.show(moved(d))
	}
	return d, err
}

// note adds the event of the state that a run has now.
func (e *Engine) note(tx store.Tx, d store.Job) error {
	return tx.AddEvents(e.Environment, []store.Event{moved(d)})
}

// moved returns the event of the state that a run has now.
func moved(d store.Job) store.Event {
	return store.Event{Time: time.Now().UTC(), Deployment: d.ID, Name: Name(d), State: d.State, Message: d.Message}
}

// release ends the lease of a run that ends.
func release(d *store.Job) {
	d.Owner, d.Expires, d.Ended = "", time.Time{}, time.Now().UTC()
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
