package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/test/bufconn"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestLocal(t *testing.T) {
	t.Parallel()
	listener := bufconn.Listen(1 << 16)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, Plugin{Package: "test", Resources: resources()}, listener, slog.New(slog.DiscardHandler))
	}()
	p := must.Get(plugin.Connect(within(t), func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }, nil))(t)
	things := must.Get(p.Resource(thingToken))(t)
	_, err := things.Create(within(t), &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(thingBag("panic"))})
	var e *plugin.Error
	if !errors.As(err, &e) || e.Message != "the provider panicked: runtime error: index out of range [7] with length 0" {
		t.Errorf("Create error = %v, want the panic", err)
	}
	_, err = things.Create(within(t), &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(thingBag("exit"))})
	if !errors.As(err, &e) || e.Message != "the provider ended its goroutine, as runtime.Goexit and testing.T.FailNow do" {
		t.Errorf("Create error = %v, want an ended goroutine", err)
	}
	created, err := things.Create(within(t), &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(thingBag("length"))})
	if err != nil || created.ID != "t-1" {
		t.Errorf("Create = %v, %v, want t-1", created, err)
	}
	if p.Done() != nil {
		t.Error("Done of a plugin without a process is not nil, want nil")
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := things.Get(within(t), &lumi.GetRequest{ID: "t-1", Purpose: lumi.Import}); !errors.As(err, &e) {
		t.Errorf("Get after the end returned %v, want a *plugin.Error", err)
	}
	must.Do(t, p.Close())
}

// A hanging call fails when the plugin stops.
func TestLocalHangs(t *testing.T) { synctest.Test(t, testLocalHangs) }

func testLocalHangs(t *testing.T) {
	called, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	hanging := Plugin{Package: "test", Resources: resources(), Configure: func(context.Context, lumi.Bag) error {
		close(called)
		<-release
		return nil
	}}
	listener := bufconn.Listen(1 << 16)
	ctx, cancel := context.WithCancel(t.Context())
	served, configured := make(chan error, 1), make(chan error, 1)
	go func() { served <- Serve(ctx, hanging, listener, slog.New(slog.DiscardHandler)) }()
	p := must.Get(plugin.Connect(within(t), func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }, nil))(t)
	defer p.Close()
	go func() { configured <- p.Configure(within(t), lumi.Bag{}) }()
	<-called
	cancel()
	if err := <-served; err == nil || err.Error() != "some calls did not return after they were canceled" {
		t.Errorf("Serve error = %v, want a hanging call", err)
	}
	var e *plugin.Error
	if err := await(t, configured); !errors.As(err, &e) || e.Code != codes.Unavailable {
		t.Errorf("Configure error = %v, want Unavailable", err)
	}
}

func TestLocalFails(t *testing.T) {
	t.Parallel()
	listener := bufconn.Listen(1)
	err := Serve(t.Context(), Plugin{Package: "test"}, listener, slog.New(slog.DiscardHandler))
	if err == nil || err.Error() != "invalid resources:\nno resources" {
		t.Errorf("Serve error = %v, want no resources", err)
	}
	_, err = plugin.Connect(within(t), func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }, nil)
	if err == nil {
		t.Error("Connect to a stopped plugin returned nil, want an error")
	}
	if _, err := listener.Accept(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Accept returned %v, want a closed listener", err)
	}
	err = Serve(t.Context(), Plugin{Package: "test", Resources: resources()}, listener, slog.New(slog.DiscardHandler))
	if err == nil || err.Error() != "closed" {
		t.Errorf("Serve error = %v, want closed", err)
	}
}
