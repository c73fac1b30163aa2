package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Reasons for an interruption, returned by [Held.Interrupted].
var (
	ErrStopped = errors.New("stopped")
	ErrAborted = errors.New("aborted")
)

// Held is a job claimed by this process, created by [Runner.Hold].
type Held struct {
	*Runner
	// Job is the claimed job. The caller must update it when the job changes to another running state.
	Job store.Job
	// Calls is the context for calls to providers and provisioners. It is canceled when the context of Run is done,
	// when Stop is called twice, or when the lease is lost. In the last case, another process may be running the job,
	// and the cause wraps [store.ErrFenced]. Otherwise, the cause is [context.Canceled].
	Calls context.Context

	// renewed is the local time before the last renewal was sent. By the store's clock, the lease expires no earlier than
	// Lease after it, so the monotonic clock decides and the clocks need not agree.
	renewed   time.Time
	cut       context.CancelCauseFunc // cancels Calls
	aborts    chan struct{}           // closed when an abort is requested
	abortOnce sync.Once
}

// Hold returns a Held for a job that this process has claimed. sent is the local time before the transaction of the claim.
func (r *Runner) Hold(j store.Job, sent time.Time) *Held {
	return &Held{Runner: r, Job: j, renewed: sent, aborts: make(chan struct{})}
}

// Run calls work while renewing the lease. It then calls end with the error of work to record the outcome, and returns
// the error of end. If the lease is lost, the error wraps [store.ErrFenced]; if it is lost while work runs, end is not
// called.
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
	wait.Wait() // A renewal after end would report the lease as lost.
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

// keep renews the lease until ctx is done, when it returns nil. If the lease is lost, it returns an error that wraps
// [store.ErrFenced].
func (h *Held) keep(ctx context.Context) error {
	stopping := h.Stopping()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-stopping: // says so at once
			stopping = nil
		case <-time.After(h.Lease / 3):
		}
		sent := time.Now()
		limited, cancel := context.WithDeadline(ctx, h.renewed.Add(h.Lease))
		err := h.Record(limited, func(t *Tx, j store.Job) error {
			j.Expires = t.Expires()
			return t.PutJob(j)
		})
		cancel()
		if err == nil || errors.Is(err, store.ErrLost) { // let running calls finish
			h.renewed = sent
		} else if errors.Is(err, store.ErrFenced) || time.Since(h.renewed) >= h.Lease {
			return fmt.Errorf("%w: %w", store.ErrFenced, err)
		}
	}
}

// watch polls for abort requests until ctx is done.
func (h *Held) watch(ctx context.Context) {
	for tick := time.Tick(time.Second); ; {
		select {
		case <-tick:
		case <-ctx.Done():
			return
		case <-h.aborts:
			return
		}
		_ = h.Store.Read(ctx, func(tx store.Tx) error { // The next write reports the error.
			j, err := tx.Job(h.Job.ID)
			if err == nil {
				h.notice(j)
			}
			return err
		})
	}
}

// Touch returns the current job, or an error that wraps [store.ErrFenced] if this process no longer holds it. It must
// be the first statement of a transaction.
func (h *Held) Touch(tx store.Tx) (store.Job, error) {
	j, err := tx.Touch(h.Job.ID, h.Job.Fence, store.Running, store.Aborting)
	if err == nil {
		h.notice(j)
	}
	return j, err
}

// Record calls Touch and then f in a transaction.
func (h *Held) Record(ctx context.Context, f func(*Tx, store.Job) error) error {
	return h.Write(ctx, func(t *Tx) error {
		j, err := h.Touch(t)
		if err != nil {
			return err
		}
		return f(t, j)
	})
}

// Abandon cancels Calls with the given cause.
func (h *Held) Abandon(cause error) { h.cut(cause) }

// notice closes the channel returned by Aborts if j has an abort request.
func (h *Held) notice(j store.Job) {
	if j.Abort {
		h.abortOnce.Do(func() { close(h.aborts) })
	}
}

// Aborts returns a channel that is closed when an abort is requested. The channel is nil if the job is already being
// aborted.
func (h *Held) Aborts() <-chan struct{} {
	if h.Job.State == store.Aborting {
		return nil
	}
	return h.aborts
}

// Interrupted returns the reason that no new work may start: [ErrAborted], [ErrStopped], or the error of a lost store.
// It returns nil if new work may start.
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

// Sleep waits for d. If the job is interrupted or its calls are canceled, it returns [ErrAborted], [ErrStopped], or the
// error of Interrupted.
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
