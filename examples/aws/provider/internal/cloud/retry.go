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

// newRetryer retries transient failures with the backoff of the IDL.
func newRetryer(attempts int) *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.Backoff = retry.BackoffDelayerFunc(pause)
	})
}

// pause returns a random delay between half of the attempt's backoff and all of it, so that throttled clients do not return
// at the same time.
func pause(attempt int, _ error) (time.Duration, error) {
	longest := min(float64(firstPause)*math.Pow(aws.BackoffFactor, float64(attempt)), float64(longestPause))
	return time.Duration(longest * (1 + rand.Float64()) / 2), nil
}

// Once wraps a retryer for requests that are not idempotent. It retries only requests that Amazon rejected without
// effect. Other failures make the outcome uncertain.
func Once(attempts sdk.Retryer) sdk.Retryer { return once{attempts} }

type once struct{ sdk.Retryer }

// IsErrorRetryable implements [sdk.Retryer].
func (once) IsErrorRetryable(err error) bool { return throttled(err) }

// Wait polls until a new resource is ready, and passes errors to [Error]. Reads are eventually consistent: a new resource
// may not be found at first.
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

// FindMade looks for a resource whose Create had an uncertain outcome, until it is visible or the timeout expires. look
// returns an empty id if it finds none. FindMade returns [lumi.ErrNotFound] only if the last look succeeded.
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
