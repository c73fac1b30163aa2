package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// calls returns a call of each operation, in which the author returns the error result.
func calls(t *testing.T, result error) map[string]func() error {
	ops := &networkOps{
		check:   func(*lumi.State[*network]) error { return result },
		create:  func(*lumi.State[*network]) (lumi.ID, error) { return "", result },
		get:     func(lumi.ID, *lumi.State[*network]) (*network, error) { return nil, result },
		inspect: func(_, _ *lumi.State[*network], _ *lumi.Diff) error { return result },
		update:  func(_, _ *lumi.State[*network], _ *lumi.Diff) error { return result },
		delete:  func(*lumi.State[*network]) error { return result },
	}
	p := testnet.NewNetworkProvider(struct {
		*networkOps
		*finder
	}{ops, &finder{func(*lumi.State[*network]) (lumi.ID, error) { return "", result }}})
	props := bag(t, minimal)
	return map[string]func() error{
		"Check": func() error {
			_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: props})
			return err
		},
		"Create": func() error {
			_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: props})
			return err
		},
		"Find": func() error {
			_, err := p.Find(t.Context(), &lumi.FindRequest{Properties: props})
			return err
		},
		"Get": func() error {
			_, err := p.Get(t.Context(), &lumi.GetRequest{ID: "n-1"})
			return err
		},
		"InspectChange": func() error {
			_, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: props, New: props})
			return err
		},
		"Update": func() error {
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{Old: props, New: props})
			return err
		},
		"Delete": func() error {
			_, err := p.Delete(t.Context(), &lumi.DeleteRequest{Properties: props})
			return err
		},
	}
}

// isUncertain reports whether err means an uncertain outcome.
func isUncertain(err error) bool {
	_, uncertain := lumi.Meaning(err).(*lumi.UncertainError) //nolint:errorlint // A meaning is not wrapped.
	return uncertain
}

func TestContextErrors(t *testing.T) {
	changes := map[string]bool{"Create": true, "Update": true, "Delete": true}
	down := errors.New("down")
	for name, test := range map[string]struct {
		err       error
		uncertain bool // for calls with side effects
	}{
		"canceled":           {context.Canceled, true},
		"deadline":           {context.DeadlineExceeded, true},
		"wrapped":            {fmt.Errorf("PUT /networks: %w", context.DeadlineExceeded), true},
		"joined":             {errors.Join(down, context.Canceled), true},
		"another":            {down, false},
		"with a meaning":     {&lumi.RetryError{Err: context.DeadlineExceeded}, false},
		"with a fault":       {errors.Join(lumi.Faultf(testnet.Network_CIDR, "is taken"), context.Canceled), true},
		"with a replacement": {errors.Join(&lumi.ReplaceError{}, context.Canceled), true},
		"gone":               {fmt.Errorf("%w: %w", lumi.ErrNotFound, context.Canceled), false},
		"read":               {&url.Error{Op: "Put", URL: "/networks", Err: io.EOF}, true},
		"half an answer":     {&url.Error{Op: "Put", URL: "/networks", Err: io.ErrUnexpectedEOF}, true},
		"reset":              {&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, true},
		"timeout":            {fmt.Errorf("PUT: %w", os.ErrDeadlineExceeded), true},
		"refused":            {&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, false},
		"end of a file":      {fmt.Errorf("reading the template: %w", io.EOF), false},
	} {
		for call, do := range calls(t, test.err) {
			err := do()
			if name == "gone" && call == "Delete" && err != nil || isUncertain(err) != (test.uncertain && changes[call]) {
				t.Errorf("%s with %s returned %T %v, want uncertain %v", call, name, err, err, test.uncertain && changes[call])
			}
			want := test.err.Error()
			if call == "Get" {
				want = "n-1: " + want
			}
			if call == "Delete" && name == "gone" {
				continue
			}
			if name != "with a fault" && (err.Error() != want || !errors.Is(err, test.err) && call != "Get") {
				t.Errorf("%s with %s returned %v, want %s", call, name, err, want)
			}
		}
	}
}

func TestUncertain(t *testing.T) {
	down := errors.New("connection reset")
	for _, result := range []error{
		lumi.Uncertain(down), fmt.Errorf("PUT: %w", lumi.Uncertain(down)), errors.Join(errors.New("x"), lumi.Uncertain(down)),
		errors.Join(lumi.Faultf(testnet.Network_CIDR, "is odd"), lumi.Uncertain(down)),
		errors.Join(lumi.ErrNotFound, lumi.Uncertain(down)),
	} {
		for _, call := range []string{"Create", "Update", "Delete"} {
			err := calls(t, result)[call]()
			if !isUncertain(err) || !errors.Is(err, down) || err.Error() != result.Error() {
				t.Errorf("%s returned %T %v, want an uncertain %v", call, err, err, result)
			}
		}
	}
	if lumi.Uncertain(nil) != nil {
		t.Error("Uncertain(nil) is not nil, want nil")
	}
}

func TestUncertainPartial(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{
		create: func(*lumi.State[*network]) (lumi.ID, error) { return "n-1", context.Canceled },
		update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
			want.Done(testnet.Network_Limit)
			return context.DeadlineExceeded
		},
	})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, minimal)})
	failed(t, err, "n-1", "partially done: context canceled")
	if !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("error = %v, want an *UncertainError", err)
	}
	_, err = p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-2", Old: bag(t, minimal), New: bag(t, minimal)})
	failed(t, err, "n-2", "partially done: context deadline exceeded")
	if !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("error = %v, want an *UncertainError", err)
	}
}

func TestCreateWithoutID(t *testing.T) {
	err := calls(t, nil)["Create"]()
	const want = "the provider returned an invalid result: the id is empty"
	if !isUncertain(err) || err.Error() != want || !errors.As(err, new(*lumi.OutputError)) {
		t.Errorf("Create error = %T %v, want an uncertain %s", err, err, want)
	}
}

func TestCanceledBeforeCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, props := testnet.NewNetworkProvider(&networkOps{}), bag(t, minimal) // The operations are not called.
	for name, call := range map[string]func() error{
		"Create": func() error {
			_, err := p.Create(ctx, &lumi.CreateRequest{Properties: props})
			return err
		},
		"Get": func() error {
			_, err := p.Get(ctx, &lumi.GetRequest{ID: "n-1"})
			return err
		},
		"Update": func() error {
			_, err := p.Update(ctx, &lumi.UpdateRequest{Old: props, New: props})
			return err
		},
		"Delete": func() error {
			_, err := p.Delete(ctx, &lumi.DeleteRequest{Properties: props})
			return err
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) || errors.As(err, new(*lumi.UncertainError)) {
			t.Errorf("%s returned %T %v, want a certain context.Canceled", name, err, err)
		}
	}
	last := &endingContext{Context: t.Context(), looks: 1 << 30}
	create := func() error {
		_, err := p.Create(last, &lumi.CreateRequest{Properties: props})
		return err
	}
	func() {
		defer func() { _ = recover() }() // The author's code panics if it is called.
		_ = create()
	}()
	for looks := range last.looked {
		last = &endingContext{Context: t.Context(), looks: looks + 1}
		if err := create(); !errors.Is(err, context.Canceled) || errors.As(err, new(*lumi.UncertainError)) {
			t.Errorf("Create with a context done at check %d returned %T %v, want a certain context.Canceled", looks, err, err)
		}
	}
}
