package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/run/execute"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

var errNotReady = errors.New("the deployment cannot be claimed")

// execute claims a deployment and runs it. It returns errNotReady if the deployment cannot be claimed yet.
func (e *Engine) execute(ctx context.Context, id int64) error {
	h, err := e.claim(ctx, id)
	if err != nil {
		return err
	}
	err = execute.Run(ctx, h, e.Journal, &order{Engine: e, d: h.Job}, execute.Options{
		Parallelism: e.Parallelism, StopOnError: e.StopOnError, Timeout: e.Timeout, Retries: e.Retries, Backoff: e.Backoff, Poll: e.Poll,
		Provisioners: e.Provisioners,
	})
	if errors.Is(err, store.ErrFenced) {
		return errNotReady
	}
	return err
}

// claim takes the lease of a deployment. It returns errNotReady if the deployment cannot be claimed yet.
func (e *Engine) claim(ctx context.Context, id int64) (h *job.Held, err error) {
	sent := time.Now()
	err = e.Journal.Write(ctx, func(t *journal.Tx) error {
		d, err := t.Job(id)
		if err != nil {
			return err
		}
		rows, g, err := t.QueueAndGraph()
		if err != nil {
			return err
		}
		if !e.IsReady(t.Now(), d, rows, g) {
			return errNotReady
		}
		// Until the deployment ends, resources to be deleted still refer to modules used by older versions.
		d.Uses = slices.Compact(slices.Sorted(slices.Values(slices.Concat(d.Uses, g.Uses(d.Module)))))
		to := store.Running
		if d.Abort || d.State == store.Aborting {
			to = store.Aborting
		}
		if err := t.Claim(&d, to); err != nil {
			return err
		}
		h = e.jobs.Hold(d, sent)
		return nil
	})
	return h, err
}

// IsReady reports whether this process can claim a deployment. rows is the queue, read by a transaction at the time now.
func (e *Engine) IsReady(now time.Time, d store.Job, rows []store.Job, g *graph.Graph) bool {
	switch d.State {
	case store.Wait:
		if d.Owner != e.Owner && !e.jobs.IsFree(now, d) {
			return false
		}
		i := slices.IndexFunc(rows, func(o store.Job) bool { return o.ID == d.ID })
		return i >= 0 && len(e.Entries(now, rows).Waits(i, g)) == 0
	case store.Running, store.Aborting:
		return e.jobs.IsFree(now, d)
	default:
		return false
	}
}

// IsHeld reports whether another process holds a deployment, which was read by a transaction at the time now.
func (e *Engine) IsHeld(now time.Time, d store.Job) bool {
	return d.Owner != e.Owner && !e.jobs.IsGone(now, d)
}

// order implements [execute.Planner] for a deployment.
type order struct {
	*Engine
	d       store.Job
	request Request
	// first is the approved plan if this process queued the deployment, or nil.
	first    *plan.Plan
	reading  *reading
	approved []plan.Effect
}

// Load implements [execute.Planner].
func (o *order) Load(ctx context.Context) (w execute.Order, err error) {
	known, _ := o.queued.LoadAndDelete(o.d.ID)
	here, _ := known.(queued)
	if o.request, o.first, o.reading = here.request, here.plan, here.reading; o.first == nil {
		if o.request, o.approved, err = o.RequestOf(ctx, o.d); err != nil {
			return w, err
		}
	}
	w = execute.Order{
		Desired: o.request.Desired, Configuration: o.request.configuration(), Caller: o.caller(o.d.Module, o.request),
	}
	if o.request.Policy != "" {
		if w.Policy, err = policy.Parse([]byte(o.request.Policy), policy.FileName); err != nil {
			return w, err
		}
	}
	w.Cleanup, err = cleanupContent(o.request.Policy)
	return w, err
}

// Actual implements [execute.Planner].
func (o *order) Actual(ctx context.Context, g *graph.Graph) (now func(*graph.Graph) *graph.Graph, err error) {
	if !o.request.Refresh {
		return nil, nil
	}
	if o.reading == nil || o.reading.stored != g {
		if o.reading, err = o.read(ctx, g, g, o.d.Module, o.request); err != nil {
			return nil, err
		}
	}
	return o.reading.apply, nil
}

// Plan implements [execute.Planner]. It returns the approved plan if that was made for g.
func (o *order) Plan(ctx context.Context, g *graph.Graph) (*plan.Plan, error) {
	if o.first != nil && o.first.IsFor(g, graph.Deployment(o.d.Number)) {
		return o.first, nil
	}
	if o.first != nil {
		o.approved = o.first.Effects()
	}
	p, err := o.planFor(ctx, g, entry(o.d), o.request, o.approved)
	if err != nil {
		return nil, err
	}
	if err := p.Continues(o.approved); err != nil {
		return nil, &execute.AskError{Message: err.Error()}
	}
	return p, nil
}

// Renamed implements [execute.Planner].
func (o *order) Renamed(ctx context.Context) (map[tokens.Type][]graph.Renamed, error) {
	return o.renamed(ctx, o.d.Module, o.request)
}

// HandlerOf implements [execute.Planner].
func (o *order) HandlerOf(t tokens.Type) string { return o.provisioner(t) }

// CheckHandler implements [execute.Planner].
func (o *order) CheckHandler(r *graph.Resource) error { return o.checkHandler(r) }
