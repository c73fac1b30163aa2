package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Fault describes the failure of a call. The zero Fault is no failure; in a script, it exempts a call from random faults.
type Fault struct {
	When When
	How  How
}

// When is the progress of a call at the time of its failure. It has no effect on read-only calls.
type When uint8

// The points of failure.
const (
	Before When = iota // before any change
	Half               // after setting a subset of the properties; for Delete, the same as After
	After              // after all changes
)

// How is the kind of error returned by the provider. If Create or Update fails after changing the resource and the provider
// knows it, a [lumi.PartialError] wraps the error.
type How uint8

// The kinds of errors.
const (
	_         How = iota
	Fails         // a plain error
	Throttled     // a [lumi.RetryError]
	Lost          // a [lumi.UncertainError], or a plain error for a read-only call
	Hangs         // the context's error, after blocking until the context is done
)

// Op is an operation that calls the cloud. All other operations succeed immediately.
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

// At identifies one call, or several calls in a script.
type At struct {
	// Resource is the resource's name in its URN, or "" for an import.
	Resource string
	Op       Op
	// Attempt is the number of the call among all calls with the same operation, URN, and id, starting at 1. In a script,
	// 0 matches all attempts without a specific entry.
	Attempt int
}

// String returns a description such as "lost before".
func (f Fault) String() string {
	how := [...]string{"no fault", "failed", "throttled", "lost", "hung"}
	return how[f.How] + [...]string{" before", " half way", " after"}[f.When]
}

// attempt is a call in progress.
type attempt struct {
	*Call
	subject string // URN and id in the request
	chance  *rand.Rand
	wait    time.Duration // delay after the effect
}

// share returns a random duration between 0 and d.
func (a *attempt) share(d time.Duration) time.Duration {
	return time.Duration(float64(d) * a.chance.Float64())
}

// skips decides at random whether a call skips the next property. It returns false unless the call fails halfway.
func (a *attempt) skips() bool { return a.Fault.When == Half && a.chance.IntN(2) == 0 }

// begin adds a call to the log and chooses its fault.
func (c *Cloud) begin(call *Call) *attempt {
	defer c.lock()()
	a := &attempt{Call: call, subject: fmt.Sprint(call.URN, " ", call.ID)}
	numbered := At{Resource: a.subject, Op: call.Op}
	c.attempts[numbered]++
	call.Resource, call.Attempt, call.Began = call.URN.Name(), c.attempts[numbered], time.Now()
	c.calls = append(c.calls, call)
	if call.Op.changes() {
		if c.changing[a.subject]++; c.changing[a.subject] > 1 && !c.repeats(call) {
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

// repeats reports whether call may overlap the others in flight that change its resource, because the type recognizes
// tokens: each of them has the same token, or one with which another attempt had an effect.
func (c *Cloud) repeats(call *Call) bool {
	recognizes := func(t Type) bool {
		return t.Token == call.URN.Type() && (t.Idempotent && call.Op == Create || t.Repeatable && call.Op != Create)
	}
	return slices.ContainsFunc(c.options.Types, recognizes) && !slices.ContainsFunc(c.calls, func(o *Call) bool {
		isAbout := o.URN == call.URN && (o.ID == call.ID && o.Op.changes() && o.Op != Create || o.Op == Create && call.Op == Create)
		return isAbout && o.Ended.IsZero() && o.Token != call.Token && !c.changed[o.Token]
	})
}

func (c *Cloud) end(a *attempt, err error) {
	defer c.lock()()
	a.Err, a.Ended = err, time.Now()
	if a.Op.changes() {
		c.changing[a.subject]--
	}
}

// do executes a call, including its delays and its fault. It calls effect with the cloud locked, unless the call fails
// before. known reports whether effect succeeded and the provider knows it.
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

// fail returns the error for the fault of a call. If the fault is Hangs, it blocks until ctx is done.
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
	return rand.New(rand.NewPCG(c.options.Seed, h.Sum64())) //nolint:gosec // Random numbers must be reproducible.
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
