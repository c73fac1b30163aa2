package run

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/store"
)

// NewEnvironment adds an environment to a store.
func NewEnvironment(ctx context.Context, s store.Store, e store.Environment) error {
	return s.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Environment(e.Name)
		switch {
		case err == nil:
			return &RefusedError{fmt.Sprintf("the environment %s already exists: choose another name", e.Name)}
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		return tx.PutEnvironment(e)
	})
}

// RefusedError reports that a deployment or an environment is in a state in which the request is not possible. Nothing has
// changed.
type RefusedError struct{ Message string }

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// Graph returns the resource graph as it is.
func (e *Engine) Graph(ctx context.Context) (g *graph.Graph, err error) {
	err = e.read(ctx, func(t *txn) (err error) {
		g, err = t.Graph()
		return err
	})
	return g, err
}

// Status is a deployment of the queue.
type Status struct {
	store.Deployment
	// Name is what users call the deployment, such as "a[5]".
	Name string
	// Waits has the deployments that it waits for, with reasons. If it failed or asks, a retry would wait for them.
	Waits []queue.Wait
	// Ready is set if this process can run it now: it waits for none, and no other process holds its lease.
	Ready bool
}

// Status returns the deployments that have not ended, in the order of the queue.
func (e *Engine) Status(ctx context.Context) (all []Status, err error) {
	err = e.read(ctx, func(t *txn) error {
		rows, g, err := t.queue()
		if err != nil {
			return err
		}
		q := entries(rows)
		for i, d := range rows {
			all = append(all, Status{Deployment: d, Name: name(d), Waits: q.Waits(i, g), Ready: e.isReady(d, rows, g)})
		}
		return nil
	})
	return all, err
}

// Find returns the deployment with a number, what it was asked to do, and the effects of the plan that was agreed to. The
// error is [store.ErrNotFound] if there is none.
func (e *Engine) Find(ctx context.Context, number int64) (d store.Deployment, r Request, shown []plan.Effect, err error) {
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
	if err == nil {
		r, shown, err = e.request(ctx, d)
	}
	return d, r, shown, err
}

// deployments returns the deployments of the environment: those of the queue, and then the others, the latest first.
func (t *txn) deployments() iter.Seq2[store.Deployment, error] {
	return func(yield func(store.Deployment, error) bool) {
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
				yield(store.Deployment{}, err)
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
