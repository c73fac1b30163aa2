// Package view displays running deployments as a tree on a terminal, as lines of text, or as lines of JSON.
//
//	shop[7]  running  12s
//	  ✓ + create network aws:ec2:VPC  3.1s
//	  ⠹ ~ updating site aws:s3:Bucket  4s
//	      uploading 3 of 10 files
//	  ✗ + create db aws:rds:Database  2.2s
//	      the subnet is in another zone
//	      shop/main.ts:9:15
//	  3 skipped
//
// The output shows steps, but not tasks. Control characters in the output are escaped.
package view

import (
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/term"
)

// Reporter displays events. Its methods are safe for concurrent use. They ignore output errors, since deployments
// continue without output.
type Reporter interface {
	// Event displays an event of package run. A provider's message without a deployment is assigned to the running step
	// with its URN.
	Event(store.Event)
	// Waits sets the reasons for waiting, such as "a[5]: b uses a", by deployment name, such as "b[6]".
	Waits(map[string][]string)
	// Close displays the final state and releases the terminal. Subsequent calls are no-ops.
	Close()
}

// Options configure a [Reporter].
type Options struct {
	// Width is the width of the terminal in columns, or 0 if unknown. [NewLive] uses it only if it cannot determine the
	// width itself.
	Width int
	// Color enables colored output.
	Color bool
	// Verbose enables the display of providers' debug messages.
	Verbose bool
}

// NewJSON returns a Reporter that writes each event as a line of JSON.
func NewJSON(w io.Writer) Reporter { return &jsonLines{w: w} }

type jsonLines struct {
	mutex sync.Mutex
	w     io.Writer
}

func (j *jsonLines) Event(e store.Event) {
	if text, err := term.JSON(e); err == nil { // JSON fails only for times after the year 9999.
		j.mutex.Lock()
		defer j.mutex.Unlock()
		_, _ = j.w.Write(append(text, '\n'))
	}
}

func (*jsonLines) Waits(map[string][]string) {}
func (*jsonLines) Close()                    {}

// NewLines returns a Reporter that writes one line for each message and for each change of a deployment or a step, such
// as
//
//	shop[7] + create db aws:rds:Database: failed: the subnet is in another zone  shop/main.ts:9:15
//
// Line breaks in messages are replaced with "; ". Progress is written at most every ten seconds. A step without output
// is reported again every minute. Each line is written with a single call to Write.
func NewLines(w io.Writer, o Options) Reporter {
	l := &textLines{state: newState(o), w: w, closed: make(chan struct{})}
	go func() {
		ticker := time.NewTicker(remindEvery / 6)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				l.remind(now)
			case <-l.closed:
				return
			}
		}
	}()
	return l
}

type textLines struct {
	mutex sync.Mutex
	state
	w      io.Writer
	close  sync.Once
	closed chan struct{}
}

const (
	progressEvery = 10 * time.Second
	remindEvery   = time.Minute
)

// remind writes a line for each running step that had no output in the last minute.
func (l *textLines) remind(now time.Time) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, d := range l.deployments {
		for _, t := range d.steps {
			last := t.started
			if t.printed.After(last) {
				last = t.printed
			}
			if t.state == store.Started && now.Sub(last) >= remindEvery {
				t.printed = now
				l.line(l.nameOf(d) + " " + l.what(t, t.kind) + ": still running after " + now.Sub(t.started).Round(time.Second).String())
			}
		}
	}
}

func (l *textLines) Event(e store.Event) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	d, t := l.event(e)
	printed := new(time.Time)
	switch {
	case t != nil:
		printed = &t.printed
	case d != nil && e.Deployment == 0:
		printed = &d.printed
	}
	switch {
	case e.Level == "progress" && e.Time.Sub(*printed) < progressEvery:
	case e.State == "":
		*printed = e.Time
		l.line(l.message(e, t))
	case t != nil:
		l.line(l.nameOf(d) + " " + l.what(t, t.kind) + ": " + l.outcome(t.state, since(t.started, t.ended), t.message, t.source))
	case e.Task == 0 && !d.isIdle():
		l.line(l.nameOf(d) + ": " + l.outcome(d.state, since(d.started, d.ended), d.ownMessage(), ""))
	}
}

// outcome formats the outcome of a deployment or a step.
func (l *textLines) outcome(state store.State, took, message, source string) string {
	text := l.word(state)
	if state == store.Done && took != "" {
		text += " in " + took
	}
	switch {
	case message != "" && state == store.Started: // an announcement of the next attempt
		text = oneLine(message)
	case message != "":
		text += ": " + oneLine(message)
	}
	if source != "" {
		text += "  " + l.paint(term.Dim, term.Visible(source))
	}
	return text
}

func (l *textLines) line(text string) {
	if text != "" {
		_, _ = io.WriteString(l.w, text+"\n")
	}
}

// Waits implements [Reporter]. It writes a line for each new reason.
func (l *textLines) Waits(waits map[string][]string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, name := range slices.Sorted(maps.Keys(waits)) {
		for _, text := range waits[name] {
			if !slices.Contains(l.waits[name], text) {
				l.line(l.paint(term.Bold, term.Visible(name)) + " waits for " + oneLine(text))
			}
		}
	}
	l.waits = maps.Clone(waits)
}

func (l *textLines) Close() { l.close.Do(func() { close(l.closed) }) }
