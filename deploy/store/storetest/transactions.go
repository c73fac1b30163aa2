package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/deploy/store"
)

// changes returns a function that writes a row of each kind.
func changes(d store.Job) func(tx store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.AddJob(store.Job{Environment: "dev"}, store.Content{})
		d.State = store.Done
		return errors.Join(err, tx.PutJob(d), tx.PutEnvironment(store.Environment{Name: "dev"}), tx.PutTask(store.Task{Deployment: d.ID}),
			tx.PutStep(store.Step{Deployment: d.ID, Number: 1, URN: "changed"}), tx.AddEvents("dev", []store.Event{{}}),
			tx.PutVertices("dev", []store.Vertex{{Key: "key", Text: "changed"}, {Key: "new"}}, nil))
	}
}

// all returns all rows that changes affects.
func all(tx store.Tx) (rows [7]any, err error) {
	var errs [7]error
	rows[0], errs[0] = tx.Environments()
	rows[1], errs[1] = tx.Queue("dev")
	rows[2], errs[2] = tx.Vertices("dev")
	rows[3], errs[3] = tx.Tasks(1)
	rows[4], errs[4] = tx.Steps(1)
	rows[5], errs[5] = tx.Events("dev", 0, 0, 10)
	rows[6], errs[6] = tx.Vertices("other")
	return rows, errors.Join(errs[:]...)
}

func (t *T) all() (rows [7]any) {
	t.Helper()
	err := t.Read(t.Context(), func(tx store.Tx) (err error) {
		rows, err = all(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func rollback(t *T) {
	d := t.fill("dev")
	t.fill("other")
	before := t.all()
	failed := errors.New("failed")
	t.wantError(failed, func(tx store.Tx) error { return errors.Join(changes(d)(tx), failed) })
	t.wantError(failed, func(tx store.Tx) error { return errors.Join(tx.DeleteEnvironment("dev"), failed) })
	want(t, before, all)
	t.write(changes(d))
	if cmp.Equal(before, t.all()) {
		t.Error("Write did not change any rows")
	}
}

func panics(t *T) {
	d := t.fill("dev")
	t.fill("other")
	before := t.all()
	func() {
		defer func() {
			if got := recover(); got != "panic" {
				t.Errorf("recovered %v, want the panic value of f", got)
			}
		}()
		_ = t.Write(t.Context(), "dev", func(tx store.Tx) error {
			if err := changes(d)(tx); err != nil {
				t.Error(err)
			}
			panic("panic")
		})
	}()
	want(t, before, all)
	t.write(changes(d))
}

func read(t *T) {
	d := t.fill("dev")
	t.fill("other")
	before := t.all()
	for name, f := range statements("dev", d.ID) {
		err := t.Read(t.Context(), func(tx store.Tx) error {
			if f(tx) == nil {
				t.Errorf("%s in Read returned nil, want an error", name)
			}
			return nil
		})
		if err != nil {
			t.Errorf("Read after %s failed: %v", name, err)
		}
	}
	want(t, before, all)
}

// view interleaves a reader and a writer. Neither waits for the other, and the reader does not see the writer's
// changes.
func view(t *T) {
	d := t.fill("dev")
	t.fill("other")
	before := t.all()
	err := t.Read(t.Context(), func(tx store.Tx) error {
		first, err := all(tx)
		failed := errors.New("failed")
		t.wantError(failed, func(w store.Tx) error { return errors.Join(changes(d)(w), failed) })
		t.write(func(w store.Tx) error {
			err := changes(d)(w)
			want(t, before, all) // another reader, before the commit
			return err
		})
		second, err2 := all(tx)
		if diff := cmp.Diff([][7]any{before, before}, [][7]any{first, second}, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("rows read before and after a write (-want +got):\n%s", diff)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
	if cmp.Equal(before, t.all()) {
		t.Error("Write did not change any rows")
	}
}

func writers(t *T) {
	const goroutines, each = 4, 10
	e := t.environment("dev")
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				err := t.Write(t.Context(), "dev", func(tx store.Tx) error {
					e, err := tx.Environment("dev")
					e.Last++
					return errors.Join(err, tx.PutEnvironment(e))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	e.Last += goroutines * each
	want(t, e, func(tx store.Tx) (store.Environment, error) { return tx.Environment("dev") })
}

// creators create the same environment. Only one of them finds that it does not exist.
func creators(t *T) {
	var created atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			isNew := false
			err := t.Write(t.Context(), "new", func(tx store.Tx) error {
				_, err := tx.Environment("new")
				if isNew = errors.Is(err, store.ErrNotFound); !isNew {
					return err
				}
				return tx.PutEnvironment(store.Environment{Name: "new"})
			})
			if err != nil {
				t.Error(err)
			}
			if isNew {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if n := created.Load(); n != 1 {
		t.Errorf("%d writers created the environment, want 1", n)
	}
}

func contexts(t *T) {
	t.environment("dev")
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	f := func(store.Tx) error { t.Error("f was called with a canceled context"); return nil }
	if err := t.Write(ctx, "dev", f); !errors.Is(err, stopped) {
		t.Errorf("Write with a canceled context: error %v, want %v", err, stopped)
	}
	if err := t.Read(ctx, f); !errors.Is(err, stopped) {
		t.Errorf("Read with a canceled context: error %v, want %v", err, stopped)
	}
}
