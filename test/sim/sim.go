// Package sim simulates a cloud that implements the provider interface, for tests of engines. The cloud injects
// reproducible failures and records the effect of every call:
//
//	cloud := sim.New(sim.Options{
//		Seed:   seed,
//		Types:  []sim.Type{{Token: "sim:index:Disk", Named: true}},
//		Faults: 0.2,
//	})
//	cloud.Script(sim.At{"web", sim.Create, 2}, sim.Fault{sim.Half, sim.Fails})
//	deploy(cloud.Provider("sim:index:Disk"))
//	cloud.Resources()  // must match the program: no orphans, no duplicates
//	cloud.Calls()      // all calls, with their faults and the order of their effects
//	cloud.Violations() // mistakes of the engine; must be empty
//
// The providers are [lumi.Provider] values with simulated operations, so the runtime validates and compares properties as
// in generated providers. Without faults, they pass the conformance tests. All types have the same properties:
//
//	name      required if the type is named, otherwise generated; changes replace the resource
//	size      anything but a string
//	mode      any value
//	region    any value; changes replace the resource
//	password  secret, not returned by Get
//	on        list of capabilities
//	at        string: the id or an output of a resource
//	parent    like at; changes replace the resource
//	arn       output
//	etag      output, different after each change
//	key       output, secret
//
// Resources referenced in "on", "at", and "parent" must exist and cannot be deleted. All properties except the name are
// optional.
//
// # Determinism
//
// A call's fault, its duration, and the id of the created resource depend only on the seed, the operation, the URN and id
// in the request, and the number of earlier calls with the same operation, URN, and id. The order of calls for different
// resources does not matter, with these exceptions:
//
//   - Whether a name is taken, or a referenced resource exists, depends on the cloud's state at that moment.
//   - Concurrent calls of an operation for the same resource are numbered in the order of arrival.
//   - Whether a canceled call has an effect depends on the time of the cancellation.
//
// # Time
//
// Delays use package time, so tests that set a duration in [Options] should run in a testing/synctest bubble. By default,
// there are no delays.
package sim

import (
	"cmp"
	"slices"
	"sync"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Options configure a cloud. By default, calls succeed immediately.
type Options struct {
	Seed  uint64
	Types []Type
	// Faults is the probability that a call fails with a random fault.
	Faults float64
	// RetryAfter is the delay in the [lumi.RetryError] of a throttled call.
	RetryAfter time.Duration
	// Latency is the maximum duration of a call.
	Latency time.Duration
	// Deletion is the maximum duration of a deletion. Delete waits until it finishes; if Delete is canceled, the deletion
	// continues in the background. Meanwhile, the resource can be read, its name is taken, and resources it refers to
	// cannot be deleted.
	Deletion time.Duration
	// Lag is the maximum time until a change becomes visible everywhere. Until then, Get returns stale properties after an
	// Update. After a Create, Get and Find block, and references to the resource fail with a [lumi.RetryError].
	Lag time.Duration
}

// Type is a resource type.
type Type struct {
	Token tokens.Type
	// Named is true if programs must set the name.
	Named bool
	// Find enables the operation Find, and Idempotent makes Create idempotent. Engines use them to resolve an uncertain
	// Create. Unless Idempotent is true, a repeated Create creates a duplicate.
	Find, Idempotent bool
	// Repeatable gives Update and Delete no further effect once an attempt with the same token has had one.
	Repeatable bool
	// Unique makes Create fail if a resource of the type already has the name. InspectChange therefore requests deletion
	// before replacement.
	Unique bool
}

// Resource is a resource in the cloud.
type Resource struct {
	ID   lumi.ID
	Type tokens.Type
	// URN and Token are copied from the Create request.
	URN   urn.URN
	Token string
	// Inputs holds the inputs, with ids in place of capabilities.
	Inputs  map[string]any
	Outputs map[string]any
}

// Call is an entry in the call log. The log does not contain Check, Name, InspectChange, or calls rejected by the runtime.
type Call struct {
	At
	URN urn.URN
	// ID is the id in the request or, for Create and Find, of the created or found resource.
	ID    lumi.ID
	Token string
	Fault Fault
	// Effect is the position of the call among all calls that changed the cloud, starting at 1. It is 0 if the call
	// changed nothing.
	Effect int
	// Err is the provider's error, before its conversion by the runtime.
	Err          error
	Began, Ended time.Time // Ended is zero while the call is in flight
}

// Cloud is a simulated cloud. It is safe for concurrent use.
type Cloud struct {
	options    Options
	providers  map[tokens.Type]*lumi.Provider
	mu         sync.Mutex
	script     map[At]Fault
	resources  map[lumi.ID]*resource
	calls      []*Call
	attempts   map[At]int
	changing   map[string]int
	changed    map[string]bool // tokens of idempotent Creates and of Updates that had an effect
	effects    int
	violations []string
}

// New returns a cloud without resources.
func New(o Options) *Cloud {
	c := &Cloud{
		options: o, providers: map[tokens.Type]*lumi.Provider{}, script: map[At]Fault{},
		resources: map[lumi.ID]*resource{}, attempts: map[At]int{}, changing: map[string]int{}, changed: map[string]bool{},
	}
	for _, t := range o.Types {
		var impl lumi.NamingOps[*object] = &ops{c, t}
		if t.Find {
			impl = finder{&ops{c, t}}
		}
		empty := func() *object { return newObject(t.Named) }
		p := lumi.NewProvider(t.Token, empty, impl)
		if t.Named {
			p = lumi.NewNamedProvider(t.Token, empty, impl)
		}
		c.providers[t.Token] = &p
	}
	return c
}

// Provider returns the provider of a type, or nil if the type is not in [Options].
func (c *Cloud) Provider(token tokens.Type) *lumi.Provider { return c.providers[token] }

// Script sets the fault of the calls that match at, overriding random faults.
func (c *Cloud) Script(at At, f Fault) {
	defer c.lock()()
	c.script[at] = f
}

// Calm disables random faults. Scripted faults remain in effect.
func (c *Cloud) Calm() {
	defer c.lock()()
	c.options.Faults = 0
}

// Resources returns the existing resources, sorted by type, name, and id. Callers must not modify their maps.
func (c *Cloud) Resources() []Resource {
	defer c.lock()()
	var all []Resource
	for _, r := range c.resources {
		all = append(all, r.Resource)
	}
	slices.SortFunc(all, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.name(), b.name()), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Calls returns a copy of the call log, in the order in which the calls began.
func (c *Cloud) Calls() []Call {
	defer c.lock()()
	all := make([]Call, len(c.calls))
	for i, call := range c.calls {
		all[i] = *call
	}
	return all
}

// Violations describes the mistakes of the engine: concurrent changes to a resource, a repeated Create of a non-idempotent
// type after a successful one, a missing token of a Create or of an Update of a repeatable type, a token reused with
// different inputs, or a Delete of a resource that another resource refers to.
func (c *Cloud) Violations() []string {
	defer c.lock()()
	return slices.Clone(c.violations)
}
