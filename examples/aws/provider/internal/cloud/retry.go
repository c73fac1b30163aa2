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

// newRetryer returns a retryer for transient failures, with the exponential backoff specified in the IDL.
func newRetryer(attempts int) *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.Backoff = retry.BackoffDelayerFunc(pause)
	})
}

// pause returns a random delay between 50% and 100% of the attempt's backoff. The jitter prevents throttled clients from
// retrying at the same time.
func pause(attempt int, _ error) (time.Duration, error) {
	longest := min(float64(firstPause)*math.Pow(aws.BackoffFactor, float64(attempt)), float64(longestPause))
	return time.Duration(longest * (1 + rand.Float64()) / 2), nil
}

// Once wraps a retryer for non-idempotent requests. The result retries only throttled requests, which had no effect. After
// any other failure, the outcome may be uncertain.
func Once(attempts sdk.Retryer) sdk.Retryer { return once{attempts} }

type once struct{ sdk.Retryer }

// IsErrorRetryable implements [sdk.Retryer].
func (once) IsErrorRetryable(err error) bool { return throttled(err) }

// Wait calls poll until a new resource is ready or poll returns an error other than [lumi.ErrNotFound], which it ignores
// since reads are eventually consistent. It converts errors with [Error].
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

// FindMade looks for the resource created by a Create with an uncertain outcome, until the resource is visible or the
// timeout expires. look returns "" if it finds no resource. FindMade returns [lumi.ErrNotFound] only if the last call of
// look succeeded.
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
