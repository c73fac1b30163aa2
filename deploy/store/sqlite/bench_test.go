package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
)

// BenchmarkStep measures the transaction that an executor runs before and after each call, on the disk of temporary files.
func BenchmarkStep(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"), sqlite.Options{})
	var id int64
	write(b, s, func(tx store.Tx) (err error) {
		if err := putEnvironment(tx); err != nil {
			return err
		}
		id, err = tx.AddDeployment(store.Deployment{Environment: "dev", State: store.Running, Fence: 1}, store.Content{})
		return err
	})
	step := store.Step{Deployment: id, State: store.Started, Kind: "update", URN: "urn", New: strings.Repeat("x", 500)}
	b.ReportAllocs()
	for b.Loop() {
		step.Number++
		write(b, s, func(tx store.Tx) error {
			if err := tx.Touch(id, 1, store.Running); err != nil {
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
				b.Errorf("got %d vertices", len(got))
			}
			return err
		})
	}
}
