// Package storetest contains tests for implementations of a store.
//
//	func TestStore(t *testing.T) {
//		storetest.Test(t, func(t *testing.T) store.Store { return memory.New() })
//	}
package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Test runs the tests in parallel. It opens an empty store for each test and closes it afterward.
func Test(t *testing.T, open func(t *testing.T) store.Store) {
	for _, test := range []struct {
		name string
		run  func(*T)
	}{
		// EnvironmentTx
		{"Environments", environments},
		{"DeleteEnvironment", deleteEnvironment},
		// GraphTx
		{"Vertices", vertices},
		// JobTx
		{"Deployments", deployments},
		{"Queue", queue},
		{"History", history},
		{"Touch", touch},
		{"Tasks", tasks},
		{"Steps", steps},
		{"MoveSteps", moveSteps},
		{"Uses", uses},
		{"Prune", prune},
		{"Ready", ready},
		// WorkerTx
		{"Workers", workers},
		// EventTx
		{"Events", events},
		// TaskTx
		{"Releases", releases},
		{"Selections", selections},
		{"Graphs", graphs},
		{"GraphTasks", tasksOfGraphs},
		{"Runs", runs},
		{"TaskRuns", taskRuns},
		{"LastTaskRuns", lastTaskRuns},
		{"TaskTransactions", taskTransactions},
		{"TasksNotFound", tasksNotFound},
		// all
		{"NotFound", notFound},
		{"Outside", outside},
		{"Text", text},
		{"Times", times},
		// transactions
		{"Rollback", rollback},
		{"Panic", panics},
		{"Read", read},
		{"View", view},
		{"Writers", writers},
		{"Creators", creators},
		{"Context", contexts},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test.run(&T{t, s})
		})
	}
}

// T is a test and its store.
type T struct {
	*testing.T
	store.Store
}

// write runs f in a transaction of environment dev, which must succeed.
func (t *T) write(f func(tx store.Tx) error) {
	t.Helper()
	t.writeTo("dev", f)
}

func (t *T) writeTo(environment string, f func(tx store.Tx) error) {
	t.Helper()
	if err := t.Write(t.Context(), environment, f); err != nil {
		t.Fatalf("Write: %v", err)
	}
}

// want checks the result of a statement in a new read-only transaction.
func want[R any](t *T, want R, f func(tx store.Tx) (R, error)) {
	t.Helper()
	var got R
	err := t.Read(t.Context(), func(tx store.Tx) (err error) {
		got, err = f(tx)
		return err
	})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// wantError checks that a writing transaction returns an error wrapping want.
func (t *T) wantError(want error, f func(tx store.Tx) error) {
	t.Helper()
	if err := t.Write(t.Context(), "dev", f); !errors.Is(err, want) {
		t.Errorf("Write() = %v, want %v", err, want)
	}
}

func (t *T) environment(name string) store.Environment {
	t.Helper()
	e := store.Environment{Name: name, Lineage: "lineage of " + name, Key: "age:" + name, Serial: 3, Last: 7}
	t.writeTo(name, func(tx store.Tx) error { return tx.PutEnvironment(e) })
	return e
}

// add adds a deployment and returns it with its ID and place set.
func (t *T) add(d store.Job) store.Job {
	t.Helper()
	t.writeTo(d.Environment, func(tx store.Tx) (err error) {
		d.ID, err = tx.AddJob(d, store.Content{Desired: "{}", Shown: "shown", Request: "request"})
		return err
	})
	if d.Place == 0 {
		d.Place = d.ID
	}
	return d
}

// waiting adds an environment with a waiting deployment, which it returns.
func (t *T) waiting() store.Job {
	t.Helper()
	t.environment("dev")
	return t.add(store.Job{Environment: "dev", State: store.Wait})
}
