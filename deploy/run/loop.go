package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Run runs a deployment until it has ended, failed, or needs an answer, and returns it. It first waits for earlier
// deployments, and runs them unless another process does. It returns early if one of them has failed or needs an
// answer, or if the engine is stopped. After the deployment has ended, Run also runs the environment's cleanups. It
// returns only errors of the store and of ctx. If the deployment fails, its Message contains the reason.
func (e *Engine) Run(ctx context.Context, id int64) (store.Job, error) {
	for {
		d, turn, err := e.next(ctx, id)
		if err != nil {
			return d, err
		}
		switch {
		case turn.run != 0:
			err = e.execute(ctx, turn.run)
		case !turn.wait:
			return d, nil
		}
		if errors.Is(err, errNotReady) || err == nil && turn.run == 0 {
			err = e.pause(ctx)
		}
		if errors.Is(err, job.ErrStopped) {
			return d, nil
		} else if err != nil {
			return d, err
		}
	}
}

// pause waits until it is time to poll the store again. It returns an error if the engine is stopped or ctx is done.
func (e *Engine) pause(ctx context.Context) error {
	timer := time.NewTimer(e.Poll)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-e.jobs.Stopping():
		return job.ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// turn is the next action of [Engine.Run].
type turn struct {
	run    int64           // ID of the deployment to execute now, or 0
	wait   bool            // whether to poll again if no deployment can be executed now
	needed map[string]bool // names of the deployment and its prerequisites
}

// next returns a deployment and the next action for it: to execute the deployment, or another one that it waits for,
// or, once it has ended, a cleanup.
func (e *Engine) next(ctx context.Context, id int64) (d store.Job, next turn, err error) {
	err = e.renew(ctx, id)
	if err != nil {
		return d, turn{}, err
	}
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		next = turn{}
		if d, err = t.Job(id); err != nil {
			return err
		}
		select {
		case <-e.jobs.Stopping():
			return nil
		default:
		}
		rows, g, err := t.QueueAndGraph()
		switch {
		case err != nil:
			return err
		case d.State.IsFinal():
			next.run = e.readyCleanup(t.Now(), rows, g)
		case d.State != store.Failed && d.State != store.Ask:
			next = e.readyFor(t.Now(), d, rows, g)
			rows = slices.DeleteFunc(rows, func(o store.Job) bool {
				return !next.needed[job.Name(o)] || o.Owner == "" || o.Owner == e.Owner || o.ID == next.run
			})
			return e.follow(t, id, rows)
		}
		return e.follow(t, id, nil)
	})
	return d, next, err
}

// readyCleanup returns the ID of a cleanup that can run now, or 0 if there is none.
func (e *Engine) readyCleanup(now time.Time, rows []store.Job, g *graph.Graph) int64 {
	for _, d := range rows {
		if d.Kind == store.Cleanup && e.IsReady(now, d, rows, g) {
			return d.ID
		}
	}
	return 0
}

// readyFor returns the next action for an unfinished deployment. turn.wait is false if it is blocked by a deployment
// that has failed or needs an answer.
func (e *Engine) readyFor(now time.Time, d store.Job, rows []store.Job, g *graph.Graph) turn {
	needed, blocked := neededFor(job.Name(d), e.Entries(now, rows), g)
	for _, row := range rows {
		if needed[job.Name(row)] && e.IsReady(now, row, rows, g) {
			return turn{run: row.ID, wait: true, needed: needed}
		}
	}
	return turn{wait: !blocked, needed: needed}
}

// follow shows the events that other processes have stored for the deployments in waited since deployment id started to
// wait for them. If a followed deployment is no longer waited for, its remaining events are still shown.
func (e *Engine) follow(t *journal.Tx, id int64, waited []store.Job) error {
	e.followMu.Lock()
	defer e.followMu.Unlock()
	for other, f := range e.followed {
		for event, err := range t.Log(other, f.after) {
			if err != nil {
				return err
			}
			f.after = event.Serial
			t.Emit(event) // A read-only transaction shows events without storing them.
		}
		if !slices.ContainsFunc(waited, func(d store.Job) bool { return d.ID == other }) {
			if delete(f.by, id); len(f.by) == 0 {
				delete(e.followed, other)
			}
		}
	}
	for _, d := range waited {
		f := e.followed[d.ID]
		if f == nil {
			f = &followed{by: map[int64]bool{}}
			for event, err := range t.Log(d.ID, 0) {
				if err != nil {
					return err
				}
				f.after = event.Serial
			}
			e.followed[d.ID] = f
		}
		f.by[id] = true
	}
	return nil
}

// renew renews the lease of a deployment that is waiting in this process.
func (e *Engine) renew(ctx context.Context, id int64) error {
	var d store.Job
	var left time.Duration
	err := e.Journal.Read(ctx, func(t *journal.Tx) (err error) {
		d, err = t.Job(id)
		left = d.Expires.Sub(t.Now())
		return err
	})
	if err != nil || d.State != store.Wait || d.Owner != e.Owner || left > e.jobs.Lease*2/3 {
		return err
	}
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil || d.State != store.Wait || d.Owner != e.Owner {
			return err
		}
		d.Expires = t.Expires()
		return t.PutJob(d)
	})
}

// Stop stops the engine. The first call prevents new steps from starting; the second cancels running calls. The
// engine's deployments are released, so that they can be run again.
func (e *Engine) Stop() { e.jobs.Stop() }
