package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// makeCall makes a call and retries it until its outcome is known or the options allow no further attempt. uncertain is
// set if an earlier attempt has an unknown outcome.
func (x *execution) makeCall(ctx context.Context, c *call, uncertain bool) outcome {
	x.setCalled(c.row.Number)
	var failure error
	var crashed crashes
	before := c.attempts
	for attempt := before; ; attempt++ {
		c.attempts = attempt + 1
		if attempt > before {
			delay := x.delay(attempt, failure)
			late := !time.Now().Add(delay).Before(x.deadline(c))
			if late && uncertain && c.old == nil { // There may be time for a lookup, but not for an attempt.
				o, known := x.find(ctx, c)
				if known && o.state != store.Failed {
					return o
				}
				uncertain = !known
			}
			if late && !errors.Is(failure, context.DeadlineExceeded) {
				failure = x.outOfTime(c, fmt.Errorf("%d of %d attempts failed: %w", attempt, x.Retries+1, failure))
			}
			if reason := crashed.count(failure); reason != nil {
				return x.giveUp(ctx, c, uncertain || c.new == nil, provision.Mask(reason, x.secrets(c.input())...))
			}
			if late || attempt > x.Retries {
				return x.giveUp(ctx, c, uncertain || c.new == nil, failure)
			}
			if err := x.waitForRetry(ctx, c, delay, attempt, failure); err != nil {
				return outcome{state: stateAfter(uncertain, store.Failed), err: err}
			}
		}
		if uncertain && c.old == nil {
			o, known := x.find(ctx, c)
			switch {
			case known && o.state == store.Failed && !c.settles:
				uncertain = false // The resource was not created, so it is safe to create it.
			case known:
				return o
			case o.err != nil:
				failure = o.err
				continue
			}
		}
		if attempt > before || c.settles {
			if err := x.recordStart(ctx, c, attempt == before); err != nil {
				return outcome{state: stateAfter(uncertain, store.Failed), err: err}
			}
		}
		o := x.try(ctx, c)
		switch {
		case o.state == store.Unknown:
			uncertain = true
		case o.state == store.Done || o.resource != nil && (!uncertain || c.old == nil):
			return o // The result of a failed update may be incomplete after an uncertain attempt.
		case isTransient(o.err):
		case uncertain || c.new == nil: // A failed deletion may have deleted the resource.
			return x.giveUp(ctx, c, true, o.err)
		default:
			return o
		}
		failure = o.err
	}
}

// stateAfter returns UNKNOWN if the outcome of a call is uncertain, and state otherwise.
func stateAfter(uncertain bool, state store.State) store.State {
	if uncertain {
		return store.Unknown
	}
	return state
}

// try makes a single attempt at a call. The outcome is UNKNOWN if the attempt may have had an effect.
func (x *execution) try(ctx context.Context, c *call) outcome {
	limited, cancel := context.WithDeadline(x.Calls, x.deadline(c))
	defer cancel()
	var next graph.Resource
	if c.new != nil {
		next = *c.new
	}
	var err error
	switch {
	case c.new != nil && c.new.IsRead():
		var read *graph.Resource
		if read, err = x.plan.Read(limited, c.new, c.references); err == nil {
			next = *read
		}
	case c.new == nil:
		err = c.caller.Delete(limited, provision.DeleteRequest{Existing: existing(c.old, c.references), Token: c.row.Token})
	case c.old == nil:
		next.ID, next.Outputs, err = c.caller.Create(limited, createRequest(c))
	default:
		next.Outputs, err = c.caller.Update(limited, provision.UpdateRequest{InspectChangeRequest: plan.InspectChangeRequest{
			Desired: plan.Desired{URN: c.new.URN, Properties: c.new.Checked, References: c.references},
			ID:      c.old.ID, Old: c.before(),
		}, Token: c.row.Token})
	}
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = x.outOfTime(c, err)
	}
	var partial *provision.PartialError
	switch {
	case err == nil && c.new == nil:
		return outcome{state: store.Done}
	case err == nil:
		if a, err := c.caller.Abilities(ctx, next.Type()); err == nil {
			next.Plugin = a.Version
		}
		return outcome{state: store.Done, resource: &next}
	case c.new != nil && errors.As(err, &partial) && cmp.Or(next.ID, partial.ID) != "":
		next.ID, next.Referents = cmp.Or(next.ID, partial.ID), c.referents(c.old)
		next.Inputs, next.Checked, next.Outputs = lumigl.Value{}, partial.Inputs, partial.Outputs
		if c.old != nil {
			next.Checked, next.Unread = stillUnread(next.Checked, c.old)
			next.Sources = slices.Compact(slices.Sorted(slices.Values(slices.Concat(next.Sources, c.old.Sources))))
		}
		again := isTransient(err) || errors.As(err, new(*lumi.UncertainError))
		return outcome{state: store.Failed, resource: &next, err: err, again: again}
	case partial != nil, errors.As(err, new(*lumi.UncertainError)): // A resource may exist, but its ID is unknown.
		return outcome{state: store.Unknown, err: err}
	}
	return outcome{state: store.Failed, err: err}
}

