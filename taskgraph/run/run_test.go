package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

type executor func(ctx context.Context, w run.Work) error

func (f executor) Execute(ctx context.Context, w run.Work) error { return f(ctx, w) }

// nothing is an executor for which all tasks succeed immediately.
func nothing(context.Context, run.Work) error { return nil }

// world is a store shared by several engines.
type world struct {
	*testing.T
	store store.Store
	mutex sync.Mutex
	shown []string
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, store: memory.New()}
	for _, name := range []string{"prod", "dev"} {
		must.Do(t, w.store.Write(t.Context(), name, func(tx store.Tx) error {
			return tx.PutEnvironment(store.Environment{Name: name})
		}))
	}
	return w
}

func (w *world) write(f func(store.Tx) error) {
	w.Helper()
	must.Do(w, w.store.Write(w.Context(), "prod", f))
}

// engine returns an engine for a process. Processes whose names end with "dead" are known to have exited.
func (w *world) engine(owner string, f executor, options ...func(*run.Options)) *run.Engine {
	o := run.Options{
		Store: w.store, Environment: "prod", Executor: f, Owner: owner,
		IsDead: func(owner string) bool { return strings.HasSuffix(owner, "dead") },
		Events: func(e store.Event) {
			w.mutex.Lock()
			defer w.mutex.Unlock()
			w.shown = append(w.shown, eventText(e))
		},
	}
	for _, set := range options {
		set(&o)
	}
	return run.New(o)
}

func eventText(e store.Event) string {
	return strings.Join(strings.Fields(fmt.Sprint(e.Name, " ", e.URN, " ", e.Kind, " ", e.State, " ", e.Level, " ", e.Message)), " ")
}

// request returns a request for task YAML and nodes, each given as NAME or NAME:ROLE.
func (w *world) request(tasks string, nodes ...string) run.Request {
	w.Helper()
	g := must.Get(taskgraph.Parse([]byte(tasks), "tasks.yaml"))(w)
	r := run.Request{Type: "upgrade", Tasks: g.Tasks}
	for _, n := range nodes {
		name, role, _ := strings.Cut(n, ":")
		r.Inventory.Nodes = append(r.Inventory.Nodes, inventory.Node{Name: name, Roles: []string{role}, Local: true})
	}
	return r
}

func (w *world) run(e *run.Engine, r run.Request) store.Job {
	w.Helper()
	d := must.Get(e.Start(w.Context(), r))(w)
	return w.again(e, d.ID)
}

// again executes a waiting run.
func (w *world) again(e *run.Engine, id int64) store.Job {
	w.Helper()
	return must.Get(e.Run(w.Context(), id))(w)
}

func (w *world) resume(e *run.Engine, id int64, answer *run.Answer) store.Job {
	w.Helper()
	must.Get(e.Resume(w.Context(), id, answer))(w)
	return w.again(e, id)
}

// want checks the state and the message of a run, and its task runs, given as NODE/TASK STATE MESSAGE.
func (w *world) want(d store.Job, state store.State, message string, rows ...string) {
	w.Helper()
	s := must.Get(w.engine("reader", nil).Status(w.Context(), d.ID))(w)
	if s.State != state || s.Message != message {
		w.Errorf("run = %s %q, want %s %q", s.State, s.Message, state, message)
	}
	var got []string
	for _, r := range s.Tasks {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s/%s %s %s", r.Node, r.Task, r.State, r.Message)))
	}
	if g, want := strings.Join(got, "\n"), strings.Join(rows, "\n"); g != want {
		w.Errorf("task runs =\n%s\nwant\n%s", g, want)
	}
}

func (w *world) wantError(err error, want string) {
	w.Helper()
	if err == nil || err.Error() != want {
		w.Errorf("error = %v\nwant %s", err, want)
	}
}

