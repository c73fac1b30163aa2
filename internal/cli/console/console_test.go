package console

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestDoingThenSay(t *testing.T) {
	shown := make(chan string, 3)
	w := writerFunc(func(p []byte) { shown <- string(p) })
	con := New(strings.NewReader(""), w, w, os.Getenv)
	con.Progress = term.NewProgress(w, term.Stream{Terminal: true, Width: 12}, time.Now().Add(-2*term.Patience))
	con.Stderr = con.Progress.Before(w)
	con.Doing("reading %s", "\x1b[2Jlong.json")
	for _, want := range []string{"reading …", "\r\x1b[K", "lumi: done\n"} {
		if got := <-shown; got != want {
			t.Errorf("terminal output = %q, want %q", got, want)
		}
		if want == "reading …" {
			con.Say("done")
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
