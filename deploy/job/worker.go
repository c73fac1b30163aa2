package job

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// States of a worker.
const (
	WorkerRunning  = "running"
	WorkerDraining = "draining" // starts no new work
	WorkerGone     = "gone"     // the process is known to have exited
	WorkerUnknown  = "unknown"  // on another host, without a recent heartbeat
)

// Worker is a process that holds jobs, or whose calls may still be running.
type Worker struct {
	store.Worker
	State string
	// Holds lists the jobs in the order of their places.
	Holds []store.Job
	// IsHere is set if the process was started on this host since its last boot.
	IsHere bool
}

// PutJob replaces a job. If this process holds it, PutJob also writes the heartbeat; if not, this process is no longer
// listed as a worker, until its next heartbeat for another job.
func (t *Tx) PutJob(j store.Job) error {
	if err := t.Tx.PutJob(j); err != nil {
		return err
	}
	if j.Owner != t.runner.Owner || !t.Now().Before(j.Expires) {
		return t.DeleteWorker(j.Environment, t.runner.Owner)
	}
	w := t.runner.worker
	w.Environment, w.Seen, w.Draining = j.Environment, t.Now(), t.runner.isStopping()
	return t.PutWorker(w)
}

// Workers returns the workers of the environment, sorted by owner.
func (r *Runner) Workers(ctx context.Context) (all []Worker, err error) {
	err = r.Read(ctx, func(t *Tx) (err error) {
		all, err = t.workers()
		return err
	})
	return all, err
}

func (t *Tx) workers() ([]Worker, error) {
	rows, err := t.Workers(t.runner.Environment)
	if err != nil {
		return nil, err
	}
	all := make([]Worker, len(rows))
	for i, row := range rows {
		all[i].Worker = row
	}
	err = t.held("", func(j store.Job, owner string, _ []store.Step) error {
		i := slices.IndexFunc(all, func(w Worker) bool { return w.Owner == owner })
		if i < 0 {
			host, _, _ := strings.Cut(owner, "/")
			i, all = len(all), append(all, Worker{Worker: store.Worker{Environment: j.Environment, Owner: owner, Host: host}})
		}
		all[i].Holds = append(all[i].Holds, j)
		return nil
	})
	for i := range all {
		w := &all[i]
		w.IsHere = w.Host == t.runner.worker.Host && (w.Boot == "" || w.Boot == t.runner.worker.Boot)
		isLeased := slices.ContainsFunc(w.Holds, func(j store.Job) bool { return j.Owner == w.Owner && t.Now().Before(j.Expires) })
		switch {
		case t.runner.IsDead(w.Owner):
			w.State = WorkerGone
		case w.Draining && isLeased:
			w.State = WorkerDraining
		case w.IsHere || isLeased || t.Now().Sub(w.Seen) < t.runner.Lease:
			w.State = WorkerRunning
		default:
			w.State = WorkerUnknown
		}
	}
	slices.SortFunc(all, func(a, b Worker) int { return cmp.Compare(a.Owner, b.Owner) })
	return all, err
}

// held calls f for each unfinished job and each owner of its lease or of a started call, along with the owner's started
// calls. If only is not "", it is called only for this owner.
func (t *Tx) held(only string, f func(j store.Job, owner string, calls []store.Step) error) error {
	jobs, err := t.Queue(t.runner.Environment)
	runs, err2 := t.Runs(t.runner.Environment, 0, math.MaxInt32)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for _, j := range append(jobs, runs...) {
		steps, err := t.Steps(j.ID)
		if err != nil {
			return err
		}
		calls := map[string][]store.Step{}
		if j.Owner != "" && !j.Expires.IsZero() {
			calls[j.Owner] = nil
		}
		for _, s := range steps {
			if s.State == store.Started {
				calls[s.Owner] = append(calls[s.Owner], s)
			}
		}
		for owner, started := range calls {
			if only != "" && owner != only {
				continue
			}
			if err := f(j, owner, started); err != nil {
				return err
			}
		}
	}
	return nil
}

// Forget takes all jobs away from a worker that is on a host known to be gone, so that they can be claimed at once, and
// ends the wait for its calls. It returns a *[RefusedError] if there is no such worker, or if it seems to be alive.
func (r *Runner) Forget(ctx context.Context, owner string) (forgotten Worker, err error) {
	err = r.Write(ctx, func(t *Tx) error {
		all, err := t.workers()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(w Worker) bool { return w.Owner == owner })
		if i < 0 {
			return Refuse("no worker %s in %s: 'lumi worker list' shows the workers", owner, r.Environment)
		}
		forgotten = all[i]
		alive := forgotten.State == WorkerRunning || forgotten.State == WorkerDraining
		switch {
		case alive && forgotten.IsHere:
			return Refuse("worker %s is running on this host: end its process first", owner)
		case alive:
			return Refuse("worker %s sent a heartbeat in the last %s: if its host is gone, try again when its lease has expired", owner, r.Lease)
		}
		err = t.held(owner, func(j store.Job, _ string, calls []store.Step) error {
			for _, s := range calls {
				if err := errors.Join(Steps.Move(&s.State, store.Unknown), t.PutStep(s)); err != nil {
					return err
				}
			}
			if j.Owner != owner {
				return nil // another process waits for the calls
			}
			j.Fence++
			j.Expires = time.Time{}
			t.Note(j, store.Event{Level: "warn", Message: "worker " + owner + " was forgotten"})
			return t.Tx.PutJob(j)
		})
		return cmp.Or(err, t.DeleteWorker(r.Environment, owner))
	})
	return forgotten, err
}
