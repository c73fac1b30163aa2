package view

import (
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

func TestLinesRemind(t *testing.T) {
	var b strings.Builder
	l := NewLines(&b, Options{}).(*textLines)
	defer l.Close()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	event := store.Event{
		Time: start, Deployment: 1, Name: "a[1]", URN: "urn:lumi:dev::p:index::p:index:T::x", Kind: "create", State: store.Started,
	}
	l.Event(event)
	retry := event
	retry.Time, retry.Message = start.Add(30*time.Second), "attempt 2 of 9 in 4s: the plugin is gone (exit status 7): EOF"
	l.Event(retry)
	for _, after := range []time.Duration{59, 60, 110, 121} {
		l.remind(start.Add(after * time.Second))
	}
	event.Time, event.State = start.Add(125*time.Second), store.Done
	l.Event(event)
	l.remind(start.Add(time.Hour))
	const want = `a[1] + create x p:index:T: started
a[1] + create x p:index:T: attempt 2 of 9 in 4s: the plugin is gone (exit status 7): EOF
a[1] + create x p:index:T: still running after 1m0s
a[1] + create x p:index:T: still running after 2m1s
a[1] + create x p:index:T: done in 2m5s
`
	if got := b.String(); got != want {
		t.Errorf("output =\n%s\nwant\n%s", got, want)
	}
}
