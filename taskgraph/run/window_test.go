package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// starts returns an executor for which the given items fail, and a list of the items that it starts.
func starts(items ...string) (executor, *[]string) {
	var all []string
	f := failing(items...)
	return func(ctx context.Context, w run.Work) error {
		all = append(all, w.Node.Name+"/"+w.Task.ID)
		return f(ctx, w)
	}, &all
}

func one(o *run.Options) { o.Parallelism = 1 }

const canary = `
- {id: g, type: group, tasks: [a, b], parameters: {strategy: {type: parallel, amount: 1}}}
- {id: a, type: shell}
- {id: b, type: shell, requires: [a]}`

func TestWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, started := starts()
	w.want(w.run(w.engine("one", f, one), w.request(canary, "n1", "n2")), store.Done, "",
		"n1/g DONE", "n2/g DONE", "n1/a DONE", "n2/a DONE", "n1/b DONE", "n2/b DONE")
	if got := strings.Join(*started, " "); got != "n1/a n1/b n2/a n2/b" {
		t.Errorf("tasks = %s, want one node after the other", got)
	}
	d := w.run(w.engine("one", failing("n1/b")), w.request(canary, "n1", "n2"))
	w.want(d, store.Failed, "n1/b: exit status 1", "n1/g SKIPPED n1/b failed", "n2/g SKIPPED n1/b failed", "n1/a DONE",
		"n2/a SKIPPED n1/b failed", "n1/b FAILED exit status 1", "n2/b SKIPPED n1/b failed")
	f, started = starts()
	w.want(w.resume(w.engine("one", f, one), d.ID, nil), store.Done, "",
		"n1/g DONE", "n2/g DONE", "n1/a DONE", "n2/a DONE", "n1/b DONE", "n2/b DONE")
	if got := strings.Join(*started, " "); got != "n1/b n2/a n2/b" {
		t.Errorf("tasks of the resumed run = %s, want the failed one first", got)
	}
}

func TestFaultTolerance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks = `
- {id: g, type: group, tasks: [a, b], fault_tolerance: 50%, parameters: {strategy: {type: one_by_one}}}
- {id: a, type: shell}
- {id: b, type: shell, requires: [a]}
- {id: all, type: stage, requires: [g]}
- {id: c, type: shell, requires: [all]}
- {id: d, type: shell, cross_depends: [{name: b}]}`
	d := w.run(w.engine("one", failing("n1/a")), w.request(tasks, "n1", "n2"))
	w.want(d, store.Done, "", "n1/g FAILED n1/a failed", "n2/g DONE", "n1/a FAILED exit status 1", "n2/a DONE", "n1/b SKIPPED n1/a failed",
		"n2/b DONE", "/all DONE", "n1/c DONE", "n2/c DONE", "n1/d SKIPPED n1/a failed", "n2/d DONE")
	d = w.run(w.engine("one", failing("n1/a", "n2/b")), w.request(tasks, "n1", "n2", "n3"))
	w.want(d, store.Failed, "n2/b: exit status 1", "n1/g FAILED n1/a failed", "n2/g SKIPPED n2/b failed", "n3/g SKIPPED n2/b failed",
		"n1/a FAILED exit status 1", "n2/a DONE", "n3/a SKIPPED n2/b failed", "n1/b SKIPPED n1/a failed", "n2/b FAILED exit status 1",
		"n3/b SKIPPED n2/b failed", "/all SKIPPED n2/b failed", "n1/c SKIPPED n2/b failed", "n2/c SKIPPED n2/b failed",
		"n3/c SKIPPED n2/b failed", "n1/d SKIPPED n2/b failed", "n2/d SKIPPED n2/b failed", "n3/d SKIPPED n2/b failed")
	f, started := starts()
	d = w.resume(w.engine("two", f, one), d.ID, nil)
	if got := strings.Join(*started, " "); d.State != store.Done || got != "n2/b n3/a n3/b n2/d n3/d n1/c n2/c n3/c" {
		t.Errorf("resumed run = %s, tasks %s; want no task of the group on n1", d.State, got)
	}
}

// A skipped item passes on its slot of the role's limit.
func TestSkippedWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	perRole := func(o *run.Options) { o.PerRole = map[string]int{"web": 1} }
	d := w.run(w.engine("one", failing("n1/a"), perRole),
		w.request("[{id: a, type: shell, parameters: {strategy: {type: one_by_one}}}, {id: b, type: shell}]", "n1:web", "n2:web"))
	w.want(d, store.Failed, "n1/a: exit status 1", "n1/a FAILED exit status 1", "n2/a SKIPPED n1/a failed", "n1/b DONE", "n2/b DONE")
}

