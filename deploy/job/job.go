// Package job runs jobs, which are deployments and runs of task graphs. One process at a time runs a job. It claims the job
// for a limited time, with a new fencing token, and renews that lease while it lives. Every transaction of the process checks
// the token, so one that was taken for dead cannot write any more.
//
//	err := runner.Write(ctx, func(t *job.Tx) error { … return t.Claim(&j, store.Running) })
//	err = runner.Hold(j).Run(ctx, work, end)   // end moves the job to its next state
//
// What a job does, when it can be claimed and who may stop it is up to the caller.
package job

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Options configure a [Runner].
type Options struct {
	Store       store.Store
	Environment string
	// Events receives events, one at a time. It must not block. It may be nil.
	Events func(store.Event)
	// Owner identifies this process: by default its host, its ID and when it started.
	Owner string
	// IsDead reports whether the process with an identity is known to have ended. By default, that is found out on this host.
	IsDead func(owner string) bool
	// Lease is how long a job stays claimed after its process has disappeared: 30 seconds if it is 0.
	Lease time.Duration
}

// Runner is a process that runs jobs of an environment. It may be used concurrently.
type Runner struct {
	Options
	emitMu sync.Mutex // held while an event is shown
	dead   sync.Map   // when owners were first seen dead
	// Stop closes stopStarting, then cancelCalls; stopped counts its calls and stopMu guards it.
	stopStarting, cancelCalls chan struct{}
	stopped                   int
	stopMu                    sync.Mutex
	// lost is the error of a store that was removed. Then nothing new starts, and results are still stored.
	lost atomic.Pointer[error]
}

// New returns a runner.
func New(o Options) *Runner {
	o.Owner, o.Lease = cmp.Or(o.Owner, self()), cmp.Or(o.Lease, 30*time.Second)
	if o.IsDead == nil {
		o.IsDead = hasEnded
	}
	return &Runner{Options: o, stopStarting: make(chan struct{}), cancelCalls: make(chan struct{})}
}

// Stop stops what this process runs: the first call starts nothing new, the second cancels running calls.
func (r *Runner) Stop() {
	r.stopMu.Lock()
	defer r.stopMu.Unlock()
	r.stopped++
	switch r.stopped {
	case 1:
		close(r.stopStarting)
	case 2:
		close(r.cancelCalls)
	}
}

// Stopping returns a channel that is closed once nothing new may start.
func (r *Runner) Stopping() <-chan struct{} { return r.stopStarting }

// Show passes an event on that is not stored.
func (r *Runner) Show(event store.Event) {
	if r.Events == nil {
		return
	}
	r.emitMu.Lock()
	defer r.emitMu.Unlock()
	r.Events(event)
}

// Name returns what users call a job, such as "a[5]" or "Cleanup[a]".
func Name(j store.Job) string {
	switch j.Kind {
	case store.Tasks:
		return fmt.Sprintf("%s[%d]", j.Module, j.ID)
	case store.Cleanup:
		return fmt.Sprintf("Cleanup[%s]", j.Module)
	}
	return fmt.Sprintf("%s[%d]", j.Module, j.Number)
}

// RefusedError reports that a job or an environment is in a state in which a request is not possible. Nothing has changed.
type RefusedError struct{ Message string }

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// Refuse returns a *[RefusedError].
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// RefuseState returns the *[RefusedError] of a request that the state of a job does not allow, such as to be "retried".
func RefuseState(j store.Job, what string) error {
	return Refuse("%s cannot be %s: it is %s", Name(j), what, j.State)
}
