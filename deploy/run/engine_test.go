package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

// deployed deploys a program with an engine, which may be stopped during the deployment.
func deployed(t *testing.T, e *environment.Environment, w *world, module, program string) store.Job {
	t.Helper()
	r := run.Request{Desired: w.desired(module, program)}
	p := must.Get(planOne(t.Context(), e, r))(t)
	d := must.Get(queueOne(t.Context(), e, p))(t)
	d = must.Get(e.Run(t.Context(), d.ID))(t)
	return d
}

func TestStopInEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
		must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
		var e *environment.Environment
		o.Events = func(event store.Event) {
			if event.Kind == "create" && event.State == store.Done {
				e.Stop()
			}
		}
		e = environment.New(o)
		if d := deployed(t, e, w, "a", "Disk/a\nDisk/b on=[@a]"); d.State != store.Running || len(w.cloud.Resources()) != 1 {
			t.Errorf("deployment ended with %s and %d resources, want RUNNING and 1", d.State, len(w.cloud.Resources()))
		}
	})
}

func TestEnvironmentRecreated(t *testing.T) {
	w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
	engines := map[string]*environment.Environment{"first": environment.New(o), "second": environment.New(o)}
	for _, lineage := range []string{"first", "second"} {
		must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev", Lineage: lineage}))
		deployed(t, engines[lineage], w, lineage, "Disk/"+lineage)
		if lineage == "first" {
			must.Do(t, o.Store.Write(t.Context(), "dev", func(tx store.Tx) error { return tx.DeleteEnvironment("dev") }))
		}
	}
	for name, e := range engines {
		if g, err := e.Graph(t.Context()); err != nil || g.Lineage != "second" || g.Newest("second") == nil || g.Newest("first") != nil {
			t.Errorf("Graph() of the engine that deployed %s = modules %v of lineage %s, %v, want the second environment", name, g.Modules(), g.Lineage, err)
		}
	}
}

// halfDone has providers whose Update and Delete are only partially completed and do not report the resource.
type halfDone struct{ *world }

func (h halfDone) Provider(ctx context.Context, t tokens.Type, v lumigl.Value) (lumi.ResourceProvider, string, error) {
	p, version, err := h.world.Provider(ctx, t, v)
	return halfDoneProvider{p}, version, err
}

type halfDoneProvider struct{ lumi.ResourceProvider }

func (halfDoneProvider) Update(context.Context, *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	return nil, &lumi.PartialError{Err: errors.New("half done")}
}

func (halfDoneProvider) Delete(context.Context, *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	return nil, &lumi.PartialError{Err: errors.New("half done")}
}

func TestPartialErrorWithoutID(t *testing.T) {
	w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(w), Backoff: 1}
	must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
	deployed(t, environment.New(o), w, "a", "Disk/a size=1\nDisk/b")
	o.Providers = always(halfDone{w})
	for _, program := range []string{"Disk/a size=2\nDisk/b", "Disk/a size=1"} {
		deployed(t, environment.New(o), w, "a", program)
	}
	o.Providers = always(w)
	if d := deployed(t, environment.New(o), w, "a", "Disk/a size=3"); d.State != store.Done {
		t.Errorf("deployment ended with %s: %s, want DONE", d.State, d.Message)
	}
	if all := w.cloud.Resources(); len(all) != 1 || all[0].Inputs["size"] != 3.0 {
		t.Errorf("resources in the cloud = %v, want only a with size 3", all)
	}
}

// forgetful is a store that fails once to store the outcome of a creation.
type forgetful struct {
	store.Store
	failed bool
}

func (f *forgetful) Write(ctx context.Context, environment string, do func(store.Tx) error) error {
	return f.Store.Write(ctx, environment, func(tx store.Tx) error {
		if err := do(tx); err != nil || f.failed {
			return err
		}
		rows, err := tx.Steps(1)
		f.failed = slices.ContainsFunc(rows, func(s store.Step) bool { return s.State == store.Done })
		if f.failed {
			return errors.New("the disk is full")
		}
		return err
	})
}

// counted is a store that counts writing transactions.
type counted struct {
	store.Store
	writes int
}

func (c *counted) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	c.writes++
	return c.Store.Write(ctx, environment, f)
}

// The result of a step is stored in the same transaction as the intent of the next step.
func TestTransactionsPerStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		c := &counted{Store: memory.New()}
		o := run.Options{Store: c, Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
		if err := environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}); err != nil {
			t.Fatal(err)
		}
		const steps = 50
		program := "Disk/0"
		for i := range steps - 1 {
			program += fmt.Sprintf("\nDisk/%d on=[@%d]", i+1, i)
		}
		const others = 12 // transactions not related to steps
		if d := deployed(t, environment.New(o), w, "a", program); d.State != store.Done || c.writes > steps+others {
			t.Errorf("deployment ended with %s after %d transactions, want DONE after at most %d", d.State, c.writes, steps+others)
		}
	})
}

