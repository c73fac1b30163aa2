package lumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Waiter polls until a resource reaches a state, with exponential backoff and one last poll shortly before the timeout.
// The zero Waiter is ready to use.
type Waiter struct {
	// Pause is the pause after the first poll. The default is 500 ms.
	Pause time.Duration
	// MaxPause is the maximum pause. The default is 10 s.
	MaxPause time.Duration
	// Timeout is the maximum total wait. The default is 5 min.
	Timeout time.Duration
}

// Wait calls poll repeatedly until it reports done or returns an error. It reports [Progress] whenever state changes. what
// is the name of the resource, and state its condition, such as "pending"; they are only displayed. The context passed to
// poll is done after the timeout.
//
// The error includes what. It wraps the error returned by poll, [context.DeadlineExceeded] after the timeout, or ctx.Err()
// if ctx is done. If a Create, Update, or Delete returns an error of the latter two kinds, its outcome is uncertain, unless
// it has called [State.Done] or returns an id.
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
		// Subtract a random jitter of up to half the pause to spread the polls of concurrent waiters.
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

// beforeLast shortens pause, if necessary, so that the next poll is no later than w.firstPause() before the deadline.
// Otherwise, a long pause could run past the deadline, long after the last poll.
func (w Waiter) beforeLast(waiting context.Context, pause time.Duration) time.Duration {
	deadline, _ := waiting.Deadline()
	if last := time.Until(deadline) - w.firstPause(); last > 0 {
		return min(pause, last)
	}
	return pause
}

func (w Waiter) firstPause() time.Duration { return positive(w.Pause, 500*time.Millisecond) }

// ended returns the error of a wait for which waiting is done.
func ended(ctx, waiting context.Context, what, state string, timeout time.Duration) error {
	still := "still " + cmp.Or(state, "not ready") // The first poll may not have returned a state.
	if ctx.Err() == nil {
		still += fmt.Sprintf(" after %v", timeout)
	}
	return fmt.Errorf("waiting for %s: %s: %w", what, still, waiting.Err())
}

// positive returns d if it is positive, and otherwise the second argument.
func positive(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