func createRequest(c *call) provision.CreateRequest {
	return provision.CreateRequest{
		Desired: plan.Desired{URN: c.new.URN, Properties: c.new.Checked, References: c.references}, Token: c.row.Token,
	}
}

func existing(r *graph.Resource, references map[urn.URN]plan.Reference) plan.Existing {
	return plan.Existing{URN: r.URN, ID: r.ID, Properties: r.Properties(), References: references}
}

// before returns the old properties of a changed resource. It omits references to replaced resources so that the
// provider notices the change, since the replacements have the same URNs.
func (c *call) before() lumigl.Value {
	all, was := c.old.Before(c.new.Checked), c.old.ReferentIDs()
	for name, v := range c.new.Checked.Members() {
		for target := range v.References() {
			if u := target.URN(); was[u] != c.references[u].ID {
				all = all.With(name, lumigl.Value{})
			}
		}
	}
	return all
}

// referents returns the Referents of the resource that the call creates or changes. After a partial failure, old must
// be set to include the old Referents, which may still apply.
func (c *call) referents(old *graph.Resource) lumigl.Value {
	all := graph.ReferentsOf(c.new.Checked, func(u urn.URN) string { return c.references[u].ID })
	if old != nil {
		for id, v := range old.Referents.Members() {
			if !all.Get(id).Exists() {
				all = all.With(id, v)
			}
		}
	}
	return all
}

// isTransient reports whether err is a temporary failure of a call that had no effect.
func isTransient(err error) bool {
	return errors.As(err, new(*lumi.RetryError)) || errors.Is(err, context.DeadlineExceeded) || provision.IsUnavailable(err)
}

// find determines whether an uncertain creation took place without repeating it. known reports whether the outcome is
// known. If the creation is idempotent and can be repeated, find returns known = false and no error.
func (x *execution) find(ctx context.Context, c *call) (o outcome, known bool) {
	limited, cancel := context.WithTimeout(x.Calls, x.timeout(c))
	defer cancel()
	id := c.new.ID
	if id == "" {
		a, err := c.caller.Abilities(limited, c.new.Type())
		switch {
		case err != nil:
			return outcome{err: err}, false
		case a.Idempotent:
			return outcome{}, false
		case !a.Find:
			return outcome{state: store.Unknown, err: question(c, "it is unknown whether it was created")}, true
		}
		id, err = c.caller.Find(limited, createRequest(c))
		if errors.Is(err, lumi.ErrNotFound) {
			return outcome{state: store.Failed, err: errors.New("it was not created")}, true
		} else if err != nil {
			return outcome{err: err}, false
		}
	}
	r, err := x.look(limited, c, id)
	switch {
	case errors.Is(err, lumi.ErrNotFound) && c.new.ID != "":
		return outcome{state: store.Unknown, err: question(c, fmt.Sprintf("resource %q not found", id))}, true
	case err != nil:
		return outcome{err: err}, false
	}
	return outcome{state: store.Done, resource: r, again: true}, true
}

// question returns an *[AskError] that asks the user whether the resource was created.
func question(c *call, why string) error {
	return &AskError{fmt.Sprintf("%s: %s", c.new.URN, why)}
}

