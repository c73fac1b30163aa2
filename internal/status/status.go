// Package status tells whoever waits at a terminal what for.
package status

import (
	"io"
	"sync"
	"time"
)

// Line is a line on a terminal that says what is going on, and that goes away again. It appears only when there has
// been something to wait for.
type Line struct {
	mu    sync.Mutex
	w     io.Writer
	on    bool
	since time.Time
	timer *time.Timer
	shown bool
}

// Patience is how long nobody minds to wait without a word.
const Patience = time.Second

// New returns a line that shows nothing yet, and that never shows anything unless it is on. Whoever waits does so since
// the given time.
func New(w io.Writer, on bool, since time.Time) *Line { return &Line{w: w, on: on, since: since} }

// Show replaces what the line says.
func (s *Line) Show(what string) {
	s.Clear()
	if !s.on {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var timer *time.Timer
	timer = time.AfterFunc(max(0, Patience-time.Since(s.since)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer == timer {
			_, _ = io.WriteString(s.w, what+" …")
			s.shown = true
		}
	})
	s.timer = timer
}

// Clear takes the line away.
func (s *Line) Clear() {
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
