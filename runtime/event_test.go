package lumi_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// lazy is a [slog.LogValuer].
type lazy string

func (l lazy) LogValue() slog.Value { return slog.GroupValue(slog.String("is", string(l))) }

func TestLog(t *testing.T) {
	var got []lumi.Event
	ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) { got = append(got, e) })
	log := lumi.Log(ctx)
	log.Info("plain")
	log.Debug("with attributes", "n", 1, "text", "two words", "empty", "", "err", errors.New("no"))
	log.Warn("", "only", "attributes")
	log.Error("names of a record", "time", 1, "level", "two", "msg", "three", "source", "four")
	log.Info("like attributes: msg=\"\" level=INFO", "msg", "")
	log.Info("a value", "lazy", lazy("x"), "bag", bag(t, `{"a": {"$sig": "$secret", "value": "hush"}}`))
	log.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").Info("grouped", "c", 3, slog.Group("i", "d", 4))
	log.WithGroup("g").Info("nothing in it")
	log.Log(ctx, slog.LevelError+2, "several\nlines ")
	lumi.Progress(ctx, "%d of %d", 1, 2)
	want := []lumi.Event{
		{Message: "plain"},
		{Level: slog.LevelDebug, Message: `with attributes n=1 text="two words" empty="" err=no`},
		{Level: slog.LevelWarn, Message: "only=attributes"},
		{Level: slog.LevelError, Message: "names of a record time=1 level=two msg=three source=four"},
		{Message: `like attributes: msg="" level=INFO msg=""`},
		{Message: `a value lazy.is=x bag="{\"a\":\"(secret)\"}"`},
		{Message: "grouped a=1 g.b=2 g.h.c=3 g.h.i.d=4"},
		{Message: "nothing in it"},
		{Level: slog.LevelError + 2, Message: "several\nlines"},
		{Message: "1 of 2", Progress: true},
	}
	expect.Equal(t, want, got)
}

func TestLogOutsideCall(t *testing.T) {
	var text bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	lumi.Progress(t.Context(), "%d of %d", 1, 2)
	lumi.Log(t.Context()).Info("here", "a", 1)
	if got := text.String(); !strings.HasSuffix(got, " level=INFO msg=here a=1\n") || strings.Contains(got, "of") {
		t.Errorf("logged %q, want only the Info record", got)
	}
}

// Lines logged concurrently are not interleaved.
func TestLogConcurrently(t *testing.T) {
	var mu sync.Mutex
	count := map[string]int{}
	log := lumi.Log(lumi.WithEvents(t.Context(), func(e lumi.Event) {
		mu.Lock()
		defer mu.Unlock()
		count[e.Message]++
	})).With("a", strings.Repeat("x", 100))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				log.Info("line", "b", 2)
			}
		})
	}
	wg.Wait()
	if want := "line a=" + strings.Repeat("x", 100) + " b=2"; len(count) != 1 || count[want] != 800 {
		t.Errorf("logged %v, want 800 times %q", count, want)
	}
}