func (w *world) wantRefused(err error, want string) {
	w.Helper()
	if w.wantError(err, want); !errors.As(err, new(*job.RefusedError)) {
		w.Errorf("error %v is a %T, want a *job.RefusedError", err, err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.request(`
- {id: a, type: shell}
- {id: off, type: skipped, requires: [a]}
- {id: b, type: shell, requires: [off]}
- {id: all, type: stage, requires: [b]}
- {id: done, type: anchor, requires: [all]}
- {id: c, type: shell, requires: [done]}`, "n1", "n2")
	r.Inventory.Parameters = map[string]any{"version": "1.4"}
	r.Skip = map[string]string{"n2/a": "condition", "n1/off": "skipped", "n2/off": "skipped"}
	r.Digests, r.Refresh = map[string]string{"b": "digest"}, map[string]string{"n1/b": "refresh"}
	const digits = json.Number("12345678901234567890.10")
	r.Inventory.Nodes[0].Parameters = map[string]any{"n": digits}
	var tokens []string
	e := w.engine("one", func(_ context.Context, x run.Work) error {
		if x.Node.Name == "n1" && x.Node.Parameters["n"] != digits {
			t.Errorf("parameters of the node = %v, want n = %v", x.Node.Parameters, digits)
		}
		tokens = append(tokens, fmt.Sprint(x.Environment, x.Run, x.Node.Name, x.Task.ID, x.Resumed, x.Parameters, " ", x.Token))
		x.Log("info", "hello \xff")
		x.Log("progress", "50 %")
		return nil
	}, func(o *run.Options) { o.Parallelism = 1 })
	d := w.run(e, r)
	w.want(d, store.Done, "", "n1/a DONE", "n2/a SKIPPED condition", "n1/off SKIPPED skipped", "n2/off SKIPPED skipped",
		"n1/b DONE", "n2/b DONE", "/all DONE", "n1/done DONE", "n2/done DONE", "n1/c DONE", "n2/c DONE")
	if d.Owner != "" || !d.Expires.IsZero() || d.Ended.IsZero() {
		t.Errorf("run = %+v, want one that is released and ended", d)
	}
	parts := strings.Split(tokens[0], "-")
	if len(tokens) != 5 || parts[0] != "prod1n1afalse map[version:1.4] prod/1" || len(parts[1]) != 10 || parts[2] != "0" {
		t.Errorf("work = %q, want five tasks with random tokens", tokens)
	}
	var stored []string
	_ = w.store.Read(t.Context(), func(tx store.Tx) error {
		rows, err := tx.TaskRuns(d.ID)
		if b := rows[4]; err != nil || b.Digest != "digest" || b.Refresh != "refresh" || b.Owner != "one" || b.Attempt != 0 ||
			b.Started.IsZero() || b.Ended.Before(b.Started) || rows[5].Refresh != "" {
			t.Errorf("stored task run = %+v, %v, want the digests of the request", b, err)
		}
		events, err := tx.Events("prod", d.ID, 0, 100)
		for _, e := range events {
			stored = append(stored, eventText(e))
		}
		return err
	})
	var want []string // reported events that are stored
	for _, text := range w.shown {
		if !strings.HasSuffix(text, " STARTED") && !strings.Contains(text, "progress") {
			want = append(want, text)
		}
	}
	if len(w.shown) != len(want)+10 || strings.Join(stored, "\n") != strings.Join(want, "\n") {
		t.Errorf("stored events =\n%s\nreported events =\n%s", strings.Join(stored, "\n"), strings.Join(w.shown, "\n"))
	}
	for _, text := range []string{
		"upgrade[1] WAIT", "upgrade[1] RUNNING", "upgrade[1] n1/a execute STARTED", "upgrade[1] n1/a execute info hello \ufffd",
		"upgrade[1] n1/a execute DONE", "upgrade[1] n2/a execute SKIPPED condition", "upgrade[1] all execute DONE", "upgrade[1] DONE",
	} {
		if !strings.Contains(strings.Join(w.shown, "\n")+"\n", text+"\n") {
			t.Errorf("event %q was not reported", text)
		}
	}
}

// failing returns an executor that fails for some items.
func failing(items ...string) executor {
	return func(_ context.Context, w run.Work) error {
		for _, name := range items {
			if name == w.Node.Name+"/"+w.Task.ID {
				return errors.New("exit status 1")
			}
		}
		return nil
	}
}

const failures = `
- {id: a, type: shell}
- {id: b, type: shell, requires: [a]}
- {id: c, type: shell, requires: [b]}
- {id: first, type: shell, roles: [db], cross_depends: [{name: a, policy: any}]}
- {id: last, type: shell, roles: [db], cross_depends: [{name: c}]}`

func TestFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.request(failures, "n1", "n2", "n3:db")
	d := w.run(w.engine("one", failing("n1/a", "n2/b")), r)
	w.want(d, store.Failed, "n1/a: exit status 1\nn2/b: exit status 1",
		"n1/a FAILED exit status 1", "n2/a DONE", "n3/a DONE", "n1/b SKIPPED n1/a failed", "n2/b FAILED exit status 1", "n3/b DONE",
		"n1/c SKIPPED n1/a failed", "n2/c SKIPPED n2/b failed", "n3/c DONE", "n3/first DONE", "n3/last SKIPPED n2/b failed")
	var again []string
	d = w.resume(w.engine("two", func(_ context.Context, x run.Work) error {
		again = append(again, fmt.Sprint(x.Node.Name, "/", x.Task.ID, x.Token[strings.LastIndex(x.Token, "-"):], x.Resumed))
		return nil
	}, func(o *run.Options) { o.Parallelism = 1 }), d.ID, nil)
	w.want(d, store.Done, "", "n1/a DONE", "n2/a DONE", "n3/a DONE", "n1/b DONE", "n2/b DONE", "n3/b DONE", "n1/c DONE", "n2/c DONE",
		"n3/c DONE", "n3/first DONE", "n3/last DONE")
	if got := fmt.Sprint(again); got != "[n1/a-0.1false n2/b-4.1false n1/b-3false n2/c-7false n1/c-6false n3/last-10false]" {
		t.Errorf("calls = %s, want the failed and skipped tasks", got)
	}
	// All alternatives of a dependency with policy any fail.
	d = w.run(w.engine("one", failing("n1/a", "n2/a", "n3/a"), func(o *run.Options) { o.Parallelism = 1 }),
		w.request(failures, "n1", "n2", "n3:db"))
	w.want(d, store.Failed, "n1/a: exit status 1\nn2/a: exit status 1\nn3/a: exit status 1",
		"n1/a FAILED exit status 1", "n2/a FAILED exit status 1", "n3/a FAILED exit status 1", "n1/b SKIPPED n1/a failed",
		"n2/b SKIPPED n2/a failed", "n3/b SKIPPED n3/a failed", "n1/c SKIPPED n1/a failed", "n2/c SKIPPED n2/a failed",
		"n3/c SKIPPED n3/a failed", "n3/first SKIPPED n3/a failed", "n3/last SKIPPED n3/a failed")
}

func TestManyFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var nodes, want []string
	for i := range 22 {
		nodes = append(nodes, fmt.Sprintf("n%02d", i))
		want = append(want, fmt.Sprintf("n%02d/a: no \ufffd", i))
	}
	d := w.run(w.engine("one", func(context.Context, run.Work) error { return errors.New("no \xff") }),
		w.request("- {id: a, type: shell}", nodes...))
	expect.Equal(t, strings.Join(append(want[:20], "2 more failed"), "\n"), d.Message)
	// Long messages are truncated.
	d = w.run(w.engine("one", func(context.Context, run.Work) error { return errors.New(strings.Repeat("ü", 4000)) }),
		w.request("- {id: a, type: shell}", "n"))
	if want := "n/a: " + strings.Repeat("ü", 2045) + "…"; d.Message != want {
		t.Errorf("message has %d bytes, want %d", len(d.Message), len(want))
	}
}

func TestTolerantTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.request("- {id: a, type: shell, fail_on_error: false}\n- {id: b, type: shell, requires: [a]}", "n")
	d := w.run(w.engine("one", failing("n/a")), r)
	w.want(d, store.Done, "", "n/a FAILED exit status 1", "n/b DONE")
	r = w.request("- {id: a, type: shell, fail_on_error: false}\n- {id: b, type: shell, requires: [a]}", "n")
	d = w.run(w.engine("one", failing("n/a", "n/b")), r)
	w.want(d, store.Failed, "n/b: exit status 1", "n/a FAILED exit status 1", "n/b FAILED exit status 1")
	d = w.resume(w.engine("one", nothing), d.ID, nil)
	w.want(d, store.Done, "", "n/a FAILED exit status 1", "n/b DONE")
}

func TestStopOnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := func(o *run.Options) { o.StopOnError, o.Parallelism = true, 1 }
	d := w.run(w.engine("one", failing("n1/a"), stop), w.request("[{id: a, type: shell}, {id: b, type: shell}]", "n1", "n2"))
	w.want(d, store.Failed, "n1/a: exit status 1",
		"n1/a FAILED exit status 1", "n2/a SKIPPED n1/a failed", "n1/b SKIPPED n1/a failed", "n2/b SKIPPED n1/a failed")
	d = w.resume(w.engine("one", failing("n1/b"), stop), d.ID, nil)
	w.want(d, store.Failed, "n1/b: exit status 1", "n1/a DONE", "n2/a DONE", "n1/b FAILED exit status 1", "n2/b SKIPPED n1/b failed")
}

