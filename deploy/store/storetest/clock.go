package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// TestClock tests a store that uses the given clock. It is not part of [Test], since a server's clock cannot be replaced.
func TestClock(t *testing.T, open func(t *testing.T, clock func() time.Time) store.Store) {
	now := time.Date(2000, 1, 2, 3, 4, 5, 123456789, time.FixedZone("zone", 5400))
	s := open(t, func() time.Time { return now })
	for range 2 {
		want := now.UTC().Truncate(time.Microsecond)
		check := func(tx store.Tx) error {
			first, before := tx.Now(), now
			now = now.Add(time.Hour)
			if second := tx.Now(); first != want || second != first {
				t.Errorf("Now() = %v, then %v, want %v twice", first, second, want)
			}
			now = before
			return nil
		}
		if err := errors.Join(s.Read(t.Context(), check), s.Write(t.Context(), "", check)); err != nil {
			t.Error(err)
		}
		now = now.Add(time.Minute)
	}
}
