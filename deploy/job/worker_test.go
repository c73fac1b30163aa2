package job_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// only returns the state of the only worker, or "" if there is none.
func only(t *testing.T, r *job.Runner) string {
	t.Helper()
	all := must.Get(r.Workers(t.Context()))(t)
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1 || all[0].Owner != "a" || len(all[0].Holds) != 1:
		t.Fatalf("Workers() = %+v, want a with one job", all)
	}
	return all[0].State
}

func wantRefused(t *testing.T, r *job.Runner, owner, want string) {
	t.Helper()
	_, err := r.Forget(t.Context(), owner)
	if _, ok := errors.AsType[*job.RefusedError](err); !ok || err.Error() != want {
		t.Errorf("Forget(%s) = %v, want it refused: %s", owner, err, want)
	}
}

// A worker is listed with its heartbeat while it holds a job.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		r, j := claimed(t, s)
		r.IsDead = func(string) bool { return false }
		begun := time.Now()
		must.Do(t, r.Hold(j, begun).Run(t.Context(), func(context.Context) error {
			time.Sleep(25 * time.Second)
			all := must.Get(r.Workers(t.Context()))(t)
			if seen := all[0].Seen.Sub(begun.UTC().Truncate(time.Microsecond)); seen != 20*time.Second || all[0].Host == "" {
				t.Errorf("worker after 25s = %+v, want the heartbeat of 20s", all[0])
			}
			if got := only(t, r); got != job.WorkerRunning {
				t.Errorf("state = %s, want running", got)
			}
			r.Stop()
			synctest.Wait()
			if got := only(t, r); got != job.WorkerDraining {
				t.Errorf("state after Stop = %s, want draining", got)
			}
			return nil
		}, func(ctx context.Context, _ error) error {
			return r.Write(ctx, func(tx *job.Tx) error {
				now, err := tx.Job(j.ID)
				if err != nil {
					return err
				}
				return tx.Move(&now, store.Done, "")
			})
		}))
		if got := only(t, r); got != "" {
			t.Errorf("state after the job = %s, want no worker", got)
		}
	})
}

// A worker on another host is forgotten after its heartbeats have stopped. It is fenced, and its calls are not waited for.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		_, j := claimed(t, s)
		dead := false
		r := job.New(job.Options{Store: s, Environment: "dev", Owner: "b", IsDead: func(string) bool { return dead }})
		here := must.Get(os.Hostname())(t)
		write := func(f func(store.Tx) error) { t.Helper(); must.Do(t, s.Write(t.Context(), "dev", f)) }
		wantRefused(t, r, "c", "no worker c in dev: 'lumi worker list' shows the workers")
		wantRefused(t, r, "a", "worker a is running on this host: end its process first")
		write(func(tx store.Tx) error {
			return errors.Join(
				tx.PutWorker(store.Worker{Environment: "dev", Owner: "a", Host: here, Boot: "another", Seen: tx.Now()}),
				tx.PutStep(store.Step{Deployment: j.ID, Number: 1, State: store.Started, Owner: "a", Deadline: tx.Now().Add(time.Hour)}),
				tx.PutStep(store.Step{Deployment: j.ID, Number: 2, State: store.Started, Owner: "b"}))
		})
		wantRefused(t, r, "a", "worker a sent a heartbeat in the last 30s: if its host is gone, try again when its lease has expired")
		time.Sleep(31 * time.Second)
		all := must.Get(r.Workers(t.Context()))(t)
		if len(all) != 2 || all[0].State != job.WorkerUnknown || all[0].IsHere || len(all[0].Holds) != 1 {
			t.Fatalf("Workers() = %+v, want a unknown, and b for its call", all)
		}
		dead = true
		if all := must.Get(r.Workers(t.Context()))(t); all[0].State != job.WorkerGone {
			t.Errorf("state of an ended process = %s, want gone", all[0].State)
		}
		dead = false
		if w := must.Get(r.Forget(t.Context(), "a"))(t); w.Owner != "a" {
			t.Errorf("Forget() = %+v, want a", w)
		}
		write(func(tx store.Tx) error {
			if _, err := tx.Touch(j.ID, j.Fence, store.Running); !errors.Is(err, store.ErrFenced) {
				t.Errorf("Touch() by a forgotten worker = %v, want %v", err, store.ErrFenced)
			}
			steps, err := tx.Steps(j.ID)
			if steps[0].State != store.Unknown || steps[1].State != store.Started {
				t.Errorf("steps = %+v, want only that of the forgotten worker UNKNOWN", steps)
			}
			return err
		})
		wantRefused(t, r, "a", "no worker a in dev: 'lumi worker list' shows the workers")
	})
}
