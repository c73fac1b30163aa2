package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tokens []string
	d := w.run(w.engine("one", func(_ context.Context, x run.Work) error {
		tokens = append(tokens, x.Token[strings.LastIndex(x.Token, "-"):])
		if len(tokens) < 3 {
			return fmt.Errorf("connection lost: %w", run.ErrUncertain)
		}
		return nil
	}), w.request("- {id: a, type: shell}", "n"))
	w.want(d, store.Done, "", "n/a DONE")
	if got := fmt.Sprint(tokens); got != "[-0 -0.1 -0.2]" {
		t.Errorf("tokens = %s, want [-0 -0.1 -0.2]", got)
	}
	unknown := func(context.Context, run.Work) error { return run.ErrUncertain }
	d = w.run(w.engine("one", unknown), w.request("- {id: a, type: shell}", "n"))
	w.want(d, store.Failed, "n/a: the outcome is unknown", "n/a FAILED the outcome is unknown")
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.request("[{id: a, type: shell}, {id: once, type: shell, idempotent: false}, {id: next, type: shell, requires: [once]}]", "n")
	d := w.run(w.engine("one", func(context.Context, run.Work) error {
		return fmt.Errorf("%w: no route", run.ErrUnreached)
	}), r)
	const why = "the outcome is unknown while the node is unreachable: no route"
	w.want(d, store.Failed, "n/a: "+why+"\nn/once: "+why, "n/a STARTED "+why, "n/once STARTED "+why, "n/next SKIPPED n/once failed")
	if text := strings.Join(w.shown, "\n"); !strings.Contains(text, "n/a execute FAILED "+why) {
		t.Errorf("events do not contain the failure:\n%s", text)
	}
	var calls []string
	d = w.resume(w.engine("two", func(_ context.Context, x run.Work) error {
		calls = append(calls, fmt.Sprint(x.Task.ID, x.Token[strings.LastIndex(x.Token, "-"):], x.Resumed))
		return nil
	}, func(o *run.Options) { o.Parallelism = 1 }), d.ID, nil)
	w.want(d, store.Done, "", "n/a DONE", "n/once DONE", "n/next DONE")
	if got := fmt.Sprint(calls); got != "[a-0true once-1true next-2false]" {
		t.Errorf("calls = %s, want [a-0true once-1true next-2false]", got)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var calls []string
	e := w.engine("one", func(_ context.Context, x run.Work) error {
		calls = append(calls, x.Node.Name+"/"+x.Task.ID+x.Token[strings.LastIndex(x.Token, "-"):])
		if x.Task.ID == "once" && len(calls) <= 3 {
			return run.ErrUncertain
		}
		return nil
	}, func(o *run.Options) { o.Parallelism = 1 })
	r := w.request("[{id: once, type: shell, idempotent: false}, {id: free, type: shell}, {id: next, type: shell, requires: [once]}]", "n1", "n2")
	d := w.run(e, r)
	questions := "did task once on node n1 take effect?\ndid task once on node n2 take effect?"
	w.want(d, store.Ask, questions, "n1/once UNKNOWN the outcome is unknown", "n2/once UNKNOWN the outcome is unknown",
		"n1/free DONE", "n2/free DONE", "n1/next SKIPPED the outcome of n1/once is unknown", "n2/next SKIPPED the outcome of n2/once is unknown")
	if s, err := e.Status(t.Context(), d.ID); err != nil || len(s.Asks) != 2 || s.Asks[1].Number != 1 || s.Held || s.Name != "upgrade[1]" {
		t.Errorf("Status = %+v, %v, want two questions", s, err)
	}
	_, err := e.Resume(t.Context(), d.ID, nil)
	w.wantRefused(err, "upgrade[1] needs an answer: did task once on node n1 take effect?")
	_, err = e.Resume(t.Context(), d.ID, &run.Answer{Number: 2})
	w.wantRefused(err, "upgrade[1] is not waiting for an answer about task run 2")
	d = w.resume(e, d.ID, &run.Answer{Number: 0, Done: true})
	w.want(d, store.Ask, "did task once on node n2 take effect?",
		"n1/once DONE answered: it took effect", "n2/once UNKNOWN the outcome is unknown", "n1/free DONE", "n2/free DONE", "n1/next DONE",
		"n2/next SKIPPED the outcome of n2/once is unknown")
	d = w.resume(e, d.ID, &run.Answer{Number: 1})
	w.want(d, store.Done, "", "n1/once DONE answered: it took effect", "n2/once DONE", "n1/free DONE", "n2/free DONE", "n1/next DONE", "n2/next DONE")
	if got := fmt.Sprint(calls); got != "[n1/once-0 n2/once-1 n1/free-2 n2/free-3 n1/next-4 n2/once-1.1 n2/next-5]" {
		t.Errorf("calls = %s, want each task once except n2/once", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, other := w.engine("one", nothing), w.engine("two", nothing)
	r := w.request("- {id: a, type: shell}", "n")
	d := must.Get(e.Start(t.Context(), r))(t)
	_, err := other.Start(t.Context(), r)
	w.wantRefused(err, "upgrade[1] is about to run: wait for it to end, or stop it")
	_, err = other.Run(t.Context(), d.ID)
	w.wantRefused(err, "upgrade[1] is about to run: wait for it to end, or stop it")
	_, err = other.Resume(t.Context(), d.ID, nil)
	w.wantRefused(err, "upgrade[1] is about to run: wait for it to end, or stop it")
	put := func(owner string, state store.State) {
		w.write(func(tx store.Tx) error {
			d, err := tx.Job(d.ID)
			d.State, d.Owner, d.Expires = state, owner, time.Now().Add(time.Hour)
			return errors.Join(err, tx.PutJob(d))
		})
	}
	put("one", store.Running)
	_, err = other.Start(t.Context(), r)
	w.wantRefused(err, "upgrade[1] is running: wait for it to end, or stop it")
	_, err = e.Resume(t.Context(), d.ID, nil)
	w.wantRefused(err, "upgrade[1] is running: wait for it to end, or stop it")
	_, err = e.Run(t.Context(), d.ID)
	w.wantRefused(err, "upgrade[1] cannot be run: it is RUNNING")
	put("dead", store.Running)
	_, err = other.Start(t.Context(), r)
	w.wantRefused(err, "upgrade[1] was interrupted: 'lumi tasks run --resume=1' continues it, 'lumi tasks stop 1' ends it")
	put("dead", store.Wait)
	_, err = other.Start(t.Context(), r)
	w.wantRefused(err, "upgrade[1] was interrupted: 'lumi tasks run --resume=1' continues it, 'lumi tasks stop 1' ends it")
	w.want(w.resume(other, d.ID, nil), store.Done, "", "n/a DONE")
	_, err = other.Resume(t.Context(), d.ID, nil)
	w.wantRefused(err, "upgrade[1] cannot be resumed: it is DONE")
	_, err = other.Cancel(t.Context(), d.ID)
	w.wantRefused(err, "upgrade[1] cannot be stopped: it is DONE")
	// A failed run does not block another run, but it cannot be resumed as long as the other run is active.
	failed := w.run(w.engine("one", failing("n/a")), r)
	must.Get(e.Start(t.Context(), r))(t)
	_, err = other.Resume(t.Context(), failed.ID, nil)
	w.wantRefused(err, "upgrade[3] is about to run: wait for it to end, or stop it")

	_, err = w.engine("one", nothing, func(o *run.Options) { o.Environment = "dev" }).Cancel(t.Context(), 1)
	if w.wantError(err, "run 1 of dev: not found"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Cancel = %v, want %v", err, store.ErrNotFound)
	}
	if _, err = e.Status(t.Context(), 99); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Status = %v, want %v", err, store.ErrNotFound)
	}
	_, err = w.engine("one", nothing, func(o *run.Options) { o.Environment = "none" }).Start(t.Context(), r)
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Start = %v, want %v", err, store.ErrNotFound)
	}
}

