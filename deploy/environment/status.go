package environment

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Outline returns the current resource graph. Resources may be missing from the newest versions, but
// [graph.Version.Len] counts them.
func (e *Environment) Outline(ctx context.Context) (g *graph.Graph, err error) {
	err = e.Journal.Read(ctx, func(t *journal.Tx) (err error) {
		g, err = t.Outline()
		return err
	})
	return g, err
}

// Status is a queued deployment.
type Status struct {
	store.Job
	// Name is the display name, such as "a[5]".
	Name string
	// Waits lists the deployments that this one waits for, or would wait for if retried, with the reasons.
	Waits []queue.Wait
	// Asks lists the resources that [run.Engine.Resolve] accepts an answer for.
	Asks []urn.URN
	// Ready is set if this process can run the deployment now: it does not wait for others, and no other process holds
	// its lease.
	Ready bool
	// Held is set if another process, the Owner, holds the deployment until Expires by the store's clock.
	Held bool
}

// Status returns the status of all unfinished deployments, in queue order.
func (e *Environment) Status(ctx context.Context) (all []Status, err error) {
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		rows, err := t.Queue(e.Environment)
		if err != nil {
			return err
		}
		g, err := t.Outline()
		if err != nil {
			return err
		}
		q := e.Entries(t.Now(), rows)
		all = nil
		for i, d := range rows {
			s := Status{Job: d, Name: job.Name(d), Waits: q.Waits(i, g), Ready: e.IsReady(t.Now(), d, rows, g), Held: e.IsHeld(t.Now(), d)}
			if d.State == store.Ask || d.State == store.Failed {
				steps, err := t.Steps(d.ID)
				if err != nil {
					return err
				}
				for _, row := range steps {
					if run.Asks(row) {
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
