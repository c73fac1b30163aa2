// Package run runs task graphs. A run is a job with a lease, a fencing token, and events. Each task is recorded before
// it starts and after it ends, so that another process can continue after a crash.
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
// A waiting run can become CANCELLED as well. A run is interrupted if it is RUNNING but its process has ended or has
// not renewed its lease. A resumed run keeps its graph and its nodes.
//
//	         ┌──▶ DONE
//	STARTED ─┼──▶ FAILED   runs again when the run is resumed, unless the failure is tolerated
//	         └──▶ UNKNOWN  becomes DONE or FAILED by an answer
//	SKIPPED                had nothing to do, or waited for one that is FAILED or UNKNOWN
//
// If a task with fail_on_error: false fails, its dependents still run, the run can still become DONE, and a resumed run
// does not repeat the task.
//
// Tasks that are not chosen have no state. Their dependents wait for their dependencies instead.
//
// # Crashes
//
// A task run recorded as DONE is not repeated. A STARTED task run is passed to the executor again with the same token,
// so that the executor can look up the outcome. If it cannot, the task runs again with a new token, unless it has
// idempotent: false. In that case, it becomes UNKNOWN, and the run becomes ASK once all tasks that do not depend on it
// have ended.
package run

import (
	"context"
	"encoding/json"
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
	// Execute runs a task on a node once, including its tests and retries. It returns an error wrapping [ErrUncertain]
	// if it is unknown whether the task took effect. Execute must be safe for concurrent use.
	//
	// ctx is done if the run is canceled. If its cause is not [context.Canceled], another process may take over the
	// task, so commands on the node must keep running.
	Execute(ctx context.Context, w Work) error
}

// ErrUncertain means that the outcome of a task is unknown.
var ErrUncertain = errors.New("the outcome is unknown")

// ErrUnreached wraps [ErrUncertain] for a task on a node that is currently unreachable. The task fails. When the run is
// resumed, the executor can look up the outcome.
var ErrUnreached = fmt.Errorf("%w while the node is unreachable", ErrUncertain)

// Memory is the time for which executors must remember the outcome of a token.
const Memory = 7 * 24 * time.Hour

// Work is a task to run on a node.
type Work struct {
	Environment string
	Run         int64
	Task        *taskgraph.Spec
	// Node is the node to run on, or nil for a stage.
	Node *inventory.Node
	// Parameters contains the parameters of the environment. It does not include the parameters of the node, which
	// override them.
	Parameters map[string]any
	// Data returns $ of the run's conditions and expressions, as returned by [inventory.Data.Plain]. It is safe for
	// concurrent use.
	Data func() (map[string]any, error)
	// Token identifies an execution of the task across environments and stores, such as "prod/12-k3v9x0qa-7". It is
	// reused after a crash, so that the executor can look up the outcome. A repeated execution gets a new token.
	Token string
	// Resumed means that an earlier process started the execution.
	Resumed bool
	// Log logs output at one of the levels of [store.Event]. It is safe for concurrent use.
	Log func(level, message string)
}

// Options configures an [Engine].
type Options struct {
	Store       store.Store
	Environment string
	Executor    Executor
	// Events is called for each event, one call at a time. It must not block.
	Events func(store.Event)
	// Parallelism limits the number of concurrent tasks. The default is 16. PerRole limits the number of concurrent
	// tasks on the nodes of each role.
	Parallelism int
	PerRole     map[string]int
	// StopOnError prevents new tasks from starting after a failure. Otherwise, tasks that do not depend on the failed
	// task still run.
	StopOnError bool
	// Owner, IsDead, and Lease are passed to [job.Options].
	Owner  string
	IsDead func(owner string) bool
	Lease  time.Duration
}

// Request is a request for a run. It is stored, so that a resumed run has the same graph, nodes, and choice of tasks.
type Request struct {
	Type      string
	Tasks     []taskgraph.Task
	Inventory inventory.Inventory
	Only      []string        `json:",omitempty"`
	Choice    schedule.Choice `json:",omitzero"`
	Event     string
	// Digests contains the digest of each task by ID.
	Digests map[string]string `json:",omitempty"`
	schedule.Decisions
	// Outputs contains the outputs of modules, as returned by [inventory.Data.Known].
	Outputs json.RawMessage `json:",omitempty"`
	// Nonce is a random string set by [Engine.Start].
	Nonce string
}

// Engine runs the task graphs of an environment. It is safe for concurrent use.
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

// schedule restores the schedule of a request.
func (r *Request) schedule() (*schedule.Schedule, error) {
	specs, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: r.Tasks}}, false), nil)
	if err != nil {
		return nil, err
	}
	return schedule.Restore(schedule.Input{
		Tasks: specs, Digests: r.Digests, Nodes: r.Inventory.Nodes, Only: r.Only, Choice: r.Choice, Event: r.Event,
	}, r.Decisions)
}