func TestRetryAfterStoreError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		o := run.Options{Store: &forgetful{Store: memory.New()}, Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
		must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
		e, start := environment.New(o), time.Now()
		d := deployed(t, e, w, "a", "Disk/a")
		if want := urnOf("a", "Disk/a") + ": the disk is full"; d.State != store.Failed || d.Message != want {
			t.Errorf("deployment ended with %s %q, want FAILED %q", d.State, d.Message, want)
		}
		must.Do(t, e.Retry(t.Context(), d.ID))
		d, err := e.Run(t.Context(), d.ID)
		if took := time.Since(start); err != nil || d.State != store.Done || len(w.cloud.Resources()) != 1 || took > time.Minute {
			t.Errorf("retry ended with %s, %v, %d resources after %s, want DONE with 1 resource within a minute", d.State, err, len(w.cloud.Resources()), took)
		}
	})
}

func TestPlanMultipleModules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(slow{w})}
		must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
		e := environment.New(o)
		all := func(requests ...run.Request) string {
			t.Helper()
			sorted := must.Get(e.Sort(t.Context(), requests))(t)
			plans, err := e.Plan(t.Context(), sorted...)
			if err != nil {
				return err.Error()
			}
			queued := must.Get(e.Queue(t.Context(), plans...))(t)
			var order []string
			var wait sync.WaitGroup
			for _, d := range queued {
				order = append(order, d.Module)
				wait.Go(func() {
					if d, err := e.Run(t.Context(), d.ID); err != nil || d.State != store.Done {
						t.Errorf("Run of module %s = %s %s, %v, want DONE", d.Module, d.State, d.Message, err)
					}
				})
			}
			wait.Wait()
			return strings.Join(order, " ")
		}
		a, b, c := "Net/a\nprovides arn=@a.arn", "uses a:arn\nDisk/b at=@a:arn\nprovides arn=@b.arn", "uses b:arn\nDisk/c at=@b:arn"
		program := func(module, text string) run.Request { return run.Request{Desired: w.desired(module, text)} }
		// A deployment that waits for one that cannot be planned causes no error of its own.
		bad := program("a", "uses x:arn\nDisk/b at=@x:arn\nprovides arn=1")
		if got, want := all(program("c", c), program("b", b), bad), "a uses x.arn, but module x does not exist: deploy x first"; got != want {
			t.Errorf("planning c, b, and an invalid a: %s, want %s", got, want)
		}
		if got := all(program("c", c), program("b", b), program("a", a)); got != "a b c" {
			t.Errorf("deployed modules in order %q, want \"a b c\"", got)
		}
		wrong := []run.Request{program("a", "uses x:arn\nDisk/b at=@x:arn"), program("b", b), program("d", "uses y:arn\nDisk/d at=@y:arn")}
		if got, want := all(wrong...), "a uses x.arn, but module x does not exist: deploy x first\nd uses y.arn, but module y does not exist: deploy y first"; got != want {
			t.Errorf("planning two invalid modules: %s, want %s", got, want)
		}
		if got := all(run.Request{Destroy: "b"}, run.Request{Destroy: "a"}, run.Request{Destroy: "c"}); got != "c b a" {
			t.Errorf("destroyed modules in order %q, want \"c b a\"", got)
		}
		if left := w.cloud.Resources(); len(left) != 0 {
			t.Errorf("resources in the cloud = %v, want none", left)
		}
	})
}

// Each event of a deployment in another process is shown exactly once, including the last event.
func TestRunShowsOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(slow{w}), Owner: "first"}
		must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
		first := environment.New(o)
		var mutex sync.Mutex
		var seen []string
		o.Owner, o.Events = "second", func(e store.Event) {
			mutex.Lock()
			defer mutex.Unlock()
			if e.Task == 0 || e.URN != "" {
				seen = append(seen, strings.Join(strings.Fields(e.Name+" "+e.Kind+" "+string(e.State)), " "))
			}
		}
		second := environment.New(o)
		a := must.Get(first.Plan(t.Context(), run.Request{Desired: w.desired("a", "Net/a\nNet/b on=[@a]\nprovides arn=@a.arn")}))(t)
		queued := must.Get(first.Queue(t.Context(), a...))(t)
		go func() { _, _ = first.Run(t.Context(), queued[0].ID) }()
		time.Sleep(5 * time.Second)
		if d := deployed(t, second, w, "b", "uses a:arn\nNet/b at=@a:arn"); d.State != store.Done {
			t.Errorf("deployment ended with %s %s, want DONE", d.State, d.Message)
		}
		want := []string{
			"b[2] WAIT", "a[1] create DONE", "a[1] create DONE", "a[1] DONE", "b[2] RUNNING", "b[2] create STARTED", "b[2] create DONE", "b[2] DONE",
		}
		if !slices.Equal(seen, want) {
			t.Errorf("events = %q, want %q", seen, want)
		}
	})
}

