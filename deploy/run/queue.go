package run

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
)

func entry(d store.Job) queue.Entry {
	return queue.Entry{
		ID: graph.Deployment(d.Number), Module: d.Module, Uses: d.Uses,
		Running: d.State == store.Running || d.State == store.Aborting,
		Failed:  d.State == store.Failed || d.State == store.Ask, Asks: d.State == store.Ask, Destroys: d.Kind == store.Destroy,
	}
}

// Entries returns the queue entries of unfinished deployments, read by a transaction at the time now.
func (e *Engine) Entries(now time.Time, rows []store.Job) queue.Queue {
	q := make(queue.Queue, len(rows))
	for i, d := range rows {
		q[i] = entry(d)
		q[i].Interrupted = q[i].Running && e.jobs.IsGone(now, d)
	}
	return q
}

// entryOf returns the queue entry that a request would have.
func (e *Engine) entryOf(r Request, number int64) (queue.Entry, error) {
	if r.Desired == nil {
		return queue.Entry{ID: graph.Deployment(number), Module: r.Destroy, Destroys: true}, nil
	}
	m, err := graph.ModuleOf(r.Desired, e.Environment)
	if err != nil {
		return queue.Entry{}, plan.AsError(err)
	}
	var uses []string
	for _, u := range m.Uses {
		uses = append(uses, u.Module)
	}
	return queue.Entry{ID: graph.Deployment(number), Module: m.Name, Uses: slices.Compact(uses)}, nil
}

// RequestOf returns the request and the approved effects of a deployment. Both are empty for edits, and the request of a
// cleanup has at most a policy.
func (e *Engine) RequestOf(ctx context.Context, d store.Job) (Request, []plan.Effect, error) {
	var c store.Content
	err := e.Journal.Read(ctx, func(t *journal.Tx) (err error) {
		c, err = t.Content(d.ID)
		return err
	})
	if err != nil || c.Request == "" { // an edit, or a cleanup without a policy
		return Request{}, nil, err
	}
	var r Request
	if err := json.Unmarshal([]byte(c.Request), &r); err != nil {
		return Request{}, nil, err
	}
	if d.Kind == store.Cleanup {
		return r, nil, nil
	}
	if c.Desired != "" {
		if r.Desired, err = e.Journal.Codec().ParseDesired(c.Desired); err != nil {
			return Request{}, nil, err
		}
	}
	shown, err := e.Journal.Codec().ParseEffects(c.Shown)
	return r, shown, err
}

// queued is a request queued by this process, its plan, and the actual state that was planned against.
type queued struct {
	request Request
	plan    *plan.Plan
	reading *reading
}

// Queue queues requests with their approved plans in a single transaction. A request replaces a failed deployment of
// its module. Queue returns a *[plan.Error] if a plan violates the policy or if modules would form a dependency cycle.
func (e *Engine) Queue(ctx context.Context, all ...Planned) ([]store.Job, error) {
	rows, contents := make([]store.Job, len(all)), make([]store.Content, len(all))
	for i, one := range all {
		err := policy.Refusal(one.Findings)
		if err != nil {
			return nil, err
		}
		if rows[i], contents[i], err = e.row(one); err != nil {
			return nil, err
		}
	}
	var added []store.Job
	err := e.Journal.Write(ctx, func(t *journal.Tx) error {
		added = slices.Clone(rows)
		for i := range added {
			if err := e.add(t, &added[i], all[i].request, contents[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, d := range added {
		q := queued{all[i].request, all[i].Plan, all[i].reading}
		if len(all[i].Waits) > 0 {
			q.reading = nil // By its turn, more may have been changed outside Lumi.
		}
		e.queued.Store(d.ID, q)
	}
	return added, nil
}

// row encodes a request and its approved plan.
func (e *Engine) row(p Planned) (d store.Job, c store.Content, err error) {
	d = store.Job{Environment: e.Environment, Kind: store.Deploy, Owner: e.Owner}
	if p.request.Desired == nil {
		d.Kind = store.Destroy
	} else if c.Desired, err = e.Journal.Codec().Desired(p.request.Desired); err != nil {
		return d, c, err
	}
	if c.Shown, err = e.Journal.Codec().Effects(p.Effects()); err != nil {
		return d, c, err
	}
	request, err := json.Marshal(p.request)
	c.Request = string(request)
	return d, c, err
}

// cleanupContent returns the content of cleanups that obey a policy.
func cleanupContent(policy string) (c store.Content, err error) {
	if policy == "" {
		return c, nil
	}
	request, err := json.Marshal(Request{Policy: policy})
	return store.Content{Request: string(request)}, err
}

// Sort sorts requests by dependencies. A module comes after the modules it uses or, if it is destroyed, after its
// users. Sort does not report cycles; [Engine.Plan] does.
func (e *Engine) Sort(ctx context.Context, requests []Request) ([]Request, error) {
	g, err := e.Graph(ctx)
	if err != nil {
		return nil, err
	}
	var all []queue.Entry
	for _, r := range requests {
		one, err := e.entryOf(r, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	needs := func(yield func(int32, int32) bool) {
		for i, one := range all {
			for j, other := range all {
				needed := requests[i].Desired != nil && slices.Contains(one.Uses, other.Module) ||
					requests[i].Desired == nil && slices.Contains(g.Uses(other.Module), one.Module)
				if needed && !yield(int32(i), int32(j)) {
					return
				}
			}
		}
	}
	var sorted []Request
	for _, i := range dag.New(len(all), needs).PostOrder() {
		sorted = append(sorted, requests[i])
	}
	return sorted, nil
}

func (e *Engine) add(t *journal.Tx, d *store.Job, r Request, c store.Content) error {
	environment, err := t.Environment(e.Environment)
	if err != nil {
		return err
	}
	environment.Last++
	if err := t.PutEnvironment(environment); err != nil {
		return err
	}
	added, err := e.entryOf(r, environment.Last)
	if err != nil {
		return err
	}
	rows, g, err := t.QueueAndGraph()
	if err != nil {
		return err
	}
	_, replaced, err := e.Entries(t.Now(), rows).Add(added, g)
	if err != nil {
		return plan.AsError(err)
	}
	d.Number, d.Module, d.Uses = environment.Last, added.Module, added.Uses
	d.Expires = t.Expires()
	if replaced != nil && d.Kind != store.Destroy {
		d.Place = place(rows, added.Module)
	}
	if err := t.Add(d, c); err != nil {
		return err
	}
	for _, old := range rows {
		if replaced != nil && job.Name(old) == replaced.Name() {
			old.Fence++
			// The next deployment to run settles the steps.
			heir := d.ID
			if i := slices.IndexFunc(rows, func(o store.Job) bool {
				return o.Module == old.Module && o.Kind != store.Cleanup && o.State == store.Wait
			}); i >= 0 {
				heir = rows[i].ID
			}
			if err := t.MoveSteps(old.ID, heir); err != nil {
				return err
			}
			if err := t.DeleteTasks(old.ID); err != nil {
				return err
			}
			return t.Move(&old, store.Superseded, "by "+job.Name(*d))
		}
	}
	return nil
}

// place returns the queue position for a deployment that replaces a failed one: the position of the module's last
// deployment.
func place(rows []store.Job, module string) (place int64) {
	for _, d := range rows {
		if d.Module == module && d.Kind != store.Cleanup {
			place = d.Place
		}
	}
	return place
}
