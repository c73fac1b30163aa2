package lumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Waiter polls until a resource has reached a state, with pauses that double, and a last time shortly before the timeout.
// The zero Waiter is ready to use.
type Waiter struct {
	// Pause is the first pause, 500 ms if it is 0.
	Pause time.Duration
	// MaxPause is the longest pause, 10 s if it is 0. It has no effect on the first.
	MaxPause time.Duration
	// Timeout is how long to wait, 5 min if it is 0.
	Timeout time.Duration
}

// Wait calls poll until that reports done or fails, and reports [Progress] each time the state is another. What names
// the resource, and state says how it is, such as "pending"; both are for people. The context of poll is done after the
// timeout.
//
// The error is that of poll, or one that wraps [context.DeadlineExceeded] after the timeout and the error of ctx if that
// is done. Each says what was waited for. A Create, Update or Delete that returns one of the latter has an uncertain
// outcome, unless it calls [State.Done] or returns an id.
func (w Waiter) Wait(
	ctx context.Context, what string, poll func(ctx context.Context) (state string, done bool, err error),
) error {
	timeout := positive(w.Timeout, 5*time.Minute)
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	pause := w.firstPause()
	longest := max(pause, positive(w.MaxPause, 10*time.Second))
	for last := ""; ; {
		state, done, err := poll(waiting)
		state = cmp.Or(state, "not ready")
		switch {
		case err != nil && !errors.Is(err, waiting.Err()):
			return fmt.Errorf("waiting for %s: %w", what, err)
		case err == nil && done:
			return nil
		case err == nil && state != last:
			Progress(ctx, "waiting for %s: %s", what, state)
			last = state
		}
		// Up to a half less, so that those who began together do not keep coming together.
		timer := time.NewTimer(w.beforeLast(waiting, pause-rand.N(pause/2+1)))
		select {
		case <-waiting.Done():
			timer.Stop()
			return ended(ctx, waiting, what, last, timeout)
		case <-timer.C:
		}
		pause += min(pause, longest-pause)
	}
}

// beforeLast returns the pause, or a shorter one after which there is just time for the first pause until the deadline.
// With long pauses, the last poll could otherwise be long before that.
func (w Waiter) beforeLast(waiting context.Context, pause time.Duration) time.Duration {
	deadline, _ := waiting.Deadline()
	if last := time.Until(deadline) - w.firstPause(); last > 0 {
		return min(pause, last)
	}
	return pause
}

func (w Waiter) firstPause() time.Duration { return positive(w.Pause, 500*time.Millisecond) }

// ended is the error of waiting that ended before the resource had reached its state.
func ended(ctx, waiting context.Context, what, state string, timeout time.Duration) error {
	still := "still " + cmp.Or(state, "not ready") // of which the first poll may not have learned
	if ctx.Err() == nil {
		still += fmt.Sprintf(" after %v", timeout)
	}
	return fmt.Errorf("waiting for %s: %s: %w", what, still, waiting.Err())
}

// positive returns d, or another duration if d is not positive.
func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
