package environment

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Found is the result of [Environment.Find].
type Found struct {
	store.Job
	Request  run.Request
	Approved []plan.Effect
}

// Find returns a deployment with its request and approved effects. It returns [store.ErrNotFound] if there is no
// deployment with that number.
func (e *Environment) Find(ctx context.Context, number int64) (f Found, err error) {
	if f.Job, err = e.Deployment(ctx, number); err == nil {
		f.Request, f.Approved, err = e.RequestOf(ctx, f.Job)
	}
	return f, err
}

// Deployment returns the deployment with the given number, or [store.ErrNotFound] if there is none.
func (e *Environment) Deployment(ctx context.Context, number int64) (d store.Job, err error) {
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		for found, err := range t.Deployments() {
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

// Request returns the request of the deployment with the given ID.
func (e *Environment) Request(ctx context.Context, id int64) (r run.Request, err error) {
	var d store.Job
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		d, err = t.Job(id)
		return err
	})
	if err == nil {
		r, _, err = e.RequestOf(ctx, d)
	}
	return r, err
}

// History returns up to limit deployments of a module, or of all modules if module is "", most recent first. It
// includes queued deployments. If before is not 0, only deployments with lower IDs are returned.
func (e *Environment) History(ctx context.Context, module string, before int64, limit int) (all []store.Job, err error) {
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		ended := 0
		all = nil
		for d, err := range t.Deployments() {
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

// Log returns the stored events of the deployment with the given ID, oldest first.
func (e *Environment) Log(ctx context.Context, id int64) (all []store.Event, err error) {
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		all = nil
		for event, err := range t.Log(id, 0) {
			if err != nil {
				return err
			}
			all = append(all, event)
		}
		return nil
	})
	return all, err
}
