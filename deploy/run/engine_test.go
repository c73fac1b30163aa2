package run_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/sim"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// deployed deploys a program with an engine, which may be stopped.
func deployed(t *testing.T, e *run.Engine, w *world, module, program string) store.Deployment {
	t.Helper()
	r := run.Request{Desired: w.desired(module, program)}
	p, err := e.Plan(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.Queue(t.Context(), r, p)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = e.Run(t.Context(), d.ID); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStopInEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: w}
		if err := run.NewEnvironment(t.Context(), o.Store, store.Environment{Name: "dev"}); err != nil {
			t.Fatal(err)
		}
		var e *run.Engine
		o.Events = func(event store.Event) {
			if event.Kind == "create" {
				e.Stop()
			}
		}
		e = run.New(o)
		if d := deployed(t, e, w, "a", "Disk/a\nDisk/b on=[@a]"); d.State != store.Running || len(w.cloud.Resources()) != 1 {
			t.Errorf("got %s with %d resources, want RUNNING with 1", d.State, len(w.cloud.Resources()))
		}
	})
}

func TestEnvironmentMadeAgain(t *testing.T) {
	w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: w}
	engines := map[string]*run.Engine{"first": run.New(o), "second": run.New(o)}
	for _, lineage := range []string{"first", "second"} {
		err := run.NewEnvironment(t.Context(), o.Store, store.Environment{Name: "dev", Lineage: lineage})
		if err != nil {
			t.Fatal(err)
		}
		deployed(t, engines[lineage], w, lineage, "Disk/"+lineage)
		if lineage == "first" {
			err := o.Store.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteEnvironment("dev") })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, e := range engines {
		if g, err := e.Graph(t.Context()); err != nil || g.Lineage != "second" || g.Newest("second") == nil || g.Newest("first") != nil {
			t.Errorf("the engine that deployed %s: got %v of %s, %v", name, g.Modules(), g.Lineage, err)
		}
	}
}

// halfDone has providers whose Update and Delete do half of their work, and forget to say of what.
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
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: w, Backoff: 1}
	if err := run.NewEnvironment(t.Context(), o.Store, store.Environment{Name: "dev"}); err != nil {
		t.Fatal(err)
	}
	deployed(t, run.New(o), w, "a", "Disk/a size=1\nDisk/b")
	o.Providers = halfDone{w}
	for _, program := range []string{"Disk/a size=2\nDisk/b", "Disk/a size=1"} {
		deployed(t, run.New(o), w, "a", program)
	}
	o.Providers = w
	if d := deployed(t, run.New(o), w, "a", "Disk/a size=3"); d.State != store.Done {
		t.Errorf("%s: %s", d.State, d.Message)
	}
	if all := w.cloud.Resources(); len(all) != 1 || all[0].Inputs["size"] != 3.0 {
		t.Errorf("got %v, want a alone, with the size 3", all)
	}
}

// forgetful is a store that cannot store the outcome of a creation once.
type forgetful struct {
	store.Store
	failed bool
}

func (f *forgetful) Write(ctx context.Context, do func(store.Tx) error) error {
	return f.Store.Write(ctx, func(tx store.Tx) error {
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

func TestOutcomeNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		o := run.Options{Store: &forgetful{Store: memory.New()}, Environment: "dev", Key: secret.NewKey(), Providers: w}
		if err := run.NewEnvironment(t.Context(), o.Store, store.Environment{Name: "dev"}); err != nil {
			t.Fatal(err)
		}
		e, start := run.New(o), time.Now()
		d := deployed(t, e, w, "a", "Disk/a")
		if want := urnOf("a", "Disk/a") + ": the disk is full"; d.State != store.Failed || d.Message != want {
			t.Errorf("got %s %q, want FAILED %q", d.State, d.Message, want)
		}
		if err := e.Retry(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		d, err := e.Run(t.Context(), d.ID)
		if took := time.Since(start); err != nil || d.State != store.Done || len(w.cloud.Resources()) != 1 || took > time.Minute {
			t.Errorf("got %s and %v with %d resources after %s, want DONE with 1 at once", d.State, err, len(w.cloud.Resources()), took)
		}
	})
}
