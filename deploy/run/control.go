package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// CleanUp queues a cleanup of a module and returns its ID. The cleanup also retries failed deletions.
func (e *Engine) CleanUp(ctx context.Context, module string) (id int64, err error) {
	c, err := cleanupContent(e.Policy.Text())
	if err != nil {
		return 0, err
	}
	err = e.Journal.Write(ctx, func(t *journal.Tx) error {
		id, err = t.QueueCleanup(module, c)
		return err
	})
	return id, err
}

// Retry queues a deployment that has failed or is waiting for an answer. Call [Engine.Run] to run it. It returns a
// *[job.RefusedError] in any other state.
func (e *Engine) Retry(ctx context.Context, id int64) error {
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil {
			return err
		}
		if d.State != store.Failed && d.State != store.Ask {
			return job.RefuseState(d, "retried")
		}
		return t.Claim(&d, store.Wait)
	})
}

// CallAgain makes a deployment that has started forget the results of its look-ups and calls, so that it makes them again
// when it continues.
func (e *Engine) CallAgain(ctx context.Context, id int64) error {
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil {
			return err
		}
		c, err := t.Content(id)
		if err != nil || c.Shown == "" { // a cleanup
			return err
		}
		if c.Shown, err = e.Journal.Codec().WithoutReads(c.Shown); err != nil {
			return err
		}
		g, err := t.Graph()
		if err != nil {
			return err
		}
		unread := map[*graph.Resource]*graph.Resource{}
		for _, v := range g.Versions(d.Module) {
			for r := range v.Resources() {
				if v.Partial && r.IsRead() {
					other := *r // The deletions of dependents still need the old results, and the version before may have them, too.
					other.Checked, other.Outputs, unread[r] = r.Properties(), lumigl.Value{}, &other
				}
			}
		}
		return cmp.Or(t.PutContent(id, c), t.SetGraph(g.Refresh(unread)))
	})
}

// Abort requests that a deployment stop before its next step and that the resources it created be deleted by a cleanup.
// Call [Engine.Run] to carry out the request unless another process is running the deployment. A deployment that has
// not started is CANCELLED immediately.
func (e *Engine) Abort(ctx context.Context, id int64) error {
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil {
			return err
		}
		switch d.State {
		case store.Running, store.Aborting:
			d.Abort = true
			return t.PutJob(d)
		case store.Wait, store.Failed, store.Ask:
			if d.Kind == store.Cleanup {
				return job.RefuseState(d, "aborted")
			}
		default:
			return job.RefuseState(d, "aborted")
		}
		g, err := t.Graph()
		if err != nil {
			return err
		}
		begun, err := t.Steps(id)
		if err != nil {
			return err
		}
		d.Abort = true
		isPartial := func(v *graph.Version) bool { return v.Partial }
		if d.State == store.Wait && len(begun) == 0 && !slices.ContainsFunc(g.Versions(d.Module), isPartial) {
			return t.Revoke(&d, store.Canceled)
		}
		return t.Revoke(&d, store.Aborting)
	})
}

// Resolve answers the question of whether an uncertain creation took place, and queues the deployment again. resource
// is the ID of the created resource, or "" if it was not created.
func (e *Engine) Resolve(ctx context.Context, id int64, u urn.URN, resource string) error {
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil {
			return err
		}
		rows, err := t.Steps(id)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(rows, func(row store.Step) bool { return row.URN == string(u) && Asks(row) })
		if at < 0 || d.State != store.Ask && d.State != store.Failed {
			return job.Refuse("%s is not waiting for an answer about %s", job.Name(d), u)
		}
		row := rows[at]
		if row.New, err = e.answer(row.New, resource); err != nil {
			return err
		}
		if resource == "" {
			row.New = ""
			if err := job.Steps.Move(&row.State, store.Failed); err != nil {
				return err
			}
		}
		if err := t.PutStep(row); err != nil {
			return err
		}
		return t.Claim(&d, store.Wait)
	})
}

// Asks reports whether a step is a creation with an unknown outcome, about which the user must be asked.
func Asks(row store.Step) bool {
	return row.OldKey == "" && row.State == store.Unknown && row.Kind != plan.Read.String()
}

// answer decodes a resource, sets its ID, and encodes it again.
func (e *Engine) answer(text, id string) (string, error) {
	all, err := e.Journal.Codec().Resources([]string{text})
	if err != nil {
		return "", err
	}
	r := *all[0]
	r.ID = id
	return e.Journal.Codec().Resource(&r)
}