// If a rolling task fails, independent tasks still run.
func TestRolling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks = `
- {id: a, type: shell, parameters: {strategy: {type: one_by_one}}}
- {id: b, type: shell}
- {id: c, type: shell, requires: [a]}`
	d := w.run(w.engine("one", failing("n2/a")), w.request(tasks, "n1", "n2", "n3", "n4"))
	w.want(d, store.Failed, "n2/a: exit status 1", "n1/a DONE", "n2/a FAILED exit status 1", "n3/a SKIPPED n2/a failed",
		"n4/a SKIPPED n2/a failed", "n1/b DONE", "n2/b DONE", "n3/b DONE", "n4/b DONE", "n1/c DONE", "n2/c SKIPPED n2/a failed",
		"n3/c SKIPPED n2/a failed", "n4/c SKIPPED n2/a failed")
	d = w.resume(w.engine("one", nothing), d.ID, nil)
	w.want(d, store.Done, "", "n1/a DONE", "n2/a DONE", "n3/a DONE", "n4/a DONE", "n1/b DONE", "n2/b DONE", "n3/b DONE", "n4/b DONE",
		"n1/c DONE", "n2/c DONE", "n3/c DONE", "n4/c DONE")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mutex sync.Mutex
		now, most := map[string]int{}, map[string]int{}
		e := w.engine("one", func(_ context.Context, x run.Work) error {
			names := []string{"all", x.Task.ID, x.Node.Roles[0]}
			mutex.Lock()
			for _, name := range names {
				now[name]++
				most[name] = max(most[name], now[name])
			}
			mutex.Unlock()
			time.Sleep(time.Second)
			mutex.Lock()
			defer mutex.Unlock()
			for _, name := range names {
				now[name]--
			}
			return nil
		}, func(o *run.Options) { o.Parallelism, o.PerRole = 7, map[string]int{"db": 2, "cache": 0} })
		started := time.Now()
		d := w.run(e, w.request(`
- {id: rolling, type: shell, parameters: {strategy: {type: one_by_one}}}
- {id: some, type: shell, parameters: {strategy: {type: parallel, amount: 3}}}
- {id: free, type: shell}`, "d1:db", "d2:db", "d3:db", "d4:db", "d5:db", "d6:db", "w1:web", "w2:web", "w3:web", "c1:cache", "c2:cache"))
		if d.State != store.Done {
			t.Errorf("run = %s %s, want %s", d.State, d.Message, store.Done)
		}
		for name, want := range map[string]int{"all": 7, "db": 2, "rolling": 1, "some": 3} {
			if most[name] != want {
				t.Errorf("limit %s: at most %d tasks ran concurrently, want %d", name, most[name], want)
			}
		}
		// Running one at a time on 11 nodes takes longest.
		if took := time.Since(started); took != 11*time.Second {
			t.Errorf("the run took %v, want 11s", took)
		}
	})
}

// Tasks that are not chosen are not recorded, but pass on order and failures, and a resumed run has the same choice.
func TestChoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.request(`
- {id: a, type: shell}
- {id: b, type: shell, cross_depends: [{name: a}]}
- {id: c, type: shell, requires: [b]}
- {id: d, type: shell, requires: [c]}`, "n1", "n2")
	r.Choice = schedule.Choice{Tasks: []string{"a", "c"}, Only: true}
	d := w.run(w.engine("one", failing("n2/a")), r)
	w.want(d, store.Failed, "n2/a: exit status 1", "n1/a DONE", "n2/a FAILED exit status 1", "n1/c SKIPPED n2/a failed", "n2/c SKIPPED n2/a failed")
	f, started := starts()
	w.want(w.resume(w.engine("two", f, one), d.ID, nil), store.Done, "", "n1/a DONE", "n2/a DONE", "n1/c DONE", "n2/c DONE")
	slices.Sort((*started)[1:])
	expect.Equal(t, []string{"n2/a", "n1/c", "n2/c"}, *started)
	if shown := strings.Join(w.shown, "\n"); strings.Contains(shown, "/b") || strings.Contains(shown, "/d") {
		t.Errorf("events =\n%s\nwant none of b and d", shown)
	}
}
