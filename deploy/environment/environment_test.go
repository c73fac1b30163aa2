package environment_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
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
