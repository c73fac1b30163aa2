package plugin

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// events receives the plugin's log and progress events and passes them to sink.
type events struct {
	sink func(lumi.Event)

	mu sync.Mutex
	// changed signals changes of the fields below.
	changed sync.Cond
	// received is the number of events passed to sink. over is set unless the plugin is streaming events.
	received int64
	over     bool
}

func newEvents(sink func(lumi.Event)) *events {
	e := &events{sink: sink, over: true}
	e.changed.L = &e.mu
	return e
}

// streamer is a client that can stream events.
type streamer interface {
	Events(context.Context, *lumirpc.EventsRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[lumirpc.Event], error)
}

// start opens the stream of events, which ends with the connection. Once start has returned, no events are missed. It is not
// an error if the plugin does not support events.
func (e *events) start(ctx context.Context, client streamer) error {
	if e.sink == nil {
		return nil
	}
	endless, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)()
	stream, err := client.Events(endless, &lumirpc.EventsRequest{})
	if err != nil {
		return err
	}
	if header, _ := stream.Header(); header == nil { // It was refused; Recv returns the reason.
		if _, err := stream.Recv(); status.Code(err) != codes.Unimplemented {
			return err
		}
		return nil
	}
	e.over = false
	go e.receive(stream)
	return nil
}

func (e *events) receive(stream grpc.ServerStreamingClient[lumirpc.Event]) {
	for over := false; !over; {
		event, err := stream.Recv()
		if over = err != nil; !over {
			e.sink(eventOf(event))
		}
		e.mu.Lock()
		e.received++
		e.over = over
		e.changed.Broadcast()
		e.mu.Unlock()
	}
}

func eventOf(e *lumirpc.Event) lumi.Event {
	return lumi.Event{
		URN: urn.URN(e.GetUrn()), Level: levels[e.GetSeverity()], Message: e.GetMessage(), Progress: e.GetProgress(),
		Dropped: int(e.GetDropped()),
	}
}

var levels = map[lumirpc.Event_Severity]slog.Level{
	lumirpc.Event_DEBUG: slog.LevelDebug, lumirpc.Event_INFO: slog.LevelInfo,
	lumirpc.Event_WARNING: slog.LevelWarn, lumirpc.Event_ERROR: slog.LevelError,
}

// stallTime is the maximum time that a call waits for its next event, in case the plugin's count is wrong.
const stallTime = 5 * time.Second

// await waits until sink has received all events of a call, given the call's trailer. It gives up after stallTime without an
// event, or when ctx is done.
func (e *events) await(ctx context.Context, trailer metadata.MD) {
	for _, text := range trailer.Get(lumirpc.EventsTrailer) {
		last, err := strconv.ParseInt(text, 10, 64)
		for seen, before := int64(0), int64(-1); err == nil && seen < last && seen != before; {
			before = seen
			waiting, cancel := context.WithTimeout(ctx, stallTime)
			e.wait(waiting, func() bool {
				seen = e.received
				return seen >= last || seen != before
			})
			cancel()
		}
	}
}

// end waits until the stream has ended, after which sink is not called again. The connection must be closed.
func (e *events) end() { e.wait(context.Background(), func() bool { return false }) }

// wait waits until met returns true, the stream has ended, or ctx is done.
func (e *events) wait(ctx context.Context, met func() bool) {
	defer context.AfterFunc(ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.changed.Broadcast()
	})()
	e.mu.Lock()
	defer e.mu.Unlock()
	for !met() && !e.over && ctx.Err() == nil {
		e.changed.Wait()
	}
}
