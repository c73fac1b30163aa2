package job_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func claimed(t *testing.T, s store.Store) (*job.Runner, store.Job) {
	r := job.New(job.Options{Store: s, Environment: "dev", Owner: "a", Lease: 30 * time.Second})
	j := store.Job{Environment: "dev", Kind: store.Tasks, Module: "upgrade"}
	must.Do(t, r.Write(t.Context(), func(tx *job.Tx) error {
		if err := tx.PutEnvironment(store.Environment{Name: "dev"}); err != nil {
			return err
		}
		j.ID = 0
		if err := tx.Add(&j, store.Content{}); err != nil {
			return err
		}
		return tx.Claim(&j, store.Running)
	}))
	return r, j
}

// TestHeld runs a job in which something happens after 45.5 seconds, which is longer than the lease. It checks when the
// work ends, the results of Interrupted and Calls, and the error of Run.
func TestHeld(t *testing.T) {
	for name, test := range map[string]struct {
		happens           func(*job.Runner, *job.Tx, *store.Job) error
		after             time.Duration
		interrupted, want error
		calls             error
	}{
		"stopped": {
			func(r *job.Runner, _ *job.Tx, _ *store.Job) error { r.Stop(); return nil },
			45500 * time.Millisecond, job.ErrStopped, job.ErrStopped, nil,
		},
		"stopped twice": {
			func(r *job.Runner, _ *job.Tx, _ *store.Job) error { r.Stop(); r.Stop(); return nil },
			45500 * time.Millisecond, job.ErrStopped, job.ErrStopped, context.Canceled,
		},
		"aborted": {
			func(_ *job.Runner, tx *job.Tx, j *store.Job) error { j.Abort = true; return tx.PutJob(*j) },
			46 * time.Second, job.ErrAborted, job.ErrAborted, nil,
		},
		"taken over": {
			func(_ *job.Runner, tx *job.Tx, j *store.Job) error { return tx.Claim(j, store.Wait) },
			50 * time.Second, job.ErrStopped, store.ErrFenced, store.ErrFenced,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := memory.New()
				r, j := claimed(t, s)
				h, begun := r.Hold(j, time.Now()), time.Now()
				time.AfterFunc(45500*time.Millisecond, func() {
					must.Do(t, r.Write(t.Context(), func(tx *job.Tx) error {
						now, err := tx.Job(j.ID)
						if err != nil {
							return err
						}
						return test.happens(r, tx, &now)
					}))
				})
				ended := false
				err := h.Run(t.Context(), func(ctx context.Context) error {
					err := h.Sleep(ctx, time.Hour)
					synctest.Wait()
					if took := time.Since(begun); took != test.after {
						t.Errorf("Sleep returned after %v, want %v", took, test.after)
					}
					if got := h.Interrupted(ctx); !errors.Is(got, test.interrupted) {
						t.Errorf("Interrupted() = %v, want %v", got, test.interrupted)
					}
					if got := context.Cause(h.Calls); !errors.Is(got, test.calls) {
						t.Errorf("Cause(Calls) = %v, want %v", got, test.calls)
					}
					return err
				}, func(ctx context.Context, err error) error {
					ended = true
					return errors.Join(err, ctx.Err())
				})
				if !errors.Is(err, test.want) {
					t.Errorf("Run() = %v, want %v", err, test.want)
				}
				if wantEnd := !errors.Is(test.want, store.ErrFenced); ended != wantEnd {
					t.Errorf("end was called: %t, want %t", ended, wantEnd)
				}
			})
		})
	}
}

// A holder judges its lease by its own clock, and others by the store's, so these clocks need not agree.
func TestSkewedClock(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := memory.New()
			s.Clock = func() time.Time { return time.Now().Add(skew) }
			r, j := claimed(t, s)
			other := job.New(job.Options{Store: s, Environment: "dev", Owner: "other", IsDead: func(string) bool { return false }})
			isGone := func() (gone bool) {
				must.Do(t, other.Read(t.Context(), func(tx *job.Tx) error {
					now, err := tx.Job(j.ID)
					gone = other.IsGone(tx.Now(), now)
					return err
				}))
				return gone
			}
			err := r.Hold(j, time.Now()).Run(t.Context(), func(ctx context.Context) error {
				time.Sleep(100 * time.Second)
				if isGone() {
					t.Errorf("clock skew %v: a job is free while it is held", skew)
				}
				return ctx.Err()
			}, func(context.Context, error) error { return nil })
			if err != nil {
				t.Error(err)
			}
			if time.Sleep(31 * time.Second); !isGone() {
				t.Errorf("clock skew %v: a job is not free after its lease", skew)
			}
		})
	}
}

// unreachable is a store whose writes fail.
type unreachable struct{ store.Store }

func (unreachable) Write(ctx context.Context, _ string, _ func(store.Tx) error) error {
	select {
	case <-ctx.Done():
	case <-time.After(3 * time.Second):
	}
	return errors.New("unreachable")
}

// A holder gives up at the latest when its lease has expired by the store's clock, so it counts from before the claim.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, begun := memory.New(), time.Now()
		r, j := claimed(t, s)
		r.Store = unreachable{s}
		time.Sleep(5 * time.Second)
		err := r.Hold(j, begun).Run(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return nil }, nil)
		if took := time.Since(begun); !errors.Is(err, store.ErrFenced) || took != 30*time.Second {
			t.Errorf("Run() = %v after %v, want %v after 30s", err, took, store.ErrFenced)
		}
	})
}
