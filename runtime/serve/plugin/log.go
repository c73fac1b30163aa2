package plugin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Limits on a plugin's output between the starts of two calls.
const (
	maxLines  = 1000
	maxBytes  = 1 << 20
	maxEvents = 1000
)

const (
	// maxLogLine is the maximum length of a line, in bytes. Lines are buffered up to maxHeld bytes, so that a secret that
	// extends beyond maxLogLine is masked.
	maxLogLine = 28 << 10
	maxHeld    = 32 << 10
	// maxSecrets is the number of recent calls whose secrets are masked, since output may arrive after a call has ended.
	maxSecrets = 64
)

// output is a writer that copies a plugin's output to w line by line, masks the secrets of calls, and enforces the limits. It
// ignores errors of w, since otherwise the plugin could be blocked or killed.
type output struct {
	raw bool // copy everything unchanged
	all bool // do not enforce limits
	// sink receives the lines that are events. If it is nil, they are written to w.
	sink func(lumi.Event)

	mu                          sync.Mutex
	w                           io.Writer
	line                        []byte
	secrets                     []*wire.Secrets
	lines, bytes, events        int // since the start of a call
	droppedLines, droppedEvents int // since the last report
	cutLines                    int // since the last report
}

func newOutput(c Command) *output {
	o := &output{raw: c.Raw, all: c.Raw || os.Getenv("LUMI_PLUGIN_LOG") == "all", w: os.Stderr}
	if c.Log != nil {
		o.w = c.Log
	}
	if c.JSON {
		o.sink = c.Events
	}
	return o
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.raw {
		_, _ = o.w.Write(data)
		return len(data), nil
	}
	for rest := data; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		n := min(len(line), maxHeld-len(o.line))
		o.line = append(o.line, line[:n]...)
		if o.all && n < len(line) {
			ended, after = true, rest[n:]
		}
		if rest = after; ended {
			o.endLine()
		}
	}
	return len(data), nil
}

func (o *output) endLine() {
	line := o.line
	o.line = o.line[:0]
	if o.sink != nil {
		if e := readEvent(line); e != nil {
			if o.countEvent() {
				e.Message = wire.Mask(e.GetMessage(), o.secrets...)
				o.sink(eventOf(e))
			}
			return
		}
	}
	if !o.all && (o.lines == maxLines || o.bytes+min(len(line), maxLogLine) > maxBytes) {
		o.droppedLines++
		return
	}
	text := wire.Mask(string(line), o.secrets...)
	if !o.all && len(text) > maxLogLine {
		text = strings.ToValidUTF8(text[:maxLogLine], "") + "…"
		o.cutLines++
	}
	o.lines++
	o.bytes += len(text)
	_, _ = io.WriteString(o.w, text+"\n")
}

// event counts an event and reports whether it is within the limit.
func (o *output) event() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.countEvent()
}

func (o *output) countEvent() bool {
	if !o.all && o.events == maxEvents {
		o.droppedEvents++
		return false
	}
	o.events++
	return true
}

// begin resets the limits and adds the secrets of a call to mask. Since output cannot be attributed to calls, concurrent calls
// share the limits.
func (o *output) begin(secrets *wire.Secrets) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.bytes, o.events = 0, 0, 0
	if secrets != nil && !slices.Contains(o.secrets, secrets) {
		o.secrets = append(o.secrets, secrets)
		o.secrets = o.secrets[max(0, len(o.secrets)-maxSecrets):]
	}
}

// report writes a line with the amount of dropped output, if any. isLast is set at the end of the process.
func (o *output) report(isLast bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isLast && len(o.line) > 0 {
		o.endLine()
	}
	var dropped []string
	for _, d := range [...]struct {
		number *int
		of     string
	}{{&o.droppedLines, "lines"}, {&o.cutLines, "line ends"}, {&o.droppedEvents, "events"}} {
		if *d.number > 0 {
			dropped = append(dropped, fmt.Sprintf("%d %s", *d.number, d.of))
		}
		*d.number = 0
	}
	if len(dropped) > 0 {
		_, _ = fmt.Fprintf(o.w, "dropped %s; set LUMI_PLUGIN_LOG=all to see everything\n", strings.Join(dropped, " and "))
	}
}
