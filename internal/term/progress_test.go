package term_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestProgress(t *testing.T) {
	long := time.Now().Add(-2 * term.Patience)
	on := term.Stream{Terminal: true}
	var quick bytes.Buffer
	s := term.NewProgress(&quick, on, time.Now())
	s.Show("loading")
	s.Clear()
	if quick.Len() > 0 {
		t.Errorf("Show printed %q before Patience had passed, want nothing", &quick)
	}

	var off bytes.Buffer
	s = term.NewProgress(&off, term.Stream{}, long)
	s.Show("loading")
	s.Clear()
	if off.Len() > 0 {
		t.Errorf("Show without a terminal printed %q, want nothing", &off)
	}

	shown := make(chan string, 2)
	s = term.NewProgress(writerFunc(func(p []byte) { shown <- string(p) }), on, long)
	s.Show("loading")
	if got := <-shown; got != "loading …" {
		t.Errorf("Show printed %q, want loading …", got)
	}
	s.Clear()
	if got := <-shown; got != "\r\x1b[K" {
		t.Errorf("Clear printed %q, want the line cleared", got)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