// A node that was in its window when the previous process ended finishes first.
func TestResumedWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var e *run.Engine
	e = w.engine("one", func(_ context.Context, x run.Work) error {
		if x.Task.ID == "a" {
			e.Stop()
		}
		return nil
	}, one)
	d := must.Get(e.Start(t.Context(), w.request(strings.Replace(canary, "{id: a, type: shell}", "{id: a, type: shell, requires: [pre]}", 1)+`
- {id: pre, type: shell, roles: [web]}`, "n1:web", "n2")))(t)
	d, _ = e.Run(t.Context(), d.ID)
	w.want(d, store.Canceled, "", "n2/a DONE", "n1/pre DONE")
	f, started := starts()
	d = w.resume(w.engine("two", f, one), d.ID, nil)
	if got := strings.Join(*started, " "); d.State != store.Done || got != "n2/b n1/a n1/b" {
		t.Errorf("resumed run = %s, tasks %s; want n2 first", d.State, got)
	}
}

// tolerated returns the names of the task runs whose failures are marked as tolerated.
func (w *world) tolerated(d store.Job) string {
	w.Helper()
	var names []string
	for _, r := range must.Get(w.engine("reader", nil).Status(w.Context(), d.ID))(w).Tasks {
		if r.Tolerated {
			names = append(names, r.Node+"/"+r.Task)
		}
	}
	return strings.Join(names, " ")
}

// A dependency with policy any is satisfied by a tolerated failure, even if all others fail.
func TestAnyTolerated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks = `
- {id: g, type: group, tasks: [a, b], fault_tolerance: 1}
- {id: a, type: shell, parameters: {strategy: {type: parallel, amount: 1}}}
- {id: b, type: shell, requires: [a]}
- {id: c, type: shell, roles: [c], cross_depends: [{name: a, policy: any}]}
- {id: d, type: shell, roles: [c], cross_depends: [{name: b, role: w, policy: any}]}
- {id: e, type: shell, roles: [c], cross_depends: [{name: a, role: v, policy: any}]}
- {id: f, type: shell, fail_on_error: false}`
	d := w.run(w.engine("one", failing("n1/a", "n2/a", "n3/a", "n3/f"), one), w.request(tasks, "n1:w", "n2:v", "n3:c"))
	w.want(d, store.Failed, "n2/a: exit status 1", "n1/g FAILED n1/a failed", "n2/g SKIPPED n2/a failed",
		"n3/g SKIPPED n2/a failed", "n1/a FAILED exit status 1", "n2/a FAILED exit status 1", "n3/a SKIPPED n2/a failed",
		"n1/b SKIPPED n1/a failed", "n2/b SKIPPED n2/a failed", "n3/b SKIPPED n2/a failed", "n3/c DONE", "n3/d DONE",
		"n3/e SKIPPED n2/a failed", "n1/f DONE", "n2/f DONE", "n3/f FAILED exit status 1")
	expect.Equal(t, "n1/g n1/a n3/f", w.tolerated(d))
	if warned := strings.Join(w.shown, "\n"); !strings.Contains(warned, "n3/f execute FAILED warn exit status 1") ||
		!strings.Contains(warned, "n1/g execute FAILED warn n1/a failed") || strings.Contains(warned, "n2/a execute FAILED warn") {
		t.Errorf("events =\n%s\nwant only tolerated failures with the level warn", warned)
	}
	d = w.resume(w.engine("two", failing("n3/a")), d.ID, nil)
	w.want(d, store.Failed, "n3/a: exit status 1", "n1/g FAILED n1/a failed", "n2/g DONE", "n3/g SKIPPED n3/a failed",
		"n1/a FAILED exit status 1", "n2/a DONE", "n3/a FAILED exit status 1", "n1/b SKIPPED n1/a failed", "n2/b DONE",
		"n3/b SKIPPED n3/a failed", "n3/c DONE", "n3/d DONE", "n3/e DONE", "n1/f DONE", "n2/f DONE", "n3/f FAILED exit status 1")
	expect.Equal(t, "n1/g n1/a n3/f", w.tolerated(d))
}

// A tolerated failure does not hide another failure of a dependency, whichever comes first.
func TestBothFailures(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"[{id: a, type: shell}, {id: z, type: shell}", "[{id: z, type: shell}, {id: a, type: shell}"} {
		w := newWorld(t)
		d := w.run(w.engine("one", failing("n1/a", "n1/z"), one), w.request(first+`, {id: g, type: group, tasks: [a], fault_tolerance: 1},
			{id: v, type: shell, requires: [a, z]}, {id: d, type: shell, roles: [d], cross_depends: [{name: v}]}]`, "n1", "n2:d"))
		s := must.Get(w.engine("reader", nil).Status(t.Context(), d.ID))(t)
		if last := s.Tasks[len(s.Tasks)-1]; last.Task != "d" || last.State != store.Skipped || last.Message != "n1/z failed" {
			t.Errorf("tasks %s: the last task run = %+v, want d skipped because of n1/z", first, last)
		}
	}
}

// A task that may fail is run again after the answer that it had no effect.
func TestTolerantAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.run(w.engine("one", func(context.Context, run.Work) error { return run.ErrUncertain }),
		w.request("[{id: a, type: shell, idempotent: false, fail_on_error: false}]", "n"))
	w.want(d, store.Ask, "did task a on node n take effect?", "n/a UNKNOWN the outcome is unknown")
	w.want(w.resume(w.engine("two", nothing), d.ID, &run.Answer{}), store.Done, "", "n/a DONE")
}
