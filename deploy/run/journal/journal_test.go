package journal

import (
	"context"
	"errors"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// flaky is a store that runs reads twice, and does not answer to writes.
type flaky struct{ store.Store }

func (s flaky) Read(ctx context.Context, f func(store.Tx) error) error {
	return errors.Join(s.Store.Read(ctx, f), s.Store.Read(ctx, f))
}

func (s flaky) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	return errors.Join(s.Store.Write(ctx, environment, f), store.ErrUncertain)
}

func open(t *testing.T) (*Journal, store.Store) {
	t.Helper()
	s := memory.New()
	must.Do(t, s.Write(t.Context(), "dev", func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: "dev"}) }))
	return New(job.New(job.Options{Store: flaky{s}, Environment: "dev"}), nil), s
}

// Writes that shared a transaction are not repeated one by one if it may have been committed.
func TestUncertain(t *testing.T) {
	j, _ := open(t)
	runs := 0
	f := func(*Tx) error { runs++; return nil }
	j.add(f)
	if err := j.Write(t.Context(), f); !errors.Is(err, store.ErrUncertain) || runs != 2 {
		t.Errorf("Write() = %v, and 2 functions ran %d times, want ErrUncertain, 2", err, runs)
	}
}

// A read that runs again sees the graph of its last run.
func TestReadAgain(t *testing.T) {
	j, s := open(t)
	var seen []*graph.Graph
	must.Do(t, j.Read(t.Context(), func(tx *Tx) error {
		if len(seen) > 0 {
			must.Do(t, s.Write(t.Context(), "dev", func(tx store.Tx) error { return tx.PutVertices("dev", nil, nil) }))
		}
		g, err := tx.Graph()
		seen = append(seen, g)
		return err
	}))
	if len(seen) != 2 || seen[0] == seen[1] {
		t.Errorf("two runs saw the graphs %p, want two", seen)
	}
}
