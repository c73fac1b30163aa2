package cloud

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	lumi "github.com/lumi-idl/lumi/runtime"
)

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 20 * time.Second
)

// newRetryer repeats requests that failed for reasons which may pass, with pauses that grow as the IDL says.
func newRetryer(attempts int) *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.Backoff = retry.BackoffDelayerFunc(pause)
	})
}

// pause is somewhere between a half of what the attempt's turn is and the whole, so that many who were turned away
// together do not come back together.
func pause(attempt int, _ error) (time.Duration, error) {
	longest := min(float64(firstPause)*math.Pow(aws.BackoffFactor, float64(attempt)), float64(longestPause))
	return time.Duration(longest * (1 + rand.Float64()) / 2), nil
}

// Once is for requests that make something twice if they are sent twice. They are repeated only if Amazon rejected them
// before doing anything. After any other failure the outcome is unknown, and the author must look for the resource.
func Once(attempts sdk.Retryer) sdk.Retryer { return once{attempts} }

type once struct{ sdk.Retryer }

// IsErrorRetryable implements [sdk.Retryer].
func (once) IsErrorRetryable(err error) bool { return throttled(err) }

// MakeOnce creates a resource and returns its id, unless an earlier attempt has created it. It looks again if the outcome
// of this attempt is unknown. Find returns an empty id if there is no resource. Found says that there was one, which may
// differ from the desired state.
func MakeOnce(find, create func() (string, error)) (id string, found bool, err error) {
	if id, err = find(); err != nil || id != "" {
		return id, true, err
	}
	if id, err = create(); err != nil && Unknown(err) {
		if id, findErr := find(); findErr == nil && id != "" {
			return id, true, nil
		}
	}
	return id, false, err
}

// Wait asks until what was made can be seen, since Amazon's answers lag behind what it did: at first there may be no such
// thing.
func Wait(ctx context.Context, what string, seen func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestWait, errWait)
	defer cancel()
	for attempt := 0; ; attempt++ {
		ok, err := seen()
		if ok && err == nil {
			return nil
		}
		if err != nil && !errors.Is(Error(err), lumi.ErrNotFound) {
			return err
		}
		delay, _ := pause(attempt, nil) // never fails
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		case <-time.After(delay):
		}
	}
}

const longestWait = 5 * time.Minute

var errWait = fmt.Errorf("it is not ready after %v", longestWait)
