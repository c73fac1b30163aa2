package term

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress is a line on a terminal that shows the current activity and is cleared afterward. It appears only after
// [Patience]. Its methods are safe for concurrent use.
type Progress struct {
	mu     sync.Mutex
	w      io.Writer
	stream Stream
	since  time.Time
	timer  *time.Timer
	shown  bool
}

// Patience is the running time after which a progress line appears.
const Patience = time.Second

// NewProgress returns the progress line of a command started at since. It shows nothing unless stream is a terminal
// that can clear lines.
func NewProgress(w io.Writer, stream Stream, since time.Time) *Progress {
	return &Progress{w: w, stream: stream, since: since}
}

func (p *Progress) on() bool { return p.stream.Terminal && !p.stream.dumb }

// Show replaces the line.
func (p *Progress) Show(format string, args ...any) {
	p.Clear()
	if !p.on() {
		return
	}
	const mark = " …"
	text := Visible(fmt.Sprintf(format, args...))
	if p.stream.Width > 0 { // a wrapped line could not be cleared
		text = strings.TrimRight(Clip(text, p.stream.Width-Width(mark)-1), mark)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var timer *time.Timer
	timer = time.AfterFunc(max(0, Patience-time.Since(p.since)), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer == timer {
			_, _ = io.WriteString(p.w, text+mark)
			p.shown = true
		}
	})
	p.timer = timer
}

// Clear removes the line.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// Before returns a writer that clears the line before each write to w, a stream on the same terminal.
func (p *Progress) Before(w io.Writer) io.Writer {
	if !p.on() {
		return w
	}
	return clearing{p, w}
}

type clearing struct {
	*Progress
	io.Writer
}

func (c clearing) Write(text []byte) (int, error) {
	c.Clear()
	return c.Writer.Write(text)
}
