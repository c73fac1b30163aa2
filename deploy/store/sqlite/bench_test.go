package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
)

// BenchmarkStep measures the two transactions of a call in the folder for temporary files: one before it and one after
// it.
func BenchmarkStep(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"), sqlite.Options{})
	var id int64
	write(b, s, func(tx store.Tx) (err error) {
		if err := putEnvironment(tx); err != nil {
			return err
		}
		id, err = tx.AddJob(store.Job{Environment: "dev", State: store.Running, Fence: 1}, store.Content{})
		return err
	})
	step := store.Step{Deployment: id, State: store.Started, Kind: "update", URN: "urn", New: strings.Repeat("x", 500)}
	b.ReportAllocs()
	for b.Loop() {
		step.Number++
		write(b, s, func(tx store.Tx) error {
			if _, err := tx.Touch(id, 1, store.Running); err != nil {
				return err
			}
			return tx.PutStep(step)
		})
	}
}

func BenchmarkVertices(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"), sqlite.Options{})
	all := make([]store.Vertex, 20_000)
	for i := range all {
		all[i] = store.Vertex{Key: fmt.Sprintf("resource:aws:s3:Bucket::bucket-%d:5", i*7919%len(all)), Text: strings.Repeat("x", 500)}
	}
	write(b, s, func(tx store.Tx) error {
		if err := putEnvironment(tx); err != nil {
			return err
		}
		return tx.PutVertices("dev", all, nil)
	})
	b.ReportAllocs()
	for b.Loop() {
		read(b, s, func(tx store.Tx) error {
			got, err := tx.Vertices("dev")
			if len(got) != len(all) {
				b.Errorf("Vertices() returned %d vertices, want %d", len(got), len(all))
			}
			return err
		})
	}
}

// BenchmarkLastTaskRuns measures the query at the start of a run after three runs with 10,000 task runs each.
func BenchmarkLastTaskRuns(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"), sqlite.Options{})
	write(b, s, putEnvironment)
	rows := make([]store.TaskRun, 10_000)
	for i := range rows {
		rows[i] = store.TaskRun{
			Number: i, Task: fmt.Sprintf("task-%d", i/100), Node: fmt.Sprintf("node-%d", i%100), State: store.Done, Digest: strings.Repeat("x", 44),
		}
	}
	for range 3 {
		var id int64
		write(b, s, func(tx store.Tx) (err error) {
			id, err = tx.AddJob(store.Job{Environment: "dev", Kind: store.Tasks, Module: "default"}, store.Content{})
			return err
		})
		write(b, s, func(tx store.Tx) error { return tx.PutTaskRuns(id, rows) })
	}
	for b.Loop() {
		read(b, s, func(tx store.Tx) error {
			last, err := tx.LastTaskRuns("dev", "default")
			if len(last) != len(rows) {
				b.Errorf("LastTaskRuns() returned %d task runs, want %d", len(last), len(rows))
			}
			return err
		})
	}
}

func BenchmarkPutTaskRuns(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"), sqlite.Options{})
	var id int64
	write(b, s, putEnvironment)
	write(b, s, func(tx store.Tx) (err error) {
		id, err = tx.AddJob(store.Job{Environment: "dev", Kind: store.Tasks, Module: "default"}, store.Content{})
		return err
	})
	rows := make([]store.TaskRun, 1000)
	for i := range rows {
		rows[i] = store.TaskRun{Number: i, Task: "task", Node: fmt.Sprintf("node-%d", i), State: store.Done, Digest: strings.Repeat("x", 24)}
	}
	b.ReportAllocs()
	for b.Loop() {
		write(b, s, func(tx store.Tx) error { return tx.PutTaskRuns(id, rows) })
	}
}
