package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// caller is a function that makes a call to a provider.
type caller = func(context.Context, lumi.ResourceProvider) (any, error)

// changes returns a call of each method with side effects, with the given behavior.
func changes(do string) map[string]caller {
	return map[string]caller{
		"create": create(thingBag(do), nil), "update": update(thingBag("nothing"), thingBag(do)), "delete": remove(thingBag(do)),
	}
}

func isUncertain(err error) bool {
	var e *lumi.UncertainError
	return errors.As(err, &e)
}

func TestUncertain(t *testing.T) {
	bothThings(t, func(t *testing.T, things lumi.ResourceProvider) {
		for do, want := range map[string]string{
			"uncertain":      "no answer",
			"wrap uncertain": "around no answer here",
			"inner":          "the cloud: context deadline exceeded",
			"panic":          "the provider panicked: runtime error: index out of range [7] with length 0",
			"exit":           "the provider ended its goroutine, as runtime.Goexit and testing.T.FailNow do",
			"wrap output":    "around the provider returned an invalid result: result: is wrong here",
		} {
			for name, call := range changes(do) {
				if _, err := call(within(t), things); !isUncertain(err) || err.Error() != want {
					t.Errorf("%s of %s returned %T %[3]v, want an uncertain %s", name, do, err, want)
				}
			}
		}
	})
}

func TestUncertainIfCanceled(t *testing.T) {
	p := start(t, "plugin")
	things := p.resource(t, thingToken)
	for name, call := range changes("wait") {
		ctx, cancel := context.WithCancel(within(t))
		result := make(chan error, 1)
		go func() {
			_, err := call(ctx, things)
			result <- err
		}()
		p.expect(t, "waiting")
		cancel()
		if err := await(t, result); !isUncertain(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("canceled %s returned %T %[2]v, want an uncertain context.Canceled", name, err)
		}
		p.expect(t, "canceled")
		ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
		// The plugin may notice the deadline first.
		if _, err := call(ctx, things); !isUncertain(err) || !strings.Contains(err.Error(), "context deadline exceeded") {
			t.Errorf("%s after the deadline returned %T %[2]v, want an uncertain context.DeadlineExceeded", name, err)
		}
		cancel()
		p.expect(t, "waiting")
		p.expect(t, "canceled")
	}
}

// The outcome of calls with side effects is uncertain if the plugin is killed. Later calls fail without side effects.
func TestKilled(t *testing.T) {
	for name, call := range changes("die") {
		p := start(t, "plugin")
		things := p.resource(t, thingToken)
		_, err := call(within(t), things)
		var e *plugin.Error
		if !isUncertain(err) || !errors.As(err, &e) || e.Code != codes.Unavailable ||
			!strings.HasPrefix(err.Error(), "the plugin is gone (signal: killed): ") {
			t.Errorf("%s during a crash returned %T %[2]v, want an uncertain Unavailable", name, err)
		}
		for name, call := range changes("nothing") {
			_, err := call(within(t), things)
			if isUncertain(err) || !errors.As(err, &e) || e.Code != codes.Unavailable ||
				!strings.HasPrefix(err.Error(), "the plugin is gone (signal: killed): ") {
				t.Errorf("%s after a crash returned %T %[2]v, want a certain Unavailable", name, err)
			}
		}
	}
}

func TestCertain(t *testing.T) {
	p := start(t, "plugin")
	things := p.resource(t, thingToken)
	for do, want := range map[string]string{
		"fail":         "failed",
		"fault":        "do: is a fault\nlist[0]: is another",
		"replace":      "changing list requires a replacement, not an update",
		"wrap replace": "around changing list requires a replacement, not an update here",
		"retry":        "slow down: too fast",
		"missing x":    "x: no such resource",
	} {
		for name, call := range changes(do) {
			if name == "delete" && do == "missing x" {
				continue
			}
			if _, err := call(within(t), things); err == nil || isUncertain(err) || err.Error() != want {
				t.Errorf("%s of %s returned %T %[3]v, want a certain %s", name, do, err, want)
			}
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	failed := func(why string, ctx context.Context) {
		t.Helper()
		for name, call := range changes("nothing") {
			if _, err := call(ctx, things); err == nil || isUncertain(err) {
				t.Errorf("%s with %s returned %T %[3]v, want a certain error", name, why, err)
			}
		}
	}
	failed("not sent", done)
	result := background(within(t), things, "tidy")
	p.expect(t, "waiting")
	must.Do(t, p.Cancel(within(t)))
	failed("stopping", within(t))
	must.Do(t, await(t, result))
	must.Do(t, p.Close())
	failed("closed", within(t))
	// Errors of calls without side effects are never uncertain.
	p = start(t, "plugin")
	things = p.resource(t, thingToken)
	for name, call := range map[string]caller{
		"check": check(thingBag("panic")), "get": get("panic"), "find": find(thingBag("panic"), "x"),
		"inspect": inspect(thingBag("nothing"), thingBag("panic")),
	} {
		if _, err := call(within(t), things); err == nil || isUncertain(err) {
			t.Errorf("%s returned %T %[2]v, want a certain error", name, err)
		}
	}
}

func TestWrapped(t *testing.T) {
	bothThings(t, func(t *testing.T, things lumi.ResourceProvider) {
		var (
			invalid *lumi.InvalidError
			replace *lumi.ReplaceError
			output  *lumi.OutputError
			retry   *lumi.RetryError
			unknown *lumi.UncertainError
		)
		for do, test := range map[string]struct {
			is   func(err error) bool
			want string
		}{
			"fault":     {func(err error) bool { return errors.As(err, &invalid) && len(invalid.Faults) == 2 }, "do: around is a fault here\nlist[0]: around is another here"},
			"replace":   {func(err error) bool { return errors.As(err, &replace) }, "around changing list requires a replacement, not an update here"},
			"output":    {func(err error) bool { return errors.As(err, &output) }, "around the provider returned an invalid result: result: is wrong here"},
			"retry":     {func(err error) bool { return errors.As(err, &retry) && retry.After == 3*time.Second }, "around slow down: too fast here"},
			"uncertain": {func(err error) bool { return errors.As(err, &unknown) }, "around no answer here"},
			"missing x": {func(err error) bool { return errors.Is(err, lumi.ErrNotFound) }, "around x: no such resource here"},
		} {
			for name, call := range map[string]caller{
				"check": check(thingBag("wrap " + do)), "create": create(thingBag("wrap "+do), nil),
				"find": find(thingBag("wrap "+do), "x"), "partly": create(thingBag("partly wrap "+do), nil),
			} {
				_, err := call(within(t), things)
				want := test.want
				if name == "partly" {
					want = "partially done: " + want
				}
				if err == nil || !test.is(err) || err.Error() != want {
					t.Errorf("%s with %s returned %T %[3]v\nwant %[4]s", name, do, err, want)
				}
			}
		}
	})
}

// wrapping is a provider that overrides methods and wraps their errors.
type wrapping struct{ lumi.Provider }

func (p *wrapping) Create(ctx context.Context, req *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	resp, err := p.Provider.Create(ctx, req)
	if err != nil {
		err = fmt.Errorf("in %w here", err)
	}
	return resp, err
}

func (p *wrapping) Update(ctx context.Context, req *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	resp, err := p.Provider.Update(ctx, req)
	if err != nil {
		err = fmt.Errorf("in %w here", err)
	}
	return resp, err
}
