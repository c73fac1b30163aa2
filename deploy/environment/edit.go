package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Edit is a change to a module's state without provider calls.
type Edit struct {
	Module string
	// Message describes the edit in the history. Change may set it.
	Message string
	// Was and Now are the old and new URNs of a moved resource. [Environment.Rollback] uses them.
	Was, Now urn.URN
	// Change returns the edited resource graph. number is the edit's deployment number. Change may return a
	// *[graph.RefusedError].
	Change func(g *graph.Graph, number graph.Deployment) (*graph.Graph, error)
}

// Edit applies all edits in a single transaction and records each in the history as a finished deployment. It returns a
// *[job.RefusedError] if a deployment of the module or one of its users is queued, or if the environment has a key but
// the engine does not. If the module is not in the graph, any queued deployment causes an error.
func (e *Environment) Edit(ctx context.Context, edits ...Edit) error {
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		for i := range edits {
			if err := e.edit(t, &edits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *Environment) edit(t *journal.Tx, one *Edit) error {
	environment, err := t.Environment(e.Environment)
	if err != nil {
		return err
	}
	if environment.Key != "" && e.Journal.Key == nil { // The edit would lose hidden secrets.
		return job.Refuse("cannot change the state without the key of %s", environment.Name)
	}
	rows, g, err := t.QueueAndGraph()
	if err != nil {
		return err
	}
	for _, d := range rows {
		if d.Module == one.Module || slices.Contains(d.Uses, one.Module) || slices.Contains(g.Uses(d.Module), one.Module) || g.Newest(one.Module) == nil {
			return job.Refuse("%s is in the queue: wait until it ends, or abort it", job.Name(d))
		}
	}
	environment.Last++
	after, err := one.Change(g, graph.Deployment(environment.Last))
	if refused, ok := errors.AsType[*graph.RefusedError](err); ok {
		return job.Refuse("%s", refused)
	} else if err != nil {
		return err
	}
	if err := after.Check(); err != nil {
		return fmt.Errorf("internal error: the state would be invalid: %w", err)
	}
	now := t.Now()
	d := store.Job{
		Environment: environment.Name, Number: environment.Last, Module: one.Module, Kind: store.Edit, State: store.Done,
		Message: job.Brief(one.Message), Created: now, Ended: now,
	}
	if err := cmp.Or(t.PutEnvironment(environment), t.SetGraph(after)); err != nil {
		return err
	}
	if d.ID, err = t.AddJob(d, store.Content{}); err != nil {
		return err
	}
	if one.Was != "" {
		t.Note(d, store.Event{URN: string(one.Now), Was: string(one.Was), Kind: "move", State: store.Done})
	}
	t.Note(d, store.Event{State: store.Done, Message: one.Message})
	return nil
}