// slow has providers whose Create and Delete take ten seconds.
type slow struct{ provision.Providers }

func (s slow) Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (lumi.ResourceProvider, string, error) {
	p, version, err := s.Providers.Provider(ctx, t, configuration)
	return slowly{p}, version, err
}

type slowly struct{ lumi.ResourceProvider }

func (s slowly) Create(ctx context.Context, r *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	time.Sleep(10 * time.Second)
	return s.ResourceProvider.Create(ctx, r)
}

func (s slowly) Delete(ctx context.Context, r *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	if r.URN.Type() == "sim:index:Disk" { // the resource that refers to another
		time.Sleep(10 * time.Second)
	}
	return s.ResourceProvider.Delete(ctx, r)
}

func TestEditWithoutKey(t *testing.T) {
	w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
	must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev", Key: "wrapped"}))
	deployed(t, environment.New(o), w, "a", "Disk/a password=hunter2")
	o.Key = nil
	err := environment.New(o).Edit(t.Context(), environment.Edit{Module: "a", Change: func(*graph.Graph, graph.Deployment) (*graph.Graph, error) {
		t.Error("Edit called Change without the key")
		return nil, nil
	}})
	const want = "cannot change the state without the key of dev"
	if _, refused := errors.AsType[*job.RefusedError](err); !refused || err.Error() != want {
		t.Errorf("Edit error = %v, want %s", err, want)
	}
}

// A plan without changes is not idle if a property was renamed by its provider.
func TestPlanIdleRenamedProperty(t *testing.T) {
	w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
	must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
	e := environment.New(o)
	isIdle := func(program string) bool {
		p, err := planOne(t.Context(), e, run.Request{Desired: w.desired("a", program)})
		if err != nil || p.HasChanges() {
			t.Errorf("Plan(%s): error %v; want a plan without changes", program, err)
		}
		return p.Idle
	}
	deployed(t, e, w, "a", "Disk/a size=1")
	if !isIdle("Disk/a size=1") {
		t.Error("Idle = false for an unchanged program")
	}
	w.renamed = []lumi.Property{{Name: "mode", Kind: lumi.KindAny, Was: []string{"size"}}}
	e = environment.New(o)
	if isIdle("Disk/a mode=1") {
		t.Error("Idle = true although the new property name is not stored")
	}
	deployed(t, e, w, "a", "Disk/a mode=1")
	if !isIdle("Disk/a mode=1") {
		t.Error("Idle = false although the new property name is stored")
	}
}

// A plan without changes is not idle if accepted drift agrees with the program, or if reading finds another output.
func TestPlanIdleDrift(t *testing.T) {
	w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes}), names: map[lumi.ID]string{}}
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(w)}
	must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
	e := environment.New(o)
	check := func(refresh, changes, idle bool, program string) {
		t.Helper()
		p, err := planOne(t.Context(), e, run.Request{Desired: w.desired("a", program), Refresh: refresh})
		if err != nil || p.HasChanges() != changes || p.Idle != idle {
			t.Errorf("Plan(%s) with refresh %t: error %v, changes %t, idle %t, want %t and %t", program, refresh, err, p.HasChanges(), p.Idle, changes, idle)
		}
	}
	deployed(t, e, w, "a", "Disk/a size=1")
	check(true, false, true, "Disk/a size=1")
	w.cloud.Change(w.id("$a"), "size", 1.0) // only the output etag changes
	check(false, false, true, "Disk/a size=1")
	check(true, false, false, "Disk/a size=1")
	w.cloud.Change(w.id("$a"), "size", 2.0)
	found := must.Get(e.Compare(t.Context(), []string{"a"}, func(*graph.Resource) bool { return true }))(t)
	if stale := must.Get(e.Accept(t.Context(), found))(t); len(stale) > 0 {
		t.Errorf("Accept() left out %v, want nothing", stale)
	}
	check(false, true, false, "Disk/a size=1")
	check(false, false, false, "Disk/a size=2")
	deployed(t, e, w, "a", "Disk/a size=2")
	check(false, false, true, "Disk/a size=2")
}
