// Package run runs deployments: it queues them, plans them at their turn, and calls providers and provisioners. It
// records each call before making it and each result before using it, so that another executor can continue after a
// crash.
//
//	engine := run.New(run.Options{Store: s, Environment: "prod", Key: key, Providers: providers})
//	planned, err := engine.Plan(ctx, requests...)   // for approval
//	queued, err := engine.Queue(ctx, planned...)
//	d, err := engine.Run(ctx, queued[0].ID)         // until it is done, has failed, or waits for an answer
//
// # Life of a deployment
//
//	claim ──▶ settle ──▶ plan ──▶ tasks ──▶ module ──▶ deletions ──▶ DONE
//	  ▲                    │        │
//	  └────── retry ───────┴────────┴──▶ FAILED or ASK
//
// Claim takes the lease with a new fencing token. Settle determines the outcomes of calls started by an earlier
// executor. The resource graph then contains all results, and the module is planned for it. Starting, retrying,
// recovering from a crash, and replacing a failed deployment therefore work the same way. The plan must not exceed the
// approved one. Step results are stored as rows until the module's task, a failure, or the next claim folds them into
// the graph.
//
// The states and their transitions are in [job.Deployments], [job.Tasks], and [job.Steps], and in the tables of
// docs/engine.md.
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
	// Key is the data key of the environment. Deployments with secrets in their state wait until it is set.
	Key *secret.Key
	// Providers returns the resource providers for a module.
	Providers func(module string) provision.Providers
	// Provisioners holds the other provisioners by name. Provisioner returns the name of the provisioner that handles a
	// type, or "" for a resource provider, and an error for an invalid mapping. It may be nil.
	Provisioners map[string]plan.Provisioner
	Provisioner  func(tokens.Type) (string, error)
	// Events receives the events of deployments run or changed by this engine, and the stored events of deployments in
	// other processes that it waits for. Calls are serialized. It must not block, and must not call any method of the
	// engine except Stop.
	Events func(store.Event)
	// Parallelism limits concurrent calls. The default is 16.
	Parallelism int
	// StopOnError prevents new steps from starting after one has failed. By default, steps that do not depend on it
	// still run.
	StopOnError bool
	// Timeout limits all attempts of a call together, for resources without the option "timeouts". The default is an
	// hour.
	Timeout time.Duration
	// Retries is the maximum number of retries after transient failures. The default is 8. Backoff is the delay before
	// the first retry; it doubles each time, up to a minute. The default is a second.
	Retries int
	Backoff time.Duration
	// Poll is the interval for polling provisioners, and for polling the store for other processes' deployments. The
	// default is a second.
	Poll time.Duration
	// Owner, IsDead, and Lease are passed to [job.Options].
	Owner  string
	IsDead func(owner string) bool
	Lease  time.Duration
}

// Engine runs the deployments of an environment. It is safe for concurrent use.
type Engine struct {
	Options
	// Journal reads and writes the environment.
	Journal *journal.Journal
	// queued holds requests queued by this engine until they run, as [queued] by deployment ID.
	queued sync.Map
	// followed holds the awaited deployments of other processes; guarded by followMu.
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

// Graph returns the current resource graph.
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
	Desired *lumigl.Snapshot `json:"-"` // stored separately
	// Destroy is the name of a module to remove.
	Destroy string
	// Targets, Replace, and Interrupt are passed to [plan.Request].
	Targets   []urn.URN
	Replace   []urn.URN
	Interrupt []string
}

func (r Request) configuration() lumigl.Value {
	if r.Desired == nil {
		return lumigl.Value{}
	}
	return r.Desired.Field("configuration")
}

// followed is a deployment run by another process.
type followed struct {
	after int64          // serial of the last event shown
	by    map[int64]bool // deployments that wait for it
}

// Planned is the plan of a request.
type Planned struct {
	*plan.Plan
	// Idle is set if there is nothing to deploy: nothing changes, and no failed deployment is replaced.
	Idle bool
	// Waits lists the deployments that it will wait for, with reasons.
	Waits []queue.Wait
	// request is the request with declared secrets marked.
	request Request
}
