package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// terminal is what there is to know of where standard error goes.
type terminal struct {
	interactive bool
	color       bool
	width       int // of source lines in diagnostics; zero where it is not known
}

// terminalOf looks at a writer, at the value of --color, and at the environment.
func terminalOf(w io.Writer, color string, getenv func(string) string) terminal {
	var t terminal
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.interactive = getenv("TERM") != "dumb"
		const gutter = 12
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			t.width = max(40, columns-gutter)
		}
	}
	t.color = color == "always" || color == "auto" && t.interactive && getenv("NO_COLOR") == ""
	return t
}

// status is a line on a terminal that says what is going on, and that goes away again. It appears only when there has
// been something to wait for.
type status struct {
	mu    sync.Mutex
	w     io.Writer
	on    bool
	since time.Time
	timer *time.Timer
	shown bool
}

// patience is how long nobody minds to wait without a word.
const patience = time.Second

func newStatus(w io.Writer, on bool) *status { return &status{w: w, on: on, since: time.Now()} }

// show replaces what the line says.
func (s *status) show(what string) {
	s.clear()
	if !s.on {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(max(0, patience-time.Since(s.since)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer != nil {
			_, _ = fmt.Fprintf(s.w, "%s …", what)
			s.shown = true
		}
	})
}

// clear takes the line away.
func (s *status) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.shown {
		_, _ = io.WriteString(s.w, "\r\x1b[K")
		s.shown = false
	}
}
