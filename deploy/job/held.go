package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Why a job ends early, apart from its own failures.
var (
	ErrStopped = errors.New("stopped")
	ErrAborted = errors.New("aborted")
)

// Held is a job that this process has claimed, while it runs.
type Held struct {
	*Runner
	// Job is the job as it was claimed. A caller that moves it to another running state updates it.
	Job store.Job
	// Calls is the context of calls. It is done if the context of Run is done, Stop cancels calls, or the lease is lost. Then
	// another process may run the job, and the cause wraps [store.ErrFenced]; otherwise the cause is [context.Canceled].
	Calls context.Context

	cut       context.CancelCauseFunc // of Calls
	aborts    chan struct{}           // closed once the job is to be aborted
	abortOnce sync.Once
}

// Hold returns a job that this process has claimed.
func (r *Runner) Hold(j store.Job) *Held {
	return &Held{Runner: r, Job: j, aborts: make(chan struct{})}
}

// Run has work run the job while its lease is renewed, and then end record how it ended, with the error of work. The error is
// that of end. It wraps [store.ErrFenced] if the lease was lost, and end is left out if that happened before.
func (h *Held) Run(ctx context.Context, work func(context.Context) error, end func(context.Context, error) error) error {
	held, lose := context.WithCancelCause(ctx)
	h.Calls, h.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	wait.Go(func() {
		select {
		case <-h.cancelCalls:
		case <-held.Done():
			if ctx.Err() == nil {
				h.cut(context.Cause(held))
			}
		}
		h.cut(nil)
	})
	wait.Go(func() { lose(h.keep(held)) })
	wait.Go(func() { h.watch(held) })
	err := work(held)
	lost := context.Cause(held)
	lose(nil)
	wait.Wait() // A heartbeat after the end would take the job for lost.
	if !errors.Is(err, store.ErrFenced) && !errors.Is(lost, store.ErrFenced) {
		err = end(context.WithoutCancel(ctx), err)
	} else {
		err = store.ErrFenced
	}
	if errors.Is(err, store.ErrFenced) {
		return fmt.Errorf("%s: %w", Name(h.Job), store.ErrFenced)
	}
	return err
}

// keep renews the lease until ctx is done, or the lease is lost. Then the error wraps [store.ErrFenced].
func (h *Held) keep(ctx context.Context) error {
	expires := h.Job.Expires
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(h.Lease / 3):
		}
		next := h.Expires()
		err := h.Record(ctx, func(t *Tx, j store.Job) error {
			j.Expires = next
			return t.PutJob(j)
		})
		if err == nil || errors.Is(err, store.ErrLost) { // Running calls are to end.
			expires = next
		} else if errors.Is(err, store.ErrFenced) || !time.Now().Before(expires) {
			return fmt.Errorf("%w: %w", store.ErrFenced, err)
		}
	}
}

// watch looks for requests to abort the job until ctx is done.
func (h *Held) watch(ctx context.Context) {
	for tick := time.Tick(time.Second); ; {
		select {
		case <-tick:
		case <-ctx.Done():
			return
		case <-h.aborts:
			return
		}
		_ = h.Store.Read(ctx, func(tx store.Tx) error { // Where it fails, the next write fails too.
			j, err := tx.Job(h.Job.ID)
			if err == nil {
				h.notice(j)
			}
			return err
		})
	}
}

// Touch begins a transaction of this process, and returns the job as it is. The error is [store.ErrFenced] if the process
// does not hold the job any more.
func (h *Held) Touch(tx store.Tx) (store.Job, error) {
	j, err := tx.Touch(h.Job.ID, h.Job.Fence, store.Running, store.Aborting)
	if err == nil {
		h.notice(j)
	}
	return j, err
}

// Record runs f in a transaction that begins with Touch.
func (h *Held) Record(ctx context.Context, f func(*Tx, store.Job) error) error {
	return h.Write(ctx, func(t *Tx) error {
		j, err := h.Touch(t)
		if err != nil {
			return err
		}
		return f(t, j)
	})
}

// Abandon cancels calls with a cause.
func (h *Held) Abandon(cause error) { h.cut(cause) }

// notice notes whether a job is to be aborted.
func (h *Held) notice(j store.Job) {
	if j.Abort {
		h.abortOnce.Do(func() { close(h.aborts) })
	}
}

// Aborts returns a channel that is closed once the job is to be aborted. It is nil while that is being done.
func (h *Held) Aborts() <-chan struct{} {
	if h.Job.State == store.Aborting {
		return nil
	}
	return h.aborts
}

// Interrupted returns why nothing new may start, or nil: [ErrAborted], [ErrStopped], or that the store was removed.
func (h *Held) Interrupted(ctx context.Context) error {
	if lost := h.lost.Load(); lost != nil {
		return *lost
	}
	select {
	case <-h.Aborts():
		return ErrAborted
	case <-h.stopStarting:
	case <-ctx.Done():
	default:
		return nil
	}
	return ErrStopped
}

// Sleep waits, unless the job is interrupted or its calls are canceled.
func (h *Held) Sleep(ctx context.Context, d time.Duration) error {
	if err := h.Interrupted(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-h.Aborts():
		return ErrAborted
	case <-h.stopStarting:
	case <-ctx.Done():
	case <-h.Calls.Done():
	}
	return ErrStopped
}
