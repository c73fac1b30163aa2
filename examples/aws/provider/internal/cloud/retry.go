package cloud

import (
	"cmp"
	"context"
	"errors"
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
// before doing anything. After any other failure the outcome is uncertain.
func Once(attempts sdk.Retryer) sdk.Retryer { return once{attempts} }

type once struct{ sdk.Retryer }

// IsErrorRetryable implements [sdk.Retryer].
func (once) IsErrorRetryable(err error) bool { return throttled(err) }

// Wait polls until something new is ready, and returns what [Error] makes of a failure. Amazon's answers lag behind what
// it did: at first it may not know the resource.
func Wait(ctx context.Context, what string, poll func(context.Context) (state string, ready bool, err error)) error {
	return lumi.Waiter{Pause: firstPause, MaxPause: longestPause}.Wait(ctx, what,
		func(ctx context.Context) (string, bool, error) {
			state, ready, err := poll(ctx)
			if err = Error(err); errors.Is(err, lumi.ErrNotFound) {
				return "not visible yet", false, nil
			}
			return state, ready, err
		})
}

// FindMade looks for the resource that a Create made whose outcome is uncertain, until it is visible or cannot be expected
// to become so any more. Look returns an empty id if it sees none. Nothing counts as not found unless Amazon said so.
func (c *Cloud) FindMade(ctx context.Context, look func(context.Context) (id string, err error)) (lumi.ID, error) {
	var id string
	var failure error
	timeout := cmp.Or(c.FindTimeout, 3*time.Second)
	patience := lumi.Waiter{Pause: timeout / 30, MaxPause: timeout / 6, Timeout: timeout}
	err := patience.Wait(ctx, "the resource", func(context.Context) (string, bool, error) {
		id, failure = look(ctx)
		return "not found yet", id != "", Error(failure)
	})
	if err != nil && failure == nil && ctx.Err() == nil {
		return "", lumi.ErrNotFound
	}
	return lumi.ID(id), err
}
