package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(*testing.T) store.Store { return memory.New() })
}

// Writers that wait for each other do not deadlock in a synctest bubble.
func TestSynctest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		for range 3 {
			go func() {
				err := s.Write(t.Context(), "dev", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "dev"}) })
				if err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		var d store.Job
		err := s.Write(t.Context(), "dev", func(tx store.Tx) error {
			id, err := tx.AddJob(store.Job{Environment: "dev", Created: time.Now()}, store.Content{})
			if err == nil {
				d, err = tx.Job(id)
			}
			return err
		})
		if err != nil || !d.Created.Equal(time.Now()) {
			t.Errorf("Job() = %+v, %v, want the current time as Created", d, err)
		}
	})
}

// BenchmarkStep measures a typical use in model checking: a new store with a deployment and a step.
func BenchmarkStep(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		err := memory.New().Write(b.Context(), "dev", func(tx store.Tx) error {
			if err := tx.PutEnvironment(store.Environment{Name: "dev"}); err != nil {
				return err
			}
			id, err := tx.AddJob(store.Job{Environment: "dev", State: store.Running}, store.Content{})
			if err != nil {
				return err
			}
			return tx.PutStep(store.Step{Deployment: id, Number: 1})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	storetest.TestClock(t, func(_ *testing.T, clock func() time.Time) store.Store {
		s := memory.New()
		s.Clock = clock
		return s
	})
}
