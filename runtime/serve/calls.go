package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// calls tracks the calls in flight.
type calls struct {
	ctx     context.Context // done when the plugin is stopping
	log     *slog.Logger
	secrets *secrets
	events  *events
	of      string // "provider" or "provisioner", for messages

	mu sync.Mutex
	// running is the number of calls in flight, and awaited the number of those whose callers are still waiting.
	running, awaited int
	// alone is the channel returned by abandoned. It is nil before abandoned is called.
	alone chan struct{}
	// idle is closed once the plugin is stopping and no calls are in flight.
	idle chan struct{}
}

func newCalls(ctx context.Context, log *slog.Logger, s *secrets) *calls {
	c := &calls{ctx: ctx, log: log, secrets: s, events: newEvents(log), idle: make(chan struct{})}
	context.AfterFunc(ctx, func() { c.count(0, 0) })
	return c
}

// intercept is a [grpc.UnaryServerInterceptor] for all calls. It rejects calls once the plugin is stopping, cancels calls in
// flight when it stops, and collects their secrets and events.
func (c *calls) intercept(
	caller context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (resp any, err error) {
	if c.ctx.Err() != nil {
		return nil, errStopping
	}
	defer c.begin(caller)()
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()

	ctx, forget := c.secrets.begin(ctx, req)
	defer forget()
	log := c.events.of(ctx, req)
	ctx = lumi.WithEvents(ctx, log.add)

	start := time.Now()
	resp, err = c.call(ctx, req, info, handler)
	c.note(info.FullMethod, req, err, time.Since(start))
	log.settle(caller)
	return resp, err
}

// call runs the handler and converts its error, or a panic, to a status. It uses a new goroutine, since the author's code
// may call runtime.Goexit: if it ended gRPC's goroutine, the caller would wait forever.
func (c *calls) call(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (resp any, err error) {
	err = status.Errorf(codes.Internal, // the result if the goroutine calls Goexit
		"the %s ended its goroutine, as runtime.Goexit and testing.T.FailNow do", c.of)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				text := masked(ctx, wire.TextOf(v))
				c.log.Error("the "+c.of+" panicked", "call", path.Base(info.FullMethod), "panic", text)
				fmt.Fprintf(os.Stderr, "%s\n", wire.Mask(string(debug.Stack()), wire.SecretsOf(ctx)))
				resp, err = nil, status.Error(codes.Internal, bounded("the "+c.of+" panicked: "+text))
			}
		}()
		answer, failure := handler(ctx, req)
		if failure != nil {
			failure = statusOf(ctx, failure).Err()
		}
		resp, err = answer, failure
	}()
	<-done
	return resp, err
}

// errStopping is the error of calls made while the plugin is stopping.
var errStopping = status.Error(codes.FailedPrecondition, "the plugin is stopping")

// note logs a call with its URN, status code, and duration at debug level.
func (c *calls) note(method string, req any, err error, took time.Duration) {
	if !c.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	attrs := []any{"call", path.Base(method), "code", status.Code(err), "took", took}
	if r, ok := req.(interface{ GetUrn() string }); ok {
		attrs = append(attrs, "urn", r.GetUrn())
	}
	c.log.Debug("called", attrs...)
}

// begin counts a call as in flight until end is called. ctx is done when the caller stops waiting.
func (c *calls) begin(ctx context.Context) (end func()) {
	c.count(1, 1)
	left := sync.OnceFunc(func() { c.count(0, -1) })
	unwatch := context.AfterFunc(ctx, left)
	return func() {
		unwatch()
		c.count(-1, 0)
		left()
	}
}

func (c *calls) count(running, awaited int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running += running
	c.awaited += awaited
	c.tell()
}

// abandoned returns a channel that is closed once calls are in flight but no caller is waiting for any of them.
func (c *calls) abandoned() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alone = make(chan struct{})
	c.tell()
	return c.alone
}

// tell closes alone and idle if their conditions are met. c.mu must be held.
func (c *calls) tell() {
	if c.ctx.Err() != nil && c.running == 0 {
		select {
		case <-c.idle:
		default:
			close(c.idle)
		}
	}
	if c.alone == nil || c.running == 0 || c.awaited > 0 {
		return
	}
	select {
	case <-c.alone:
	default:
		close(c.alone)
	}
}