// blocking blocks until ctx is done or an hour has passed.
func blocking(ctx context.Context, _ run.Work) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Hour):
		return nil
	}
}

const two = "[{id: a, type: shell}, {id: b, type: shell, requires: [a]}]"

// background starts a run and executes it in a goroutine, which sends the result to ended.
func (w *world) background(e *run.Engine, r run.Request) (id int64, ended chan error) {
	w.Helper()
	d := must.Get(e.Start(w.Context(), r))(w)
	ended = make(chan error, 1)
	go func() {
		_, err := e.Run(w.Context(), d.ID)
		ended <- err
	}()
	synctest.Wait()
	return d.ID, ended
}

func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.engine("one", blocking)
		id, ended := w.background(e, w.request(two, "n"))
		d := store.Job{ID: id}
		e.Stop()
		synctest.Wait()
		w.want(d, store.Running, "", "n/a STARTED")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		w.want(d, store.Canceled, "", "n/a DONE")

		e = w.engine("one", blocking)
		must.Get(e.Resume(t.Context(), id, nil))(t)
		go func() { _, err := e.Run(t.Context(), id); ended <- err }()
		synctest.Wait()
		before := time.Now()
		for range 3 {
			e.Stop()
		}
		if err := <-ended; err != nil || time.Since(before) != 0 {
			t.Errorf("Run = %v after %v, want nil immediately", err, time.Since(before))
		}
		w.want(d, store.Canceled, "", "n/a DONE", "n/b STARTED")
		var resumed bool
		w.want(w.resume(w.engine("two", func(_ context.Context, x run.Work) error {
			resumed = x.Resumed && strings.HasSuffix(x.Token, "-1")
			return nil
		}), id, nil), store.Done, "", "n/a DONE", "n/b DONE")
		if !resumed {
			t.Error("the task was not resumed with the same token")
		}
	})
}

