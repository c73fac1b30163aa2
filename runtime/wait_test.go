package lumi_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// states simulates a resource. Each poll returns the next state, and finally the last one. polls records the times.
type states struct {
	of    []string
	polls []time.Time
}

func (s *states) poll(context.Context) (state string, done bool, err error) {
	at := min(len(s.polls), len(s.of)-1)
	s.polls = append(s.polls, time.Now())
	return s.of[at], s.of[at] == "ready", nil
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) { lines = append(lines, e.Message) })
		s := &states{of: []string{"pending", "pending", "", "", "pending", "ready"}}
		must.Do(t, (lumi.Waiter{}).Wait(ctx, "queue q", s.poll))
		want := []string{
			"waiting for queue q: pending", "waiting for queue q: not ready", "waiting for queue q: pending",
		}
		if len(s.polls) != len(s.of) || !slices.Equal(lines, want) {
			t.Errorf("%d polls, want %d; progress = %q, want %q", len(s.polls), len(s.of), lines, want)
		}
	})
}

func TestWaitPauses(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for name, test := range map[string]struct {
		lumi.Waiter
		pauses []time.Duration // the maximum of each pause
	}{
		"zero":       {lumi.Waiter{}, []time.Duration{500 * ms, s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s}},
		"negative":   {lumi.Waiter{Pause: -s, MaxPause: -s, Timeout: -s}, []time.Duration{500 * ms, s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s}},
		"own":        {lumi.Waiter{Pause: s, MaxPause: 3 * s}, []time.Duration{s, 2 * s, 3 * s, 3 * s}},
		"long first": {lumi.Waiter{Pause: 20 * s}, []time.Duration{20 * s, 20 * s, 20 * s}},
		"shortest":   {lumi.Waiter{Pause: 1}, []time.Duration{1, 2, 4, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &states{of: slices.Repeat([]string{"pending"}, len(test.pauses))}
				s.of = append(s.of, "ready")
				must.Do(t, test.Wait(t.Context(), "q", s.poll))
				for i, longest := range test.pauses {
					if pause := s.polls[i+1].Sub(s.polls[i]); pause > longest || pause < longest/2 {
						t.Errorf("pause %d = %v, want at most %v", i, pause, longest)
					}
				}
			})
		})
	}
}

// The last poll is one initial pause before the deadline, regardless of the current pause.
func TestWaitLastPoll(t *testing.T) {
	const s = time.Second
	for name, test := range map[string]struct {
		lumi.Waiter
		deadline time.Duration // of the context, or 0 for none
		want     time.Duration // from the last poll to the end
	}{
		"long pauses":       {lumi.Waiter{Pause: s, MaxPause: time.Hour, Timeout: 100 * s}, 0, s},
		"zero":              {lumi.Waiter{}, 0, s / 2},
		"earlier deadline":  {lumi.Waiter{Pause: s, MaxPause: time.Hour}, 50 * s, s},
		"no time for it":    {lumi.Waiter{Pause: s, Timeout: s / 2}, 0, s / 2},
		"time for only one": {lumi.Waiter{Pause: 10 * s, Timeout: 11 * s}, 0, 10 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(test.deadline, time.Hour))
				defer cancel()
				q := &states{of: []string{"pending"}}
				if err := test.Wait(ctx, "q", q.poll); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				near := slices.ContainsFunc(q.polls, func(at time.Time) bool { return time.Since(at) == test.want })
				if !near || len(q.polls) > 100 {
					t.Errorf("%d polls, the last %v before the end, want at most 100, the last %v before", len(q.polls), time.Since(q.polls[len(q.polls)-1]), test.want)
				}
			})
		})
	}
}

func TestWaitLong(t *testing.T) {
	const most = time.Duration(1<<63 - 1)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		polls := 0
		err := lumi.Waiter{Pause: most/2 + 2, MaxPause: most, Timeout: most}.Wait(ctx, "q", func(context.Context) (string, bool, error) {
			if polls++; polls == 2 {
				cancel()
			}
			return "pending", false, nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestWaitEnds(t *testing.T) {
	broken := errors.New("broken")
	pending := func(context.Context) (string, bool, error) { return "pending", false, nil }
	after := func(d time.Duration, err error) func(context.Context) (string, bool, error) {
		return func(ctx context.Context) (string, bool, error) {
			select {
			case <-time.After(d):
				return "", false, err
			case <-ctx.Done():
				return "", false, fmt.Errorf("describing q: %w", ctx.Err())
			}
		}
	}
	for name, test := range map[string]struct {
		cancel, deadline time.Duration // of the context, or 0 for none
		poll             func(context.Context) (string, bool, error)
		want             string
		is               error
		took             time.Duration
	}{
		"timeout": {poll: pending, want: "waiting for q: still pending after 1m0s: context deadline exceeded",
			is: context.DeadlineExceeded, took: time.Minute},
		"timeout without a state": {
			poll: func(context.Context) (string, bool, error) { return "", false, nil },
			want: "waiting for q: still not ready after 1m0s: context deadline exceeded", is: context.DeadlineExceeded, took: time.Minute,
		},
		"timeout in a poll": {poll: after(time.Hour, nil), is: context.DeadlineExceeded, took: time.Minute,
			want: "waiting for q: still not ready after 1m0s: context deadline exceeded"},
		"canceled": {cancel: time.Second, poll: pending, is: context.Canceled, took: time.Second,
			want: "waiting for q: still pending: context canceled"},
		"canceled in a poll": {cancel: time.Second, poll: after(time.Hour, nil), is: context.Canceled, took: time.Second,
			want: "waiting for q: still not ready: context canceled"},
		"deadline": {deadline: time.Second, poll: pending, is: context.DeadlineExceeded, took: time.Second,
			want: "waiting for q: still pending: context deadline exceeded"},
		"error": {poll: after(time.Second, broken), is: broken, took: time.Second, want: "waiting for q: broken"},
		"error after the timeout": {took: 2 * time.Minute, is: broken, want: "waiting for q: broken",
			poll: func(context.Context) (string, bool, error) { time.Sleep(2 * time.Minute); return "", false, broken }},
		"done after the timeout": {took: 2 * time.Minute,
			poll: func(context.Context) (string, bool, error) { time.Sleep(2 * time.Minute); return "", true, nil }},
		"deadline of the poll's own": {took: time.Second, poll: after(time.Second, context.DeadlineExceeded),
			is: context.DeadlineExceeded, want: "waiting for q: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.cancel > 0 {
					time.AfterFunc(test.cancel, cancel)
				}
				if test.deadline > 0 {
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				start := time.Now()
				err := lumi.Waiter{Timeout: time.Minute}.Wait(ctx, "q", test.poll)
				if got := fmt.Sprint(err); got != cmp.Or(test.want, "<nil>") || test.is != nil && !errors.Is(err, test.is) {
					t.Errorf("Wait error = %s, want %s", got, test.want)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("Wait took %v, want %v", took, test.took)
				}
			})
		})
	}
}
