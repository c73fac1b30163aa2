package lumi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// Event is a log line of one call, sent to the engine that made the call.
type Event struct {
	// URN is the URN of the call's resource. It is empty for Configure and Call.
	URN urn.URN
	// Level is the severity.
	Level slog.Level
	// Message is human-readable, with known secrets masked.
	Message string
	// Progress marks a progress message, which replaces the previous one.
	Progress bool
	// Dropped is the number of events before this one that were dropped because there were too many.
	Dropped int
}

// Log returns the logger of the provider call that ctx belongs to, or [slog.Default] if there is none. The engine shows
// the logger's output with the resource.
func Log(ctx context.Context) *slog.Logger {
	sink := EventsOf(ctx)
	if sink == nil {
		return slog.Default()
	}
	return slog.New(newEventHandler(sink))
}

// Progress reports the progress of the provider call that ctx belongs to, such as "copying objects: 120 of 4000". It is
// a no-op if ctx does not belong to a call. Progress is cheap.
func Progress(ctx context.Context, format string, args ...any) {
	if sink := EventsOf(ctx); sink != nil {
		sink(Event{Level: slog.LevelInfo, Message: fmt.Sprintf(format, args...), Progress: true})
	}
}

// WithEvents returns a context for which [Log] and [Progress] pass events to sink. Package serve uses it for each call, and
// tests may use it, too. sink must be safe for concurrent use and must not block.
func WithEvents(ctx context.Context, sink func(Event)) context.Context {
	return context.WithValue(ctx, sinkKey{}, sink)
}

// EventsOf returns the sink set by [WithEvents], or nil if there is none.
func EventsOf(ctx context.Context) func(Event) {
	sink, _ := ctx.Value(sinkKey{}).(func(Event))
	return sink
}

type sinkKey struct{}

// eventHandler is a [slog.Handler] that converts records to events. It formats attributes like [slog.TextHandler].
type eventHandler struct {
	sink func(Event)
	text func(to *bytes.Buffer) slog.Handler
}

func newEventHandler(sink func(Event)) *eventHandler {
	return &eventHandler{sink, func(to *bytes.Buffer) slog.Handler { return slog.NewTextHandler(to, nil) }}
}

// Enabled implements [slog.Handler]. All levels are enabled; the engine filters them.
func (h *eventHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (h *eventHandler) Handle(ctx context.Context, r slog.Record) error {
	var text bytes.Buffer
	message := r.Message
	r.Time, r.Message = time.Time{}, ""
	if err := h.text(&text).Handle(ctx, r); err != nil {
		return err
	}
	_, attrs, _ := strings.Cut(text.String(), slog.MessageKey+`=""`)
	h.sink(Event{Level: r.Level, Message: strings.TrimSpace(message + attrs)})
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *eventHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &eventHandler{h.sink, func(to *bytes.Buffer) slog.Handler { return h.text(to).WithAttrs(attrs) }}
}

// WithGroup implements [slog.Handler].
func (h *eventHandler) WithGroup(name string) slog.Handler {
	return &eventHandler{h.sink, func(to *bytes.Buffer) slog.Handler { return h.text(to).WithGroup(name) }}
}