// look reads the resource that a call created or changed. Properties that cannot be read are listed in Unread.
func (x *execution) look(ctx context.Context, c *call, id string) (*graph.Resource, error) {
	inputs, outputs, err := c.caller.Get(ctx, plan.Existing{URN: c.new.URN, ID: id, References: c.references, Graph: x.graph})
	if err != nil {
		return nil, err
	}
	all, err := c.caller.Describe(ctx, []tokens.Type{c.new.Type()})
	if err != nil {
		return nil, err
	}
	r := *c.new
	r.ID, r.Inputs, r.Checked, r.Outputs = id, lumigl.Value{}, inputs, outputs
	r.Checked, r.Unread = writeOnlyNames(r.Checked, c.new.Checked, all[0].Replaces)
	if c.old != nil {
		var more []string
		r.Checked, more = writeOnlyNames(r.Checked, c.old.Checked, all[0].Replaces)
		r.Unread = append(r.Unread, more...)
	}
	return &r, nil
}

// stillUnread completes the properties of a resource after a partially failed update with the properties that were
// unread before. It also returns the names of the added properties.
func stillUnread(properties lumigl.Value, old *graph.Resource) (lumigl.Value, []string) {
	var left []lumigl.Member
	for _, name := range old.Unread {
		left = append(left, lumigl.Member{Key: name, Value: old.Checked.Get(name)})
	}
	return writeOnlyNames(properties, lumigl.ObjectOf(left...), nil)
}

// writeOnlyNames returns properties completed with missing ones from others, and the names of the added properties that
// may not be set. Properties that cannot be changed in place are known to be set.
func writeOnlyNames(properties, others lumigl.Value, replaces []string) (all lumigl.Value, names []string) {
	for name, v := range others.Members() {
		if properties.Get(name).Exists() {
			continue
		}
		if properties = properties.With(name, v); !slices.Contains(replaces, name) {
			names = append(names, name)
		}
	}
	return properties, names
}

// giveUp returns the outcome of a call that is not retried. If an earlier attempt may have had an effect, giveUp first
// reads the resource.
func (x *execution) giveUp(ctx context.Context, c *call, uncertain bool, failure error) outcome {
	o := outcome{state: stateAfter(uncertain, store.Failed), err: failure}
	switch {
	case !uncertain:
		return o
	case c.old == nil:
		o.err = fmt.Errorf("%w (it is unknown whether it was created)", failure)
		return o
	}
	limited, cancel := context.WithTimeout(x.Calls, x.timeout(c))
	defer cancel()
	if c.new == nil {
		_, _, err := c.caller.Get(limited, existing(c.old, c.references))
		switch {
		case err == nil:
			o.state = store.Failed
		case errors.Is(err, lumi.ErrNotFound):
			o = outcome{state: store.Done}
		}
		return o
	}
	r, err := x.look(limited, c, c.old.ID)
	switch {
	case errors.Is(err, lumi.ErrNotFound):
		o.state = store.Failed
	case err == nil:
		o.state, o.resource = store.Failed, r
	}
	return o
}

// delay returns the delay before the next attempt, which is requested by the provider or determined by exponential
// backoff.
func (x *execution) delay(attempt int, failure error) time.Duration {
	delay := min(x.Backoff<<min(attempt-1, 10), time.Minute)
	if retry := (*lumi.RetryError)(nil); errors.As(failure, &retry) {
		delay = cmp.Or(retry.After, delay)
	}
	return delay
}

// waitForRetry records a retry and waits for its delay. It returns an error if the execution is interrupted.
func (x *execution) waitForRetry(ctx context.Context, c *call, delay time.Duration, attempt int, failure error) error {
	if err := x.Interrupted(ctx); err != nil {
		return err
	}
	message := fmt.Sprintf("attempt %d of %d in %s: %v", attempt+1, x.Retries+1, delay.Round(time.Millisecond), failure)
	err := x.record(ctx, func(t *journal.Tx, d store.Job) error {
		t.Note(d, store.Event{
			Task: c.row.Task, URN: c.row.URN, Source: sourceOf(c.new), Kind: c.row.Kind, State: store.Started, Message: message,
		})
		return nil
	})
	if err != nil {
		return err
	}
	return x.Sleep(ctx, delay)
}

// outOfTime returns the error for a call that timed out.
func (x *execution) outOfTime(c *call, err error) error {
	return fmt.Errorf("timed out after %s (see the option \"timeouts\"): %w", x.timeout(c), err)
}

// input returns the call's resources as input for a provisioner, which is used to mask secrets.
func (c *call) input() plan.Input {
	return plan.Input{New: []plan.Vertex{{Resource: c.new}}, Old: []plan.Vertex{{Resource: c.old}}}
}
