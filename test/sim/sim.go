// Package sim is a simulated cloud that implements the provider interface, for tests of engines. It reproducibly
// simulates the ways in which clouds fail, and records the effect of every call:
//
//	cloud := sim.New(sim.Options{
//		Seed:   seed,
//		Types:  []sim.Type{{Token: "sim:index:Disk", Named: true}},
//		Faults: 0.2,
//	})
//	cloud.Script(sim.At{"web", sim.Create, 2}, sim.Fault{sim.Half, sim.Fails})
//	deploy(cloud.Provider("sim:index:Disk"))
//	cloud.Resources()  // must equal the program: no orphans, no duplicates
//	cloud.Calls()      // every call, with its fault and the order of effects
//	cloud.Violations() // must be empty: mistakes of the engine
//
// The providers are [lumi.Provider] values over simulated operations, so they decode, compare, refuse, and report as
// generated providers do. Without faults they pass the conformance kit. All types have the same properties:
//
//	name      required if programs name resources of the type, otherwise generated; changes replace
//	size      anything but a string
//	mode      any value
//	region    changes replace
//	password  secret that Get does not return
//	on        list of capabilities
//	at        string: the id or an output of a resource
//	parent    the same; changes replace
//	arn       output
//	etag      output, new after each change
//	key       output, secret
//
// The resources that "on", "at", and "parent" refer to must exist, and cannot be deleted while referred to. The only
// property that programs must set is the name.
//
// # Determinism
//
// A call's fault and duration, and the id of what it creates, depend only on the seed, the operation, the request's URN
// and id, and the number of earlier calls with the same three. The order of calls on different resources does not
// matter, with these exceptions:
//
//   - Whether a name is taken, or a referenced resource exists, depends on the cloud's state at that moment.
//   - Concurrent calls of one operation on one resource are numbered as they arrive.
//   - A canceled call has its effect or not depending on when it was canceled.
//
// # Time
//
// Calls wait with package time, so tests that set one of the durations in [Options] should run in a testing/synctest
// bubble. By default nothing waits.
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

// Options configure a cloud. With only Types set, calls neither fail nor take time.
type Options struct {
	Seed  uint64
	Types []Type
	// Faults is the probability that a call fails, in a random way.
	Faults float64
	// RetryAfter is the delay in the [lumi.RetryError] of a throttled call.
	RetryAfter time.Duration
	// Latency is the maximum duration of a call.
	Latency time.Duration
	// Deletion is the maximum duration of a deletion. Delete waits for its end; if Delete is canceled, the deletion
	// continues. Until its end, the resource can be read, its name is taken, and the resources it refers to cannot be
	// deleted.
	Deletion time.Duration
	// Lag is the maximum time for a change to become visible everywhere. After an Update, Get returns the old properties
	// for that long. After a Create, Get and Find wait, and references to the resource fail with a [lumi.RetryError].
	Lag time.Duration
}

// Type is a resource type.
type Type struct {
	Token tokens.Type
	// Named is set if programs name the resources.
	Named bool
	// Find and Idempotent are ways to resolve an uncertain Create. Unless Idempotent is set, a repeated Create creates a
	// second resource.
	Find, Idempotent bool
	// Unique types reject a Create with the name of an existing resource of the type. InspectChange therefore requests
	// deletion before replacement.
	Unique bool
}

// Resource is a resource as it exists in the cloud.
type Resource struct {
	ID   lumi.ID
	Type tokens.Type
	// URN and Token are copied from the Create request.
	URN   urn.URN
	Token string
	// Inputs are the properties that programs set, with ids in place of capabilities.
	Inputs  map[string]any
	Outputs map[string]any
}

// Call is a log entry. Check, Name, InspectChange, and calls that the runtime rejects are not logged.
type Call struct {
	At
	URN urn.URN
	// ID is the id in the request, or the id of the created or found resource.
	ID    lumi.ID
	Token string
	Fault Fault
	// Effect numbers the calls that changed the cloud, from 1, in the order of their effects. It is 0 for other calls.
	Effect int
	// Err is the provider's error, before the runtime converted it to one of those documented by [lumi.ResourceProvider].
	Err          error
	Began, Ended time.Time // Ended is zero while the call runs.
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
	effects    int
	violations []string
}

// New returns a cloud without resources.
func New(o Options) *Cloud {
	c := &Cloud{
		options: o, providers: map[tokens.Type]*lumi.Provider{}, script: map[At]Fault{},
		resources: map[lumi.ID]*resource{}, attempts: map[At]int{}, changing: map[string]int{},
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

// Provider returns the provider of a type, or nil if the cloud does not support the type.
func (c *Cloud) Provider(token tokens.Type) *lumi.Provider { return c.providers[token] }

// Script sets the fault of a call, in place of a random one.
func (c *Cloud) Script(at At, f Fault) {
	defer c.lock()()
	c.script[at] = f
}

// Calm ends random faults.
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

// Calls returns all calls in starting order.
func (c *Cloud) Calls() []Call {
	defer c.lock()()
	all := make([]Call, len(c.calls))
	for i, call := range c.calls {
		all[i] = *call
	}
	return all
}

// Violations lists the mistakes of the engine: concurrent changes of one resource, a repeated Create of a type that is not
// idempotent after the first one succeeded, a missing token or one reused with other inputs, and a Delete of a resource
// that another one refers to.
func (c *Cloud) Violations() []string {
	defer c.lock()()
	return slices.Clone(c.violations)
}
