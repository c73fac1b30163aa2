package plugin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// What a plugin may write between the beginnings of two calls.
const (
	maxLines  = 1000
	maxBytes  = 1 << 20
	maxEvents = 1000
)

const (
	// maxLogLine is how much of a line is passed on, and maxHeld how much of it is held, so that a secret across the limit is
	// masked.
	maxLogLine = 28 << 10
	maxHeld    = 32 << 10
	// maxSecrets is of how many calls secrets are masked: lines may come after the end of theirs.
	maxSecrets = 64
)

// output passes on the lines that a plugin writes, up to a limit, without the secrets of calls. What the writer does not want
// is lost, which is no reason for the plugin to block or to die.
type output struct {
	raw bool // whether everything is passed on as it is
	all bool // whether there are no limits

	mu                          sync.Mutex
	w                           io.Writer
	line                        []byte
	secrets                     []*wire.Secrets
	lines, bytes, events        int // since a call began
	droppedLines, droppedEvents int // since they were last reported
	cutLines                    int // likewise
}

func newOutput(c Command) *output {
	o := &output{raw: c.Raw, all: c.Raw || os.Getenv("LUMI_PLUGIN_LOG") == "all", w: os.Stderr}
	if c.Log != nil {
		o.w = c.Log
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

// event counts an event, and reports whether it is passed on.
func (o *output) event() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.all && o.events == maxEvents {
		o.droppedEvents++
		return false
	}
	o.events++
	return true
}

// begin begins a call. Output cannot be told apart by calls, so calls at the same time share what a new one may write.
func (o *output) begin(secrets *wire.Secrets) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.bytes, o.events = 0, 0, 0
	if secrets != nil && !slices.Contains(o.secrets, secrets) {
		o.secrets = append(o.secrets, secrets)
		o.secrets = o.secrets[max(0, len(o.secrets)-maxSecrets):]
	}
}

// report tells how much was dropped, at the end of a call or, if isLast, of the process.
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
