package term

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress is a transient line on a terminal that shows the current activity. It appears only if the command runs
// longer than [Patience]. It is safe for concurrent use.
type Progress struct {
	mu     sync.Mutex
	w      io.Writer
	stream Stream
	since  time.Time
	timer  *time.Timer
	shown  bool
}

// Patience is the running time after which progress lines appear.
const Patience = time.Second

// NewProgress returns the progress line of a command that started at since. If stream is not a terminal that can clear
// lines, it shows nothing.
func NewProgress(w io.Writer, stream Stream, since time.Time) *Progress {
	return &Progress{w: w, stream: stream, since: since}
}

func (p *Progress) on() bool { return p.stream.Terminal && !p.stream.dumb }

// Show replaces the text of the line.
func (p *Progress) Show(format string, args ...any) {
	p.Clear()
	if !p.on() {
		return
	}
	const mark = " …"
	text := Visible(fmt.Sprintf(format, args...))
	if p.stream.Width > 0 { // a line that wraps cannot be cleared
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

// Clear removes the line from the terminal.
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

// Before returns a writer that clears the line before each write to w. The writer w must write to the same terminal.
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