func TestContextCanceled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := w.engine("one", func(ctx context.Context, _ run.Work) error {
		cancel(stopped)
		<-ctx.Done()
		return ctx.Err()
	})
	d, err := e.Start(t.Context(), w.request(two, "n"))
	if err != nil {
		t.Fatal(err)
	}
	d, err = e.Run(ctx, d.ID)
	if !errors.Is(err, stopped) {
		t.Errorf("Run = %v, want %v", err, stopped)
	}
	w.want(d, store.Canceled, "", "n/a STARTED")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		other := w.engine("two", nothing)
		id, ended := w.background(w.engine("one", blocking), w.request(two, "n"))
		if d, err := other.Cancel(t.Context(), id); err != nil || !d.Abort || d.State != store.Running {
			t.Errorf("Cancel = %+v, %v, want a running run to be aborted", d, err)
		}
		if s, err := other.Status(t.Context(), id); err != nil || !s.Held {
			t.Errorf("Status = %+v, %v, want a held run", s, err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		d := store.Job{ID: id}
		w.want(d, store.Canceled, "", "n/a DONE")
		w.want(w.resume(other, id, nil), store.Done, "", "n/a DONE", "n/b DONE")

		// A run that has not started, and one whose process has ended.
		e := w.engine("three", nothing)
		d, err := e.Start(t.Context(), w.request(two, "n"))
		if err == nil {
			_, err = other.Cancel(t.Context(), d.ID)
		}
		if err == nil {
			d, err = e.Run(t.Context(), d.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.want(d, store.Canceled, "")
		dead := w.engine("dead", blocking)
		id, ended = w.background(dead, w.request(two, "n"))
		d = must.Get(other.Cancel(t.Context(), id))(t)
		w.want(d, store.Canceled, "", "n/a STARTED")
		w.wantError(<-ended, "upgrade[3]: another executor has taken over")
	})
}

func TestLeaseLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		started := time.Now()
		id, ended := w.background(w.engine("dead", blocking), w.request(two, "n"))
		w.want(w.resume(w.engine("two", nothing), id, nil), store.Done, "", "n/a DONE", "n/b DONE")
		err := <-ended
		if w.wantError(err, "upgrade[1]: another executor has taken over"); !errors.Is(err, store.ErrFenced) {
			t.Errorf("Run = %v, want %v", err, store.ErrFenced)
		}
		if took := time.Since(started); took != 10*time.Second { // the loss is detected by a heartbeat
			t.Errorf("Run took %v, want 10s", took)
		}
		// The lease is renewed, so no other process takes over.
		id, ended = w.background(w.engine("one", blocking), w.request(two, "n"))
		time.Sleep(30 * time.Minute)
		_, err = w.engine("two", nothing).Resume(t.Context(), id, nil)
		w.wantRefused(err, "upgrade[2] is running: wait for it to end, or stop it")
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestOutcomeForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		tasks := "[{id: a, type: shell}, {id: once, type: shell, idempotent: false}, {id: next, type: shell, requires: [once]}]"
		id, ended := w.background(w.engine("dead", blocking), w.request(tasks, "n"))
		other := w.engine("two", blocking)
		must.Get(other.Cancel(t.Context(), id))(t)
		if err := <-ended; !errors.Is(err, store.ErrFenced) {
			t.Errorf("Run = %v, want %v", err, store.ErrFenced)
		}
		time.Sleep(run.Memory + time.Minute)
		e := w.engine("three", nothing)
		d := w.resume(e, id, nil)
		w.want(d, store.Ask, "did task once on node n take effect?",
			"n/a DONE", "n/once UNKNOWN the outcome is unknown", "n/next SKIPPED the outcome of n/once is unknown")
		w.want(w.resume(e, id, &run.Answer{Number: 1, Done: true}), store.Done, "",
			"n/a DONE", "n/once DONE answered: it took effect", "n/next DONE")
	})
}

