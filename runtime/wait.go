package lumi

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Waiter polls until a resource has reached a state, with pauses that double. The zero Waiter is ready to use.
type Waiter struct {
	// Pause is the first pause, 500 ms if it is 0.
	Pause time.Duration
	// MaxPause is the longest pause, 10 s if it is 0.
	MaxPause time.Duration
	// Timeout is how long to wait, 5 min if it is 0.
	Timeout time.Duration
}

// Wait calls poll until that reports done or fails, and reports [Progress] each time the state is another. What names
// the resource, and state says how it is, such as "pending"; both are for people. The error is that of poll, or one that
// wraps [context.DeadlineExceeded] after the timeout and the error of ctx if that is done. Each says what was waited for.
func (w Waiter) Wait(
	ctx context.Context, what string, poll func(ctx context.Context) (state string, done bool, err error),
) error {
	timeout := cmp.Or(w.Timeout, 5*time.Minute)
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	pause, longest := cmp.Or(w.Pause, 500*time.Millisecond), cmp.Or(w.MaxPause, 10*time.Second)
	for last := ""; ; pause = min(2*pause, longest) {
		state, done, err := poll(waiting)
		switch {
		case err != nil:
			return fmt.Errorf("waiting for %s: %w", what, err)
		case done:
			return nil
		case state != last:
			Progress(ctx, "waiting for %s: %s", what, state)
			last = state
		}
		// Up to a half less, so that those who began together do not keep coming together.
		timer := time.NewTimer(pause - rand.N(pause/2+1))
		select {
		case <-waiting.Done():
			timer.Stop()
			if ctx.Err() != nil {
				return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
			}
			return fmt.Errorf("waiting for %s: still %s after %v: %w", what, cmp.Or(state, "not ready"), timeout, waiting.Err())
		case <-timer.C:
		}
	}
}
