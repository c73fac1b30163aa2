package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// NewEnvironment adds an environment to a store.
func NewEnvironment(ctx context.Context, s store.Store, e store.Environment) error {
	return s.Write(ctx, e.Name, func(tx store.Tx) error {
		_, err := tx.Environment(e.Name)
		switch {
		case err == nil:
			return job.Refuse("the environment %s already exists: choose another name", e.Name)
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		return tx.PutEnvironment(e)
	})
}

// Deletable returns how many resources an environment has. The error is a *[job.RefusedError] if there are some or if
// deployments are queued or a task graph runs. With force, only what runs is refused, and a damaged graph counts as empty.
func Deletable(tx store.Tx, name string, force bool) (resources int, err error) {
	environment, err := tx.Environment(name)
	if err != nil {
		return 0, err
	}
	queued, err := tx.Queue(name)
	if err != nil {
		return 0, err
	}
	for _, d := range queued {
		if !force || time.Now().Before(d.Expires) {
			return 0, job.Refuse("%s is in the queue: wait until it has ended, or abort it", job.Name(d))
		}
	}
	runs, err := tx.Runs(name, 0, math.MaxInt32)
	if err != nil {
		return 0, err
	}
	for _, d := range runs {
		if time.Now().Before(d.Expires) {
			return 0, job.Refuse("%s[%d] is running: wait until it has ended, or stop it with 'lumi tasks stop'", d.Module, d.ID)
		}
	}
	rows, err := tx.Vertices(name)
	if err != nil {
		return 0, err
	}
	g, err := state.Codec{}.Graph(environment, rows)
	switch {
	case err != nil && force:
		return 0, nil
	case err != nil:
		return 0, err
	}
	if resources = g.Count(); resources > 0 && !force {
		err = job.Refuse("%s has resources: 'lumi destroy --environment=%[1]s' deletes them, --force leaves them as they are", name)
	}
	return resources, err
}

// Graph returns the resource graph as it is.
func (e *Engine) Graph(ctx context.Context) (g *graph.Graph, err error) {
	err = e.read(ctx, func(t *txn) (err error) {
		g, err = t.Graph()
		return err
	})
	return g, err
}

// Outline returns the resource graph as it is, perhaps without resources that the newest versions hold: their number is always right.
func (e *Engine) Outline(ctx context.Context) (g *graph.Graph, err error) {
	err = e.read(ctx, func(t *txn) (err error) {
		g, err = t.outline()
		return err
	})
	return g, err
}

// Status is a deployment of the queue.
type Status struct {
	store.Job
	// Name is what users call the deployment, such as "a[5]".
	Name string
	// Waits has the deployments that it waits for, with reasons. If it failed or asks, a retry would wait for them.
	Waits []queue.Wait
	// Asks has the resources that [Engine.Resolve] takes an answer about.
	Asks []urn.URN
	// Ready is set if this process can run it now: it waits for none, and no other process holds its lease.
	Ready bool
}

// Status returns the deployments that have not ended, in the order of the queue.
func (e *Engine) Status(ctx context.Context) (all []Status, err error) {
	err = e.read(ctx, func(t *txn) error {
		rows, err := t.Queue(e.Environment)
		if err != nil {
			return err
		}
		g, err := t.outline()
		if err != nil {
			return err
		}
		q := e.entries(rows)
		for i, d := range rows {
			s := Status{Job: d, Name: job.Name(d), Waits: q.Waits(i, g), Ready: e.isReady(d, rows, g)}
			if d.State == store.Ask || d.State == store.Failed {
				steps, err := t.Steps(d.ID)
				if err != nil {
					return err
				}
				for _, row := range steps {
					if asks(row) {
						s.Asks = append(s.Asks, urn.URN(row.URN))
					}
				}
				slices.Sort(s.Asks)
			}
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// Find returns the deployment with a number, what it was asked to do, and the effects of the plan that was agreed to. The
// error is [store.ErrNotFound] if there is none.
func (e *Engine) Find(ctx context.Context, number int64) (d store.Job, r Request, shown []plan.Effect, err error) {
	if d, err = e.Deployment(ctx, number); err == nil {
		r, shown, err = e.request(ctx, d)
	}
	return d, r, shown, err
}

// Deployment returns the deployment with a number. The error is [store.ErrNotFound] if there is none.
func (e *Engine) Deployment(ctx context.Context, number int64) (d store.Job, err error) {
	err = e.read(ctx, func(t *txn) error {
		for found, err := range t.deployments() {
			if err != nil {
				return err
			}
			if found.Number == number && number != 0 {
				d = found
				return nil
			}
		}
		return fmt.Errorf("deployment %d of %s: %w", number, e.Environment, store.ErrNotFound)
	})
	return d, err
}

// Request returns what a deployment was asked to do.
func (e *Engine) Request(ctx context.Context, id int64) (r Request, err error) {
	var d store.Job
	err = e.read(ctx, func(t *txn) error {
		d, err = t.Job(id)
		return err
	})
	if err == nil {
		r, _, err = e.request(ctx, d)
	}
	return r, err
}

// History returns up to limit deployments of a module, or of all if module is "", those of the queue included, the latest
// first. Their IDs are below before, unless that is 0.
func (e *Engine) History(ctx context.Context, module string, before int64, limit int) (all []store.Job, err error) {
	err = e.read(ctx, func(t *txn) error {
		ended := 0
		for d, err := range t.deployments() {
			if err != nil {
				return err
			}
			if module != "" && d.Module != module || before != 0 && d.ID >= before {
				continue
			}
			if d.State.IsFinal() {
				ended++
			}
			if ended > limit {
				break
			}
			all = append(all, d)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b store.Job) int { return cmp.Compare(b.ID, a.ID) })
	return all[:min(limit, len(all))], err
}

// Log returns the stored events of a deployment, oldest first.
func (e *Engine) Log(ctx context.Context, id int64) (all []store.Event, err error) {
	err = e.read(ctx, func(t *txn) error {
		for event, err := range t.log(id, 0) {
			if err != nil {
				return err
			}
			all = append(all, event)
		}
		return nil
	})
	return all, err
}

// log returns the events of a deployment, or of all if id is 0, after one with a serial, oldest first.
func (t *txn) log(id, after int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for after := after; ; {
			events, err := t.Events(t.engine.Environment, id, after, page)
			if err != nil {
				yield(store.Event{}, err)
				return
			}
			for _, event := range events {
				if after = event.Serial; !yield(event, nil) {
					return
				}
			}
			if len(events) < page {
				return
			}
		}
	}
}

// deployments returns the deployments of the environment: those of the queue, and then the others, the latest first.
func (t *txn) deployments() iter.Seq2[store.Job, error] {
	return func(yield func(store.Job, error) bool) {
		rows, err := t.Queue(t.engine.Environment)
		for before := int64(0); ; {
			for _, d := range rows {
				if !yield(d, nil) {
					return
				}
			}
			if err == nil {
				rows, err = t.History(t.engine.Environment, before, page)
			}
			switch {
			case err != nil:
				yield(store.Job{}, err)
				return
			case len(rows) == 0:
				return
			}
			before = rows[len(rows)-1].ID
		}
	}
}

// page is how many rows of the history are read at once.
const page = 1000
