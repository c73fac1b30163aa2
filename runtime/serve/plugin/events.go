package plugin

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// events receives what the plugin's providers log.
type events struct {
	sink func(lumi.Event)

	mu sync.Mutex
	// received is the number of the last event, and ended says that there will be no more.
	received int64
	ended    bool
	// changed is closed, and replaced, when one of these changes.
	changed chan struct{}
}

func newEvents(sink func(lumi.Event)) *events {
	if sink == nil {
		return nil
	}
	return &events{sink: sink, changed: make(chan struct{})}
}

// start returns when no event can be missed any more. The stream ends with the connection.
func (e *events) start(client lumirpc.ResourceProviderClient) error {
	stream, err := client.Events(context.Background(), &lumirpc.EventsRequest{})
	if err != nil {
		return err
	}
	if _, err := stream.Header(); err != nil {
		return err
	}
	go e.receive(stream)
	return nil
}

func (e *events) receive(stream grpc.ServerStreamingClient[lumirpc.Event]) {
	for {
		event, err := stream.Recv()
		if err == nil {
			e.sink(lumi.Event{
				URN: urn.URN(event.GetUrn()), Level: levels[event.GetSeverity()], Message: event.GetMessage(),
				Progress: event.GetProgress(), Dropped: int(event.GetDropped()),
			})
		}
		e.mu.Lock()
		e.received, e.ended = max(e.received, event.GetNumber()), err != nil
		close(e.changed)
		e.changed = make(chan struct{})
		e.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var levels = map[lumirpc.Event_Severity]slog.Level{
	lumirpc.Event_DEBUG: slog.LevelDebug, lumirpc.Event_INFO: slog.LevelInfo,
	lumirpc.Event_WARNING: slog.LevelWarn, lumirpc.Event_ERROR: slog.LevelError,
}

// await returns when the events were received that were sent before a response with the trailer.
func (e *events) await(ctx context.Context, trailer metadata.MD) {
	var last int64
	for _, text := range trailer.Get(lumirpc.EventsTrailer) {
		last, _ = strconv.ParseInt(text, 10, 64) // A plugin that says nothing of use is not waited for.
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.received < last && !e.ended {
		changed := e.changed
		e.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		e.mu.Lock()
		if ctx.Err() != nil {
			return
		}
	}
}
