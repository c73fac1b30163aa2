package serve

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/urn"
)

const (
	// maxEvents is the maximum number of events waiting to be sent. Further events are dropped and counted.
	maxEvents = 1 << 10
	// settleTime is the maximum time to delay a response until its call's events are sent, in case the engine does not
	// read them.
	settleTime = time.Second
)

// events sends log and progress events to the engine.
type events struct {
	log *slog.Logger // used while the engine does not read events

	mu sync.Mutex
	// changed signals changes of the fields below and of the stream's fields.
	changed sync.Cond
	// stream is the current stream, or nil if the engine does not read events.
	stream *eventStream
	// over is set when the last call has ended, after which no more events are added.
	over bool
}

// eventStream is the event queue of one Events call.
type eventStream struct {
	waiting     []*lumirpc.Event
	added, sent int64
}

func newEvents(log *slog.Logger) *events {
	e := &events{log: log}
	e.changed.L = &e.mu
	return e
}

// set calls change with the lock held and then signals changed.
func (e *events) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
	e.changed.Broadcast()
}

// wait waits until met returns true or ctx is done. e.mu must be held.
func (e *events) wait(ctx context.Context, met func() bool) {
	defer context.AfterFunc(ctx, func() { e.set(func() {}) })()
	for !met() && ctx.Err() == nil {
		e.changed.Wait()
	}
}

// add queues an event. If the queue is full, it drops the event and counts it in a final event instead.
func (s *eventStream) add(event *lumirpc.Event) {
	if len(s.waiting) >= maxEvents {
		if len(s.waiting) == maxEvents {
			s.waiting = append(s.waiting, &lumirpc.Event{Severity: lumirpc.Event_WARNING})
			s.added++
		}
		report := s.waiting[maxEvents]
		report.Dropped++
		report.Message = fmt.Sprintf("%d events were dropped because the engine reads them too slowly", report.GetDropped())
		return
	}
	s.waiting = append(s.waiting, event)
	s.added++
}

// serve sends events until the plugin has stopped or the engine disconnects. It returns a refusal if there is already a
// stream.
func (e *events) serve(to grpc.ServerStreamingServer[lumirpc.Event]) error {
	s, busy := &eventStream{}, false
	e.set(func() {
		if busy = e.stream != nil; !busy {
			e.stream = s
		}
	})
	if busy {
		return refuse(codes.FailedPrecondition, "the events are already being read").Err()
	}
	defer e.set(func() { e.stream = nil })
	if err := to.SendHeader(nil); err != nil { // tells the engine that it misses no events from now on
		return err
	}
	for {
		e.mu.Lock()
		e.wait(to.Context(), func() bool { return len(s.waiting) > 0 || e.over })
		batch := s.waiting
		s.waiting = nil
		e.mu.Unlock()
		if len(batch) == 0 {
			return to.Context().Err()
		}
		for _, event := range batch {
			if err := to.Send(event); err != nil {
				return err
			}
		}
		e.set(func() { s.sent += int64(len(batch)) })
	}
}

// finish waits until all events are sent and the stream has ended. It returns false if the engine does not read them in time.
func (e *events) finish() bool {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	e.set(func() { e.over = true })
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wait(ctx, func() bool { return e.stream == nil })
	return e.stream == nil
}

// callEvents sends the events of one call.
type callEvents struct {
	*events
	ctx context.Context // carries the secrets of the call
	urn string
	// sink receives the events of a [Local]'s call. It may be nil.
	sink func(lumi.Event)
	// last is the number of the call's last event on stream on, or 0 if there is none.
	last int64
	on   *eventStream
}

func (e *events) of(ctx context.Context, req any) *callEvents {
	c := &callEvents{events: e, ctx: ctx, sink: lumi.EventsOf(ctx)}
	if r, ok := req.(interface{ GetUrn() string }); ok {
		c.urn = r.GetUrn()
	}
	return c
}

// add sends an event to the engine, or logs it if the engine does not read events. The author's code may call it even after
// the call has ended.
func (c *callEvents) add(event lumi.Event) {
	message := masked(c.ctx, event.Message)
	if c.sink != nil {
		c.sink(lumi.Event{URN: urn.URN(c.urn), Level: event.Level, Message: message, Progress: event.Progress})
		return
	}
	sent := false
	c.set(func() {
		if sent = c.stream != nil && !c.over; sent {
			c.on = c.stream
			c.on.add(&lumirpc.Event{
				Urn: c.urn, Severity: severity(event.Level), Message: message, Progress: event.Progress,
			})
			c.last = c.on.added
		}
	})
	if sent {
		return
	}
	level := event.Level
	if event.Progress {
		level = slog.LevelDebug
	}
	var attrs []any
	if c.urn != "" {
		attrs = []any{"urn", c.urn}
	}
	c.log.Log(c.ctx, level, message, attrs...)
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

// settle waits until the call's events are sent, and adds the number of the last one to the response's trailer, so that the
// engine can wait for it. ctx is done when the caller stops waiting.
func (c *callEvents) settle(ctx context.Context) {
	waiting, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == 0 {
		return
	}
	c.wait(waiting, func() bool { return c.on.sent >= c.last || c.on != c.stream })
	if c.stream != nil && c.on != c.stream {
		return // The number does not refer to the current stream.
	}
	_ = grpc.SetTrailer(ctx, metadata.Pairs(lumirpc.EventsTrailer, strconv.FormatInt(c.last, 10))) // ctx belongs to a gRPC call
}
