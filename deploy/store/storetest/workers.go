package storetest

import (
	"errors"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

func workers(t *T) {
	t.environment("dev")
	t.environment("prod")
	seen := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	b := store.Worker{Environment: "dev", Owner: "host/2/20", Host: "host", Boot: "boot", Seen: seen}
	a := store.Worker{Environment: "dev", Owner: "host/1/10", Host: "host", Draining: true}
	other := store.Worker{Environment: "prod", Owner: b.Owner}
	of := func(name string) func(store.Tx) ([]store.Worker, error) {
		return func(tx store.Tx) ([]store.Worker, error) { return tx.Workers(name) }
	}
	t.write(func(tx store.Tx) error { return errors.Join(tx.PutWorker(b), tx.PutWorker(a)) })
	t.writeTo("prod", func(tx store.Tx) error { return tx.PutWorker(other) })
	want(t, []store.Worker{a, b}, of("dev"))
	b.Seen, b.Draining = seen.Add(time.Second), true
	t.write(func(tx store.Tx) error { return errors.Join(tx.PutWorker(b), tx.DeleteWorker("dev", a.Owner)) })
	want(t, []store.Worker{b}, of("dev"))
	t.write(func(tx store.Tx) error { return tx.DeleteWorker("dev", a.Owner) })
	want(t, []store.Worker{other}, of("prod"))
	t.wantError(store.ErrNotFound, func(tx store.Tx) error { return tx.PutWorker(other) })
	t.wantError(store.ErrNotFound, func(tx store.Tx) error { return tx.DeleteWorker("prod", b.Owner) })
	t.writeTo("dev", func(tx store.Tx) error { return tx.DeleteEnvironment("dev") })
	want(t, nil, of("dev"))
	t.wantError(store.ErrNotFound, func(tx store.Tx) error { return tx.PutWorker(b) })
}
