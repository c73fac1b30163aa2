// Package run runs task graphs. A run is a deployment of package store, with its lease, fencing token and events: it is
// recorded before a task starts and after it has ended, so another process can continue after a crash.
//
//	engine := run.New(run.Options{Store: s, Environment: "prod", Executor: executor})
//	d, err := engine.Start(ctx, run.Request{Type: "upgrade", ...})
//	d, err = engine.Run(ctx, d.ID)   // until it is done, has failed, asks or was stopped
//
// # States
//
//	WAIT ──▶ RUNNING ──▶ DONE
//	  ▲         ├──▶ FAILED, CANCELLED (stopped) ──┐
//	  │         └──▶ ASK ──────────────────────────┤
//	  └─────────────────── resume ─────────────────┘
package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/lease"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// Executor runs tasks on nodes.
type Executor interface {
	// Execute runs a task on a node once, with its tests and retries. The error is [ErrUncertain], perhaps wrapped, if nobody
	// knows whether it took effect. ctx is done if the run is cancelled or the lease is lost.
	Execute(ctx context.Context, w Work) error
}

// ErrUncertain says that the outcome of a task is unknown.
var ErrUncertain = errors.New("the outcome is unknown")

// Work is a task to be run on a node.
type Work struct {
	Environment string
	Run         int64
	Task        *taskgraph.Spec
	// Node is nil for a stage.
	Node *inventory.Node
	// Token identifies the work. It is the same after a crash, so an executor can find out what became of the work.
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
	// Owner, IsDead and Lease are those of package lease.
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
	// Skip has why items have nothing to do, and Refresh the digests of values that they depend on, by name of the item.
	Skip, Refresh map[string]string `json:",omitempty"`
}

// Engine runs the task graphs of an environment.
type Engine struct {
	Options
	holder  *lease.Holder
	showing sync.Mutex
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Parallelism == 0 {
		o.Parallelism = 16
	}
	return &Engine{Options: o, holder: lease.New(o.Owner, o.IsDead, o.Lease)}
}

// Start adds a run. The error is a *[RefusedError] while the environment has one that runs, waits or was interrupted.
func (e *Engine) Start(ctx context.Context, r Request) (d store.Deployment, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return d, err
	}
	d = store.Deployment{
		Environment: e.Environment, Purpose: store.Tasks, Module: r.Type, State: store.Wait, Created: time.Now().UTC(),
	}
	e.holder.Claim(&d)
	err = e.Store.Write(ctx, func(tx store.Tx) error {
		d.ID, err = tx.AddDeployment(d, store.Content{Request: string(text)})
		return err
	})
	return d, err
}

// Run runs a run until it is done, has failed, asks or was stopped, and returns it.
func (e *Engine) Run(ctx context.Context, id int64) (d store.Deployment, err error) {
	var c store.Content
	err = e.Store.Write(ctx, func(tx store.Tx) error {
		if d, err = tx.Deployment(id); err != nil {
			return err
		}
		if c, err = tx.Content(id); err != nil {
			return err
		}
		e.holder.Claim(&d)
		d.State = store.Running
		return tx.PutDeployment(d)
	})
	if err != nil {
		return d, err
	}
	var r Request
	if err := json.Unmarshal([]byte(c.Request), &r); err != nil {
		return d, err
	}
	specs, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: r.Tasks}}, false), nil)
	if err != nil {
		return d, err
	}
	s, err := schedule.New(schedule.Input{Tasks: specs, Nodes: r.Inventory.Nodes, Only: r.Only, Event: r.Event})
	if err != nil {
		return d, err
	}
	all := make([]int32, s.Graph.Len())
	for i := range all {
		all[i] = int32(i)
	}
	ready := dag.NewReady(s.Graph)
	var queue []int32
	for v := range int32(s.Graph.Len()) {
		if ready.Has(v) {
			queue = append(queue, v)
		}
	}
	d.State = store.Done
	for ; len(queue) > 0; queue = queue[1:] {
		item := s.Items[queue[0]]
		w := Work{
			Environment: e.Environment, Run: id, Task: item.Task, Node: item.Node, Token: fmt.Sprintf("%d-%d", id, queue[0]),
			Log: func(level, message string) { e.show(d, item, store.Event{Level: level, Message: message}) },
		}
		row := store.TaskRun{Number: int(queue[0]), Task: item.Task.ID, Node: item.Node.Name, State: store.Done}
		e.show(d, item, store.Event{State: store.Started})
		if err := e.Executor.Execute(ctx, w); err != nil {
			row.State, row.Message, d.State = store.Failed, err.Error(), store.Failed
		}
		e.show(d, item, store.Event{State: row.State, Message: row.Message})
		if err := e.Store.Write(ctx, func(tx store.Tx) error { return tx.PutTaskRuns(id, []store.TaskRun{row}) }); err != nil {
			return d, err
		}
		if row.State == store.Done {
			ready.Done(queue[0], func(v int32) { queue = append(queue, v) })
		}
	}
	d.Ended = time.Now().UTC()
	return d, e.Store.Write(ctx, func(tx store.Tx) error { return tx.PutDeployment(d) })
}

// Name returns what users call a run, such as "upgrade[12]".
func Name(d store.Deployment) string { return fmt.Sprintf("%s[%d]", d.Module, d.ID) }

func (e *Engine) show(d store.Deployment, item schedule.Item, event store.Event) {
	if e.Events == nil {
		return
	}
	event.Time, event.Deployment, event.Name, event.URN, event.Kind = time.Now().UTC(), d.ID, Name(d), item.Name(), "execute"
	e.showing.Lock()
	defer e.showing.Unlock()
	e.Events(event)
}

// RefusedError reports that a run is in a state in which a request is not possible. Nothing has changed.
type RefusedError struct{ Message string }

func (e *RefusedError) Error() string { return e.Message }
