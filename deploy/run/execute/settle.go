package execute

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// settle determines the outcomes of calls started by an earlier executor and adds all results to the resource graph.
func (x *execution) settle(ctx context.Context) error {
	left, err := x.unsettled(ctx)
	if err != nil || len(left) == 0 {
		return err
	}
	var errs []error
	asks := false
	for _, s := range left {
		err := x.settleStep(ctx, s)
		if errors.Is(err, job.ErrStopped) || errors.Is(err, store.ErrFenced) {
			return err
		}
		if errors.As(err, new(*AskError)) { // an AskError already names the resource
			asks = true
		} else if err != nil {
			err = fmt.Errorf("%s: %w", s.URN, err)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); asks {
		return &AskError{err.Error()}
	} else if err != nil {
		return err
	}
	_, err = x.unsettled(ctx)
	return err
}

// unsettled settles the tasks of provisioners, folds results into the resource graph, and returns the steps without a
// result.
func (x *execution) unsettled(ctx context.Context) (left []stored, err error) {
	if err := x.settleProvisioners(ctx); err != nil {
		return nil, err
	}
	err = x.record(ctx, func(t *journal.Tx, d store.Job) error {
		g, err := x.fold(t)
		if err != nil {
			return err
		}
		x.graph = g
		if left, err = x.stored(t, g); err != nil || len(left) > 0 {
			return err
		}
		return t.DeleteTasks(d.ID)
	})
	return left, err
}

// isRepeatable reports whether a call for a resource of type t may be repeated while an earlier executor may still be
// making it, because the type's provider recognizes the token.
func (x *execution) isRepeatable(ctx context.Context, c *call, t tokens.Type) bool {
	if c.row.Token == "" || c.old == nil && (c.row.OldKey != "" || c.new.ID != "") {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, x.timeout(c))
	defer cancel()
	a, err := c.caller.Abilities(limited, t)
	if c.old == nil {
		return err == nil && a.Idempotent // The settling call reports the error.
	}
	return err == nil && a.Repeatable
}

func (x *execution) settleStep(ctx context.Context, s stored) error {
	if s.new != nil && s.new.IsRead() { // It changes nothing, so it is simply read again.
		s.State, s.New = store.Failed, ""
		return x.record(ctx, func(t *journal.Tx, _ store.Job) error { return t.PutStep(s.Step) })
	}
	c := &call{row: s.Step, old: s.old, new: s.new, caller: x.Caller, settles: true}
	of := s.new
	if of == nil && s.old != nil {
		of, c.caller = s.old, x.callerOf(s.old)
	}
	isRepeated := of != nil && x.isRepeatable(ctx, c, of.Type())
	if !isRepeated {
		if err := x.awaitCall(ctx, s); err != nil {
			return err
		}
	}
	c.row.Token = cmp.Or(c.row.Token, rand.Text()) // An older version stored none for an update or a deletion.
	if of == nil {                                 // The vertex is no longer in the graph, so the deletion was recorded.
		return x.recordOutcome(ctx, c, outcome{state: store.Done})
	}
	for u, r := range x.graph.References(of) {
		if c.references == nil {
			c.references = map[urn.URN]plan.Reference{}
		}
		c.references[u] = plan.Reference{ID: r.ID, Properties: plan.Known(r.Properties())}
	}
	for u, id := range of.ReferentIDs() { // Referenced resources may have been moved or replaced since.
		if r := x.graph.WithID(u.Type(), id); r != nil && c.references[u].ID != id {
			if c.references == nil {
				c.references = map[urn.URN]plan.Reference{}
			}
			c.references[u] = plan.Reference{ID: id, Properties: plan.Known(r.Properties())}
		}
	}
	if c.row.State == store.Started {
		if err := job.Steps.Move(&c.row.State, store.Unknown); err != nil {
			return err
		}
	}
	o := x.makeCall(ctx, c, true)
	if isRepeated && c.old != nil && o.state == store.Failed && s.State == store.Started && !x.IsDead(s.Owner) {
		if err := x.awaitCall(ctx, s); err != nil { // The earlier attempt may still change the resource.
			return err
		}
		c.until = time.Time{}
		o = x.makeCall(ctx, c, true)
	}
	if o.state == store.Unknown && s.new == nil && (x.Job.Kind == store.Cleanup || x.isCommitted(x.graph)) {
		o.state = store.Failed // The new plan will contain the deletion again.
	}
	if err := x.recordOutcome(ctx, c, o); err != nil {
		return err
	}
	if o.state == store.Unknown {
		return o.err
	}
	return nil
}
