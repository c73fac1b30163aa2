// Package job runs jobs: deployments and runs of task graphs. A job is run by one process at a time, which claims it
// with a new fencing token and renews its lease. Every transaction checks the token, so a process that lost its lease
// cannot write.
//
//	err := runner.Write(ctx, func(t *job.Tx) error { … return t.Claim(&j, store.Running) })
//	err = runner.Hold(j).Run(ctx, work, end)   // end moves the job to its next state
//
// The caller defines what a job does, when it can be claimed, and who may stop it.
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
	// Events receives events, one at a time. It must not block and may be nil.
	Events func(store.Event)
	// Owner identifies this process. The default consists of the host, the process ID, and the start time.
	Owner string
	// IsDead reports whether an owner's process is known to have ended. The default checks processes on this host.
	IsDead func(owner string) bool
	// Lease is how long a job stays claimed after its process has disappeared. The default is 30 seconds.
	Lease time.Duration
}

// Runner runs jobs of an environment in this process. It is safe for concurrent use.
type Runner struct {
	Options
	emitMu sync.Mutex // held while an event is shown
	dead   sync.Map   // time when each owner was first seen dead
	// Stop closes stopStarting, then cancelCalls; stopped counts its calls and stopMu guards it.
	stopStarting, cancelCalls chan struct{}
	stopped                   int
	stopMu                    sync.Mutex
	// lost is the error of a removed store. Once it is set, nothing new starts, but results are still stored.
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

// Stop stops the jobs of this process: after the first call, nothing new starts; the second cancels running calls.
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

// Show passes an event to Options.Events without storing it.
func (r *Runner) Show(event store.Event) {
	if r.Events == nil {
		return
	}
	r.emitMu.Lock()
	defer r.emitMu.Unlock()
	r.Events(event)
}

// Name returns the display name of a job, such as "a[5]" or "Cleanup[a]".
func Name(j store.Job) string {
	switch j.Kind {
	case store.Tasks:
		return fmt.Sprintf("%s[%d]", j.Module, j.ID)
	case store.Cleanup:
		return fmt.Sprintf("Cleanup[%s]", j.Module)
	}
	return fmt.Sprintf("%s[%d]", j.Module, j.Number)
}

// RefusedError reports that the state of a job or an environment does not allow a request. Nothing has changed.
type RefusedError struct{ Message string }

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// Refuse formats a *[RefusedError].
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// RefuseState returns a *[RefusedError] for a request that the state of a job does not allow, such as "retried".
func RefuseState(j store.Job, what string) error {
	return Refuse("%s cannot be %s: it is %s", Name(j), what, j.State)
}