// A request to stop that arrives while the outcome of the last task is recorded does not change the run any more.
func TestStopAtEnd(t *testing.T) {
	t.Parallel()
	for range 100 {
		w := newWorld(t)
		var e *run.Engine
		e = w.engine("one", func(context.Context, run.Work) error {
			go e.Stop()
			return nil
		})
		w.want(w.run(e, w.request("[{id: a, type: shell}]", "n")), store.Done, "", "n/a DONE")
	}
}

// The cause of the context distinguishes a canceled task from a task that another process has taken over.
func TestCancelCause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		by   func(w *world, e *run.Engine, id int64, cancel func())
		want error
	}{
		"stop":    {func(_ *world, e *run.Engine, _ int64, _ func()) { e.Stop(); e.Stop() }, context.Canceled},
		"context": {func(_ *world, _ *run.Engine, _ int64, cancel func()) { cancel() }, context.Canceled},
		"lease": {func(w *world, _ *run.Engine, id int64, _ func()) {
			_ = w.resume(w.engine("two", nothing), id, nil)
		}, store.ErrFenced},
		"store": {func(w *world, e *run.Engine, _ int64, _ func()) { e.Store.(*broken).writes.Store(0) }, errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				causes := make(chan error, 2)
				e := w.engine("dead", func(ctx context.Context, x run.Work) error {
					if x.Task.ID == "quick" {
						time.Sleep(time.Minute)
						return nil
					}
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return ctx.Err()
				}, func(o *run.Options) { o.Store = breaking(w.store, 100) })
				d := must.Get(e.Start(t.Context(), w.request("[{id: slow, type: shell}, {id: quick, type: shell}]", "n")))(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				ended := make(chan struct{})
				go func() {
					_, _ = e.Run(ctx, d.ID) // the result is tested elsewhere
					close(ended)
				}()
				synctest.Wait()
				test.by(w, e, d.ID, func() { cancel(errors.New("interrupted")) })
				<-ended
				if got := <-causes; !errors.Is(got, test.want) {
					t.Errorf("cause = %v, want %v", got, test.want)
				}
			})
		})
	}
}

