package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Fault is a failure of a call. The zero Fault means success. In a script, it protects a call from random faults.
type Fault struct {
	When When
	How  How
}

// When determines how far a call gets before it fails. It has no effect on read-only calls.
type When uint8

// The points of failure.
const (
	Before When = iota // nothing was changed
	Half               // Create and Update set some of several properties. Delete is complete.
	After              // the work is complete
)

// How is the kind of error that a provider returns. If Create or Update is known to have changed something, a
// [lumi.PartialError] wraps the error.
type How uint8

// The kinds of errors.
const (
	_         How = iota
	Fails         // a plain error
	Throttled     // a [lumi.RetryError]
	Lost          // a [lumi.UncertainError], or a plain error of a read-only call
	Hangs         // blocks until the context is done, then is Lost
)

// Op is an operation that reaches the cloud. Other operations neither fail nor take time.
type Op string

// The operations.
const (
	Create Op = "Create"
	Find   Op = "Find"
	Get    Op = "Get"
	Update Op = "Update"
	Delete Op = "Delete"
)

func (op Op) changes() bool { return op == Create || op == Update || op == Delete }

// At identifies a call.
type At struct {
	// Resource is the name in the resource's URN. It is empty for an import.
	Resource string
	Op       Op
	// Attempt numbers the calls of the operation with the same URN and id, from 1. In a script, 0 matches all attempts
	// without their own entry.
	Attempt int
}

// String describes the fault.
func (f Fault) String() string {
	how := [...]string{"no fault", "failed", "throttled", "lost", "hung"}
	return how[f.How] + [...]string{" before", " half way", " after"}[f.When]
}

// attempt is a call in progress.
type attempt struct {
	*Call
	subject string // the URN and id in the request
	chance  *rand.Rand
	wait    time.Duration // after the effect
}

// share returns a random fraction of a duration.
func (a *attempt) share(d time.Duration) time.Duration {
	return time.Duration(float64(d) * a.chance.Float64())
}

// skips decides whether a call that fails halfway skips a property.
func (a *attempt) skips() bool { return a.Fault.When == Half && a.chance.IntN(2) == 0 }

// begin logs a call and decides on its fault.
func (c *Cloud) begin(call *Call) *attempt {
	defer c.lock()()
	a := &attempt{Call: call, subject: fmt.Sprint(call.URN, " ", call.ID)}
	numbered := At{Resource: a.subject, Op: call.Op}
	c.attempts[numbered]++
	call.Resource, call.Attempt, call.Began = call.URN.Name(), c.attempts[numbered], time.Now()
	c.calls = append(c.calls, call)
	if call.Op.changes() {
		if c.changing[a.subject]++; c.changing[a.subject] > 1 {
			c.violate("%s of %s while another call about it runs", call.Op, call.URN)
		}
	}
	a.chance = c.chance(a.subject, call.Op, call.Attempt)
	if a.chance.Float64() < c.options.Faults {
		call.Fault = Fault{When(a.chance.IntN(3)), Fails + How(a.chance.IntN(4))}
	}
	for _, n := range []int{0, call.Attempt} {
		if scripted, ok := c.script[At{call.Resource, call.Op, n}]; ok {
			call.Fault = scripted
		}
	}
	return a
}

func (c *Cloud) end(a *attempt, err error) {
	defer c.lock()()
	a.Err, a.Ended = err, time.Now()
	if a.Op.changes() {
		c.changing[a.subject]--
	}
}

// do executes a call. effect runs with the cloud locked. known reports whether the provider knows that the effect took
// place.
func (c *Cloud) do(ctx context.Context, call Call, effect func(*attempt) error) (known bool, err error) {
	a := c.begin(&call)
	defer func() { c.end(a, err) }()
	before, after := a.share(c.options.Latency/2), a.share(c.options.Latency/2)
	if err := sleep(ctx, before); err != nil {
		return false, err
	}
	if a.Fault.How != 0 && a.Fault.When == Before {
		return false, c.fail(ctx, a)
	}
	unlock := c.lock()
	err = effect(a)
	unlock()
	if err != nil {
		return false, err
	}
	if err := sleep(ctx, after); err != nil {
		return false, err
	}
	if a.Fault.How != 0 {
		return a.Fault.How == Fails || a.Fault.How == Throttled, c.fail(ctx, a)
	}
	err = sleep(ctx, a.wait)
	return err == nil, err
}

// fail returns the error of a fault.
func (c *Cloud) fail(ctx context.Context, a *attempt) error {
	err := fmt.Errorf("simulated fault: %s", a.Fault)
	switch {
	case a.Fault.How == Throttled:
		return &lumi.RetryError{Err: err, After: c.options.RetryAfter}
	case a.Fault.How == Lost && a.Op.changes():
		return lumi.Uncertain(err)
	case a.Fault.How == Hangs:
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// chance returns a source of random numbers that depends only on the seed and the key.
func (c *Cloud) chance(key ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, key...)
	return rand.New(rand.NewPCG(c.options.Seed, h.Sum64())) //nolint:gosec // It must be reproducible.
}

func sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	return ctx.Err()
}
