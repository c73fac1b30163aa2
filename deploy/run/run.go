// Package run runs deployments: it queues them, plans them when their turn comes, calls providers and provisioners, and
// records each call before it is made and each result before it is used. So another executor can continue after a crash.
//
//	engine := run.New(run.Options{Store: s, Environment: "prod", Key: key, Providers: providers})
//	planned, err := engine.Plan(ctx, requests...)   // to be agreed to
//	queued, err := engine.Queue(ctx, planned...)
//	d, err := engine.Run(ctx, queued[0].ID)         // until it is done, has failed or asks
//
// # Life of a deployment
//
//	claim ──▶ settle ──▶ plan ──▶ tasks ──▶ module ──▶ deletions ──▶ DONE
//	  ▲                    │        │
//	  └────── retry ───────┴────────┴──▶ FAILED or ASK
//
// Claim takes the lease and a new fencing token. Settle determines the outcome of calls that an earlier executor started.
// Then the resource graph has all results, and the module is planned for it. Starting, retrying, recovering from a crash and
// taking over from a failed deployment are therefore the same. The plan must not do more than the one that was agreed to.
// Results of steps are rows of the store until the module's task, a failure or the next claim folds them into the graph.
//
// States and their transitions are in [Deployments], [Tasks] and [Steps], and in docs/engine.md as tables.
package run

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Options configure an [Engine].
type Options struct {
	Store       store.Store
	Environment string
	// Key is the data key of the environment. Without it, a deployment whose state has secrets asks for it.
	Key *secret.Key
	// Providers returns the providers of a module's resources that no provisioner handles.
	Providers func(module string) provision.Providers
	// Provisioners are the other provisioners, by name, and Provisioner returns the name of the one that handles a type,
	// or "" for a resource provider; the error says what is wrong with the mapping. It may be nil.
	Provisioners map[string]plan.Provisioner
	Provisioner  func(tokens.Type) (string, error)
	// Events receives the events of deployments that this engine runs or changes and, as far as they are stored, of those that
	// it waits for while other processes run them. They come one at a time. It must not block, nor call the engine except for
	// Stop.
	Events func(store.Event)
	// Parallelism is how many calls run at once: 16 if it is 0.
	Parallelism int
	// StopOnError has no new steps start after one has failed. Otherwise those run that do not depend on it.
	StopOnError bool
	// Timeout bounds a call with all its attempts if the resource has no option "timeouts": an hour if it is 0.
	Timeout time.Duration
	// Retries is how often a call is repeated after transient failures: 8 times if it is 0. Backoff is the delay before the
	// first repetition, and doubles each time, up to a minute: a second if it is 0.
	Retries int
	Backoff time.Duration
	// Poll is how often provisioners are polled, and the store for deployments of other processes: every second if it is 0.
	Poll time.Duration
	// Owner, IsDead and Lease are those of [job.Options].
	Owner  string
	IsDead func(owner string) bool
	Lease  time.Duration
}

// Engine runs the deployments of an environment. Its methods may be called concurrently.
type Engine struct {
	Options
	// Journal reads and writes the environment.
	Journal *journal.Journal
	// queued has the requests that this engine has queued and their plans, as [queued] by deployment, until they run.
	queued sync.Map
	// followed has the deployments of other processes that this one waits for, and followMu guards it.
	followed map[int64]*followed
	followMu sync.Mutex
	jobs     *job.Runner
}

// New returns an engine.
func New(o Options) *Engine {
	o.Parallelism = cmp.Or(o.Parallelism, 16)
	o.Timeout = cmp.Or(o.Timeout, time.Hour)
	o.Retries = cmp.Or(o.Retries, 8)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	o.Poll = cmp.Or(o.Poll, time.Second)
	jobs := job.New(job.Options{
		Store: o.Store, Environment: o.Environment, Events: o.Events, Owner: o.Owner, IsDead: o.IsDead, Lease: o.Lease,
	})
	o.Owner, o.IsDead, o.Lease = jobs.Owner, jobs.IsDead, jobs.Lease
	return &Engine{
		Options: o, Journal: journal.New(jobs, o.Key), jobs: jobs, followed: map[int64]*followed{},
	}
}

// caller returns a caller for a module with the configuration of a request.
func (e *Engine) caller(module string, r Request) *provision.Caller {
	providers := e.Providers(module)
	if e.Provisioner != nil {
		providers = provision.Provisioned(providers, func(t tokens.Type) bool { return e.Provisioners[e.provisioner(t)] != nil })
	}
	return &provision.Caller{Providers: providers, Configuration: r.configuration().Get}
}

// Graph returns the resource graph as it is.
func (e *Engine) Graph(ctx context.Context) (g *graph.Graph, err error) {
	err = e.Journal.Read(ctx, func(t *journal.Tx) (err error) {
		g, err = t.Graph()
		return err
	})
	return g, err
}

// Request is a request for a deployment.
type Request struct {
	// Desired is the desired state of the module, or nil if Destroy is set.
	Desired *lumigl.Snapshot `json:"-"` // which the store has as it is
	// Destroy names a module to remove.
	Destroy string
	// Targets, Replace and Interrupt are those of [plan.Request].
	Targets   []urn.URN
	Replace   []urn.URN
	Interrupt []string
}

// configuration returns the configuration of packages, by name.
func (r Request) configuration() lumigl.Value {
	if r.Desired == nil {
		return lumigl.Value{}
	}
	return r.Desired.Field("configuration")
}

// followed is a deployment that another process runs.
type followed struct {
	after int64          // the serial of the last event that was shown
	by    map[int64]bool // the deployments that wait for it
}

// Planned is the plan of a request.
type Planned struct {
	*plan.Plan
	// Idle is set if there is nothing to deploy: nothing changes, and the plan takes the place of no failed deployment.
	Idle bool
	// Waits has the deployments that it will wait for, with reasons.
	Waits []queue.Wait
	// request is what was asked for, with what its types declare as secrets marked.
	request Request
}
