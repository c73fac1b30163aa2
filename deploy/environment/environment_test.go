package environment_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestDeletableRunningTasks(t *testing.T) {
	t.Parallel()
	must.Do(t, memory.New().Write(t.Context(), "prod", func(tx store.Tx) error {
		if err := tx.PutEnvironment(store.Environment{Name: "prod"}); err != nil {
			return err
		}
		d := store.Job{
			Environment: "prod", Kind: store.Tasks, Module: "upgrade", State: store.Running, Owner: "other", Expires: time.Now().Add(time.Minute),
		}
		id, err := tx.AddJob(d, store.Content{})
		if err != nil {
			return err
		}
		for _, force := range []bool{false, true} {
			_, err := environment.Deletable(tx, "prod", force)
			var refused *job.RefusedError
			want := "upgrade[1] is running: wait until it ends, or stop it with 'lumi tasks stop'"
			if !errors.As(err, &refused) || err.Error() != want {
				t.Errorf("Deletable(force: %t) error = %v, want %s", force, err, want)
			}
		}
		d.ID, d.Expires = id, time.Now().Add(-time.Second)
		if err := tx.PutJob(d); err != nil {
			return err
		}
		_, err = environment.Deletable(tx, "prod", false)
		return err
	}))
}

// twice is a store that runs reads twice, as after a lost connection.
type twice struct{ store.Store }

func (s twice) Read(ctx context.Context, f func(store.Tx) error) error {
	return errors.Join(s.Store.Read(ctx, f), s.Store.Read(ctx, f))
}

func TestReadTwice(t *testing.T) {
	t.Parallel()
	e := environment.New(run.Options{Store: twice{memory.New()}, Environment: "dev"})
	must.Do(t, environment.Add(t.Context(), e.Store, store.Environment{Name: "dev"}))
	must.Do(t, e.Store.Write(t.Context(), "dev", func(tx store.Tx) error {
		_, err := tx.AddJob(store.Job{Environment: "dev", Kind: store.Destroy, Module: "m", State: store.Wait}, store.Content{})
		return errors.Join(err, tx.AddEvents("dev", []store.Event{{Deployment: 1}}))
	}))
	status := must.Get(e.Status(t.Context()))(t)
	history := must.Get(e.History(t.Context(), "", 0, 10))(t)
	log := must.Get(e.Log(t.Context(), 1))(t)
	if len(status) != 1 || len(history) != 1 || len(log) != 1 {
		t.Errorf("%d deployments, %d in the history, %d events, want 1 each", len(status), len(history), len(log))
	}
}
