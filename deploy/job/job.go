// Package job runs jobs: deployments and runs of task graphs. A job is run by one process at a time. The process claims
// the job with a new fencing token and renews its lease. Every transaction checks the token, so a process that has lost
// its lease cannot write.
//
//	err := runner.Write(ctx, func(t *job.Tx) error { … return t.Claim(&j, store.Running) })
//	err = runner.Hold(j, sent).Run(ctx, work, end)   // end moves the job to its next state
//
// The caller defines the work of a job, when it may be claimed, and who may stop it.
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
	// Events, if not nil, is called for each event. Calls are never concurrent. It must not block.
	Events func(store.Event)
	// Owner identifies this process. By default, it consists of the host name, the process ID, and the start time.
	Owner string
	// IsDead reports whether an owner's process is known to have exited. By default, it checks processes on this host.
	IsDead func(owner string) bool
	// Lease is the time for which a job stays claimed after its process disappears. The default is 30 seconds.
	Lease time.Duration
}

// Runner runs jobs of an environment in this process. It is safe for concurrent use.
type Runner struct {
	Options
	emitMu sync.Mutex // serializes calls of Events
	worker store.Worker
	dead   sync.Map // owner to the time it was first seen dead
	// The first Stop closes stopStarting, the second cancelCalls. stopped counts the calls; stopMu guards it.
	stopStarting, cancelCalls chan struct{}
	stopped                   int
	stopMu                    sync.Mutex
	// lost is the error of a lost store. Once it is set, no new work starts, but results are still stored.
	lost atomic.Pointer[error]
}

// New returns a runner.
func New(o Options) *Runner {
	o.Owner, o.Lease = cmp.Or(o.Owner, self()), cmp.Or(o.Lease, 30*time.Second)
	if o.IsDead == nil {
		o.IsDead = hasEnded
	}
	w := store.Worker{Owner: o.Owner, Host: host(), Boot: boot()}
	return &Runner{Options: o, worker: w, stopStarting: make(chan struct{}), cancelCalls: make(chan struct{})}
}

// Stop stops the jobs of this process. The first call prevents new work from starting; the second cancels running
// calls.
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

// Stopping returns a channel that is closed by the first call of Stop.
func (r *Runner) Stopping() <-chan struct{} { return r.stopStarting }

func (r *Runner) isStopping() bool {
	select {
	case <-r.stopStarting:
		return true
	default:
		return false
	}
}

// Show calls Options.Events, if set, without storing the event.
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

// RefusedError reports that a request is not possible in the current state of a job or an environment. Nothing was
// changed.
type RefusedError struct{ Message string }

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// Refuse returns a *[RefusedError] with a formatted message.
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// RefuseState returns a *[RefusedError] for a job whose state does not allow a request. what is the participle in the
// message, such as "retried".
func RefuseState(j store.Job, what string) error {
	return Refuse("%s cannot be %s: it is %s", Name(j), what, j.State)
}