// broken is a store in which writes fail after a number of successful ones.
type broken struct {
	store.Store
	writes atomic.Int32 // number of writes that will still succeed
}

func breaking(s store.Store, writes int32) *broken {
	b := &broken{Store: s}
	b.writes.Store(writes)
	return b
}

var errBroken = errors.New("the disk is full")

func (b *broken) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	if b.writes.Add(-1) < 0 {
		return errBroken
	}
	return b.Store.Write(ctx, environment, f)
}

func TestBrokenStore(t *testing.T) {
	t.Parallel()
	for writes, want := range [][]string{2: nil, 3: {"n/a STARTED"}, 4: {"n/a DONE", "n/b STARTED"}, 5: {"n/a DONE", "n/b DONE"}} {
		if writes < 2 {
			continue
		}
		w := newWorld(t)
		d := must.Get(w.engine("dead", nothing, func(o *run.Options) { o.Store = breaking(w.store, int32(writes)) }).Start(t.Context(), w.request(two, "n")))(t)
		_, err := w.engine("dead", nothing, func(o *run.Options) { o.Store = breaking(w.store, int32(writes-1)) }).Run(t.Context(), d.ID)
		if !errors.Is(err, errBroken) {
			t.Errorf("Run = %v, want %v", err, errBroken)
		}
		w.want(d, store.Running, "", want...)
		w.want(w.resume(w.engine("two", nothing), d.ID, nil), store.Done, "", "n/a DONE", "n/b DONE")
	}
}

func TestInvalidStoredRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.run(w.engine("one", failing("n/b")), w.request(two, "n"))
	w.write(func(tx store.Tx) error {
		return tx.PutTaskRuns(d.ID, []store.TaskRun{{Number: 1, Task: "c", Node: "n"}})
	})
	d = w.resume(w.engine("one", nothing), d.ID, nil)
	if want := "the task order has changed since the run started: start another run"; d.State != store.Failed || d.Message != want {
		t.Errorf("run = %s %s, want %s %s", d.State, d.Message, store.Failed, want)
	}
	w.write(func(tx store.Tx) error { return tx.PutContent(d.ID, store.Content{Request: "{"}) })
	d = w.resume(w.engine("one", nothing), d.ID, nil)
	if want := "cannot read the stored request: unexpected EOF"; d.State != store.Failed || d.Message != want {
		t.Errorf("run = %s %s, want %s %s", d.State, d.Message, store.Failed, want)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.engine("one", func(_ context.Context, x run.Work) error {
			x.Log("info", "first")
			time.Sleep(2 * time.Second)
			for range 70 {
				x.Log("info", strings.Repeat("x", 1023))
			}
			return nil
		})
		id, ended := w.background(e, w.request("- {id: a, type: shell}", "n"))
		stored := func() (messages []string) {
			_ = w.store.Read(t.Context(), func(tx store.Tx) error {
				all, err := tx.Events("prod", id, 0, 1000)
				for _, e := range all {
					if e.URN != "" {
						messages = append(messages, e.Level+string(e.State)+" "+e.Message)
					}
				}
				return err
			})
			return messages
		}
		time.Sleep(1500 * time.Millisecond) // output is stored before the task ends
		expect.Equal(t, "info first", strings.Join(stored(), "\n"))
		if err := <-ended; err != nil {
			t.Error(err)
		}
		got := stored()
		if len(got) != 66 || got[63] != got[1] || got[64] != "warn output limit reached; the rest is not stored" || got[65] != "DONE " {
			t.Errorf("%d stored events end with %q, want 66 with a warning before the last", len(got), got[max(0, len(got)-3):])
		}
		if len(w.shown) != 71+5 {
			t.Errorf("%d events were reported, want %d", len(w.shown), 71+5)
		}
	})
}
