// Package run runs deployments. It queues them, plans them when it is their turn, and calls providers and provisioners.
// It records each call before making it and each result before using it, so that another executor can continue after a
// crash.
//
//	engine := run.New(run.Options{Store: s, Environment: "prod", Key: key, Providers: providers})
//	planned, err := engine.Plan(ctx, requests...)   // for approval
//	queued, err := engine.Queue(ctx, planned...)
//	d, err := engine.Run(ctx, queued[0].ID)         // until it is done, has failed, or needs an answer
//
// # Life of a deployment
//
//	claim ──▶ settle ──▶ plan ──▶ tasks ──▶ module ──▶ deletions ──▶ DONE
//	  ▲                    │        │
//	  └────── retry ───────┴────────┴──▶ FAILED or ASK
//
// Claim takes the lease with a new fencing token. Settle determines the outcomes of calls started by an earlier
// executor and adds their results to the resource graph. The module is then planned against that graph. Starting,
// retrying, recovering from a crash, and replacing a failed deployment therefore work the same way. The plan must not
// exceed the approved plan. Step results are stored as rows until they are folded into the graph by the module's task,
// a failure, or the next claim.
//
// The states and transitions are defined in [job.Deployments], [job.Tasks], and [job.Steps]. Tables of them are in
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
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/refresh"
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
	// Key is the data key of the environment. If it is nil, deployments with secrets in their state wait for an answer.
	Key *secret.Key
	// Providers returns the resource providers used for a module.
	Providers func(module string) provision.Providers
	// Provisioners maps the names of external provisioners to their implementations. Provisioner returns the name of
	// the provisioner for a type, or "" if a resource provider handles it. It returns an error if the mapping is
	// invalid. It may be nil.
	Provisioners map[string]plan.Provisioner
	Provisioner  func(tokens.Type) (string, error)
	// Events is called for the events of deployments run or changed by this engine, and for the stored events of
	// deployments in other processes that it waits for. Calls are never concurrent. Events must not block and must not
	// call any method of the engine except Stop.
	Events func(store.Event)
	// Parallelism is the maximum number of concurrent calls. The default is 16.
	Parallelism int
	// IgnoreDrift lists properties whose drift is ignored: a resource type followed by a path, such as
	// "aws:ec2:Instance.tags.scanner".
	IgnoreDrift []string
	// Policy is evaluated on plans and stored with their deployments. It may be nil.
	Policy *policy.Policy
	// StopOnError prevents new steps from starting after a step has failed. By default, steps that do not depend on the
	// failed one still run.
	StopOnError bool
	// Timeout is the total time for all attempts of a call for resources without the option "timeouts". The default is
	// one hour.
	Timeout time.Duration
	// Retries is the maximum number of retries after transient failures. The default is 8. Backoff is the delay before
	// the first retry. It doubles with each retry, up to one minute. The default is one second.
	Retries int
	Backoff time.Duration
	// Poll is the interval for polling provisioners, and for polling the store for deployments of other processes. The
	// default is one second.
	Poll time.Duration
	// Owner, IsDead, and Lease are passed to [job.Options].
	Owner  string
	IsDead func(owner string) bool
	Lease  time.Duration
}

// Engine runs the deployments of a single environment. It is safe for concurrent use.
type Engine struct {
	Options
	// Journal provides access to the environment in the store.
	Journal *journal.Journal
	// queued maps deployment IDs to the requests queued by this engine, as [queued], until they run.
	queued sync.Map
	// followed maps the IDs of other processes' deployments that this engine waits for to their state. It is guarded by
	// followMu.
	followed map[int64]*followed
	followMu sync.Mutex
	jobs     *job.Runner
}

// New returns an engine for an environment.
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

// caller returns a caller for a module's providers with the configuration of a request.
func (e *Engine) caller(module string, r Request) *provision.Caller {
	providers := e.Providers(module)
	if e.Provisioner != nil {
		providers = provision.Provisioned(providers, func(t tokens.Type) bool { return e.Provisioners[e.provisioner(t)] != nil })
	}
	return &provision.Caller{Providers: providers, Configuration: r.configuration().Get, Timeout: e.Timeout}
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
	// Destroy is the name of the module to remove, or "".
	Destroy string
	// Targets, Replace, and Interrupt are passed to [plan.Request].
	Targets   []urn.URN
	Replace   []urn.URN
	Interrupt []string
	// UniqueNames is passed to [plan.Request].
	UniqueNames bool `json:",omitempty"`
	// Refresh reads the module's resources before planning. They are read again if the deployment waited, if the graph has
	// changed, and for a retry. What was read is stored when the deployment starts.
	Refresh bool `json:",omitempty"`
	// Policy is the text of the policy that the deployment must obey. It is set by [Engine.Plan].
	Policy string `json:",omitempty"`
}

func (r Request) configuration() lumigl.Value {
	if r.Desired == nil {
		return lumigl.Value{}
	}
	return r.Desired.Field("configuration")
}

// followed is a deployment run by another process.
type followed struct {
	after int64          // serial of the last shown event
	by    map[int64]bool // IDs of the deployments that wait for it
}

// Planned is a request with its plan.
type Planned struct {
	*plan.Plan
	// Idle is set if there is nothing to deploy: the plan has no changes and does not replace a failed deployment.
	Idle bool
	// Findings lists the rules of the policy that the plan violates or that are undecided.
	Findings []policy.Finding
	// Waits lists the deployments that the request will wait for, with the reasons.
	Waits []queue.Wait
	// request is the request with all declared secrets marked. reading is the actual state that was planned against, or
	// nil.
	request Request
	reading *reading
}

// reading is the actual state of a module's resources, and the graph without and with it.
type reading struct {
	results        []refresh.Result
	stored, actual *graph.Graph
}
