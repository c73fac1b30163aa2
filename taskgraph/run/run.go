// Package run runs task graphs. A run is a job, with its lease, fencing token and events. It is recorded before a task starts
// and after it has ended, so another process can continue after a crash.
//
//	engine := run.New(run.Options{Store: s, Environment: "prod", Executor: executor})
//	d, err := engine.Start(ctx, run.Request{Type: "upgrade", ...})
//	d, err = engine.Run(ctx, d.ID)   // until it is done, has failed, asks or was stopped
//
// # States
//
//	WAIT ──▶ RUNNING ──▶ DONE
//	  ▲         ├──▶ FAILED, CANCELLED (stopped) ──┐
//	  │         ├──▶ ASK ──────────────────────────┤
//	  │         └──▶ (interrupted) ────────────────┤
//	  └─────────────────── resume ─────────────────┘
//
// A run that waits can be CANCELLED, too. One is interrupted if it is RUNNING and its process has ended, or has not renewed its
// lease. A resumed run has the graph and the nodes that it was started with.
//
//	         ┌──▶ DONE
//	STARTED ─┼──▶ FAILED   runs again when the run is resumed, unless the failure is tolerated
//	         └──▶ UNKNOWN  becomes DONE or FAILED by an answer
//	SKIPPED                had nothing to do, or waited for one that is FAILED or UNKNOWN
//
// A task whose fail_on_error is false may fail: what waits for it goes on, the run can still be DONE, and the task does not run
// again when the run is resumed.
//
// # Crashes
//
// A task run that the store has as DONE is not repeated. One that is STARTED is given to the executor again, with the same token, so
// that it can find out what happened. If it cannot, the task runs again, with another token; one whose attribute idempotent is false
// becomes UNKNOWN, and the run ends as ASK when everything else is done that does not depend on it.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// Executor runs tasks on nodes.
type Executor interface {
	// Execute runs a task on a node once, with its tests and retries. The error is [ErrUncertain], perhaps wrapped, if nobody
	// knows whether it took effect. It is called concurrently.
	//
	// ctx is done if the run is canceled. If its cause is not [context.Canceled], another process may run the task from now on,
	// so what runs on the node goes on.
	Execute(ctx context.Context, w Work) error
}

// ErrUncertain says that the outcome of a task is unknown.
var ErrUncertain = errors.New("the outcome is unknown")

// ErrUnreached is an [ErrUncertain] of a task whose outcome the executor can find out later, as its node cannot be reached now. The
// task fails, and is resumed with its run.
var ErrUnreached = fmt.Errorf("%w while the node is unreachable", ErrUncertain)

// Memory is how long executors can find out what became of a token.
const Memory = 7 * 24 * time.Hour

// Work is a task to be run on a node.
type Work struct {
	Environment string
	Run         int64
	Task        *taskgraph.Spec
	// Node is nil for a stage.
	Node *inventory.Node
	// Parameters are those of the environment. The node's, which override them, are not included.
	Parameters map[string]any
	// Token identifies one execution of the task, as "prod/12-k3v9x0qa-7", in all environments and stores. It is the same after a
	// crash, so that an executor can find out what became of the work; work that runs again has another one.
	Token string
	// Resumed is set if an earlier process has started the work.
	Resumed bool
	// Log reports output, at a level of [store.Event]. It may be called concurrently.
	Log func(level, message string)
}

// Options configure an [Engine].
type Options struct {
	Store       store.Store
	Environment string
	Executor    Executor
	// Events receives events, one at a time. It must not block.
	Events func(store.Event)
	// Parallelism is how many tasks run at once: 16 if it is 0. PerRole is how many run at once on the nodes of a role.
	Parallelism int
	PerRole     map[string]int
	// StopOnError has no new tasks start after one has failed. Otherwise those run that do not depend on it.
	StopOnError bool
	// Owner, IsDead and Lease are those of [job.Options].
	Owner  string
	IsDead func(owner string) bool
	Lease  time.Duration
}

// Request is a request for a run. It is stored, so that a run that is resumed has the same graph and nodes.
type Request struct {
	Type      string
	Tasks     []taskgraph.Task
	Inventory inventory.Inventory
	Only      []string `json:",omitempty"`
	Event     string
	// Digests identify the contents of the tasks, by ID.
	Digests map[string]string `json:",omitempty"`
	// Skip has why items have nothing to do, and Refresh the digests of values that they depend on, by name of the item.
	Skip, Refresh map[string]string `json:",omitempty"`
	// Nonce is random. [Engine.Start] sets it.
	Nonce string
}

// Engine runs the task graphs of an environment. It may be used concurrently.
type Engine struct {
	Options
	jobs *job.Runner
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Parallelism <= 0 {
		o.Parallelism = 16
	}
	return &Engine{Options: o, jobs: job.New(job.Options{
		Store: o.Store, Environment: o.Environment, Events: o.Events, Owner: o.Owner, IsDead: o.IsDead, Lease: o.Lease,
	})}
}

// schedule returns the schedule that a request was made for.
func (r *Request) schedule() (*schedule.Schedule, error) {
	specs, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: r.Tasks}}, false), nil)
	if err != nil {
		return nil, err
	}
	return schedule.Restore(schedule.Input{
		Tasks: specs, Digests: r.Digests, Nodes: r.Inventory.Nodes, Only: r.Only, Event: r.Event,
	}, r.Skip, r.Refresh)
}
