package bridge

import (
	"cmp"
	"context"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// retries is how often a call is repeated after a *[lumi.RetryError], and backoff the delay before the first time unless the error
// has one. Both are Lumi's own. Other engines repeat nothing.
const (
	retries = 4
	backoff = time.Second
)

// retrying repeats calls that fail temporarily.
type retrying struct{ lumi.ResourceProvider }

func (r retrying) Check(ctx context.Context, req *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	return retry(ctx, r.ResourceProvider.Check, req)
}

func (r retrying) Create(ctx context.Context, req *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	return retry(ctx, r.ResourceProvider.Create, req)
}

func (r retrying) Find(ctx context.Context, req *lumi.FindRequest) (*lumi.FindResponse, error) {
	return retry(ctx, r.ResourceProvider.Find, req)
}

func (r retrying) Get(ctx context.Context, req *lumi.GetRequest) (*lumi.GetResponse, error) {
	return retry(ctx, r.ResourceProvider.Get, req)
}

func (r retrying) InspectChange(ctx context.Context, req *lumi.InspectChangeRequest) (*lumi.InspectChangeResponse, error) {
	return retry(ctx, r.ResourceProvider.InspectChange, req)
}

func (r retrying) Update(ctx context.Context, req *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	return retry(ctx, r.ResourceProvider.Update, req)
}

func (r retrying) Delete(ctx context.Context, req *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	return retry(ctx, r.ResourceProvider.Delete, req)
}

// retryingFunction repeats calls that fail temporarily.
type retryingFunction struct{ lumi.Function }

func (f retryingFunction) Call(ctx context.Context, req *lumi.CallRequest) (*lumi.CallResponse, error) {
	return retry(ctx, f.Function.Call, req)
}

// retry makes a call until it succeeds, fails permanently, or has been repeated often enough, or until ctx is done.
func retry[Q, R any](ctx context.Context, call func(context.Context, *Q) (*R, error), req *Q) (*R, error) {
	for attempt := 0; ; attempt++ {
		resp, err := call(ctx, req)
		temporary, ok := lumi.Meaning(err).(*lumi.RetryError) //nolint:errorlint // A meaning is not wrapped.
		if !ok || attempt == retries {
			return resp, err
		}
		delay := cmp.Or(temporary.After, backoff<<attempt)
		lumi.Log(ctx).Info("waiting before the next attempt", "delay", delay, "error", err)
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return resp, err
		}
	}
}
