package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestStatus holds that the line appears only after some time, goes before anything else is said, and leaves nothing
// behind.
func TestStatus(t *testing.T) {
	var quick bytes.Buffer
	s := newStatus(&quick, true)
	s.show("reading")
	s.clear()
	if quick.Len() > 0 {
		t.Errorf("somebody who waited for nothing saw %q", &quick)
	}

	var off bytes.Buffer
	s = newStatus(&off, false)
	s.since = time.Now().Add(-2 * patience)
	s.show("reading")
	s.clear()
	if off.Len() > 0 {
		t.Errorf("without a terminal there was %q", &off)
	}

	shown := make(chan string, 3)
	w := writerFunc(func(p []byte) { shown <- string(p) })
	env := newEnvironment(strings.NewReader(""), w, w, noEnv)
	env.status = newStatus(w, true)
	env.stderr = clearing{env.status, w}
	env.err.width = 12
	env.status.since = time.Now().Add(-2 * patience)
	env.doing("reading %s", "\x1b[2Jlong.json")
	for _, want := range []string{"reading …", "\r\x1b[K", "lumi: done\n"} {
		if got := <-shown; got != want {
			t.Errorf("the terminal gets %q, want %q", got, want)
		}
		if want == "reading …" {
			env.say("done")
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
