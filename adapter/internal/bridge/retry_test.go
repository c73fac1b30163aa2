package bridge

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Calls are repeated after temporary failures only, with the delays of the provider or growing ones.
func TestRetry(t *testing.T) {
	throttled := &lumi.RetryError{Err: errors.New("throttled")}
	for _, test := range []struct {
		name string
		errs []error // of the attempts
		want error
		took time.Duration
	}{
		{"success", []error{nil}, nil, 0},
		{"permanent", []error{lumi.ErrNotFound}, lumi.ErrNotFound, 0},
		{"temporary", []error{throttled, throttled, nil}, nil, 3 * time.Second},
		{"delay of the provider", []error{&lumi.RetryError{After: time.Minute}, nil}, nil, time.Minute},
		{"then permanent", []error{throttled, lumi.ErrNotFound}, lumi.ErrNotFound, time.Second},
		{"too often", []error{throttled, throttled, throttled, throttled, throttled}, throttled, 15 * time.Second},
		{"partial", []error{&lumi.PartialError{ID: "x", Err: throttled}}, throttled, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, attempts := time.Now(), 0
				_, err := retry(t.Context(), func(context.Context, *int) (*int, error) {
					attempts++
					return nil, test.errs[attempts-1]
				}, new(int))
				if !errors.Is(err, test.want) || attempts != len(test.errs) || time.Since(start) != test.took {
					t.Errorf("%v after %d attempts in %v, want %v after %d in %v",
						err, attempts, time.Since(start), test.want, len(test.errs), test.took)
				}
			})
		})
	}
}

func TestRetryCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := retry(ctx, func(context.Context, *int) (*int, error) { return nil, &lumi.RetryError{After: time.Hour} }, new(int))
		if err == nil || err.Error() != "temporary failure" {
			t.Errorf("retry = %v, want the failure of the last attempt", err)
		}
	})
}
