package serve

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

const (
	// maxEvents is how many events wait to be sent. What comes when there are so many is dropped and counted.
	maxEvents = 1 << 10
	// settleTime is how long an answer waits for the events of its call, if the engine does not read them.
	settleTime = time.Second
)

// events carries what providers log to the engine.
type events struct {
	idle <-chan struct{} // closed when there will be no more

	mu sync.Mutex
	// streaming says that the engine reads events. Otherwise they go to the log.
	streaming bool
	waiting   []*lumirpc.Event
	dropped   int64
	// added counts the events on the stream, and sent those that were sent.
	added, sent int64
	// changed is closed, and replaced, when one of these changes.
	changed chan struct{}
}

func newEvents(idle <-chan struct{}) *events {
	return &events{idle: idle, changed: make(chan struct{})}
}

// tell needs the lock.
func (e *events) tell() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// sink returns where the events of a call go.
func (e *events) sink(ctx context.Context, req any, log *slog.Logger) func(lumi.Event) {
	about := ""
	if r, ok := req.(interface{ GetUrn() string }); ok {
		about = r.GetUrn()
	}
	return func(event lumi.Event) {
		sent := &lumirpc.Event{
			Urn: about, Severity: severity(event.Level), Message: masked(ctx, event.Message), Progress: event.Progress,
		}
		if e.add(sent) {
			return
		}
		level := event.Level
		if event.Progress {
			level = slog.LevelDebug
		}
		log.Log(ctx, level, sent.GetMessage(), "urn", about)
	}
}

func severity(level slog.Level) lumirpc.Event_Severity {
	switch {
	case level < slog.LevelInfo:
		return lumirpc.Event_DEBUG
	case level < slog.LevelWarn:
		return lumirpc.Event_INFO
	case level < slog.LevelError:
		return lumirpc.Event_WARNING
	}
	return lumirpc.Event_ERROR
}

// add has an event sent. It reports false if nobody reads events.
func (e *events) add(event *lumirpc.Event) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.streaming {
		return false
	}
	if len(e.waiting) == maxEvents {
		e.dropped++
		return true
	}
	e.added++
	event.Number, event.Dropped, e.dropped = e.added, e.dropped, 0
	e.waiting = append(e.waiting, event)
	e.tell()
	return true
}

// stream sends events until the plugin has stopped or the engine is gone.
func (e *events) stream(to grpc.ServerStreamingServer[lumirpc.Event]) error {
	e.mu.Lock()
	if e.streaming {
		e.mu.Unlock()
		return refuse(codes.FailedPrecondition, "the events are being read already").Err()
	}
	e.streaming, e.waiting, e.dropped, e.added, e.sent = true, nil, 0, 0, 0
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.streaming = false
		e.tell()
	}()
	if err := to.SendHeader(nil); err != nil { // From here on no event is lost.
		return err
	}
	for {
		e.mu.Lock()
		batch, changed := e.waiting, e.changed
		e.waiting = nil
		e.mu.Unlock()
		for _, event := range batch {
			if err := to.Send(event); err != nil {
				return err
			}
		}
		if len(batch) > 0 {
			e.mu.Lock()
			e.sent = batch[len(batch)-1].GetNumber()
			e.tell()
			e.mu.Unlock()
			continue
		}
		select {
		case <-changed:
		case <-to.Context().Done():
			return to.Context().Err()
		case <-e.idle:
			return nil
		}
	}
}

// settle returns when the events so far are sent, and has the answer to the call say how many those are.
func (e *events) settle(ctx context.Context) {
	timeout := time.After(settleTime)
	e.mu.Lock()
	added := e.added
	for e.streaming && e.sent < added {
		changed := e.changed
		e.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-timeout:
			return
		}
		e.mu.Lock()
	}
	e.mu.Unlock()
	if added > 0 {
		_ = grpc.SetTrailer(ctx, metadata.Pairs(lumirpc.EventsTrailer, strconv.FormatInt(added, 10))) // It is a gRPC call.
	}
}
