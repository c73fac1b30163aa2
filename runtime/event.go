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

// Event is a line of the log of one call, for the engine that made it.
type Event struct {
	// URN is the resource that the call was about, empty for Configure.
	URN urn.URN
	// Level is how much the event matters.
	Level slog.Level
	// Message is for people. It has no secrets that can be masked.
	Message string
	// Progress says that the message says how far the call has come. It takes the place of the one before.
	Progress bool
	// Dropped is how many events were lost before this one, since there were too many.
	Dropped int
}

// Log returns the logger of the call that ctx belongs to. What it logs reaches the engine, which shows it with the
// resource. For any other context it is [slog.Default].
func Log(ctx context.Context) *slog.Logger {
	sink, ok := ctx.Value(sinkKey{}).(func(Event))
	if !ok {
		return slog.Default()
	}
	return slog.New(newEventHandler(sink))
}

// Progress reports how far the call that ctx belongs to has come, in a line such as "copying objects: 120 of 4000". It
// is cheap, and does nothing for any other context.
func Progress(ctx context.Context, format string, args ...any) {
	if sink, ok := ctx.Value(sinkKey{}).(func(Event)); ok {
		sink(Event{Level: slog.LevelInfo, Message: fmt.Sprintf(format, args...), Progress: true})
	}
}

// WithEvents returns a context whose [Log] and [Progress] call sink. Package serve calls it for each call; tests may, too.
// Sink may be called concurrently. It must not block.
func WithEvents(ctx context.Context, sink func(Event)) context.Context {
	return context.WithValue(ctx, sinkKey{}, sink)
}

type sinkKey struct{}

// eventHandler makes events of records. The text of the attributes is that of a [slog.TextHandler].
type eventHandler struct {
	sink func(Event)
	text func(to *bytes.Buffer) slog.Handler
}

func newEventHandler(sink func(Event)) *eventHandler {
	return &eventHandler{sink, func(to *bytes.Buffer) slog.Handler { return slog.NewTextHandler(to, nil) }}
}

// Enabled implements [slog.Handler]: what is of interest is for the engine to decide.
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
