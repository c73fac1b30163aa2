package storetest

import (
	"errors"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

func events(t *T) {
	t.environment("dev")
	t.environment("prod")
	full := store.Event{
		Serial: 99, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Deployment: 1, Name: "a[5]", Task: 2, URN: "urn", Source: "main.ts:1:2", Kind: "move",
		Was: "was", ID: "id", State: store.Done, Level: "info", Message: "message",
	}
	t.write(func(tx store.Tx) error { return tx.AddEvents("dev", []store.Event{full, {Deployment: 2}}) })
	t.writeTo("prod", func(tx store.Tx) error { return tx.AddEvents("prod", []store.Event{{Deployment: 3}}) })
	t.write(func(tx store.Tx) error {
		return errors.Join(tx.AddEvents("dev", nil), tx.AddEvents("dev", []store.Event{{Deployment: 1}, {}}))
	})
	full.Serial = 1
	all := []store.Event{full, {Serial: 2, Deployment: 2}, {Serial: 4, Deployment: 1}, {Serial: 5}}
	for _, test := range []struct {
		deployment, after int64
		limit             int
		want              []store.Event
	}{
		{0, 0, 9, all}, {0, 0, 3, all[:3]}, {0, 1, 2, all[1:3]}, {0, 3, 9, all[2:]}, {0, 5, 9, nil}, {0, 0, 0, nil},
		{1, 0, 9, []store.Event{full, all[2]}}, {1, 1, 9, all[2:3]}, {1, 0, 1, all[:1]}, {3, 0, 9, nil}, {9, 0, 9, nil},
	} {
		want(t, test.want, func(tx store.Tx) ([]store.Event, error) {
			return tx.Events("dev", test.deployment, test.after, test.limit)
		})
	}
}
