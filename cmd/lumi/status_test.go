package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestStatus(t *testing.T) {
	shown := make(chan string, 3)
	w := writerFunc(func(p []byte) { shown <- string(p) })
	env := newConsole(strings.NewReader(""), w, w, os.Getenv)
	env.progress = term.NewProgress(w, term.Stream{Terminal: true, Width: 12}, time.Now().Add(-2*term.Patience))
	env.stderr = env.progress.Before(w)
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
