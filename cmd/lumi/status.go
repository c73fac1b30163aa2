package main

import (
	"io"
	"sync"
	"time"
)

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
	var timer *time.Timer
	timer = time.AfterFunc(max(0, patience-time.Since(s.since)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer == timer {
			_, _ = io.WriteString(s.w, what+" …")
			s.shown = true
		}
	})
	s.timer = timer
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

// clearing takes a line away before anything else is written to the terminal that it is on.
type clearing struct {
	*status
	io.Writer
}

func (c clearing) Write(p []byte) (int, error) {
	c.clear()
	return c.Writer.Write(p)
}
