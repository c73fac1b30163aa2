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

// Limits of a plugin's output between the starts of two calls.
const (
	maxLines  = 1000
	maxBytes  = 1 << 20
	maxEvents = 1000
)

const (
	// maxLogLine limits the length of lines. maxHeld bytes are buffered, so that a secret across the limit is masked.
	maxLogLine = 28 << 10
	maxHeld    = 32 << 10
	// maxSecrets is the number of calls whose secrets are masked, since output may arrive after its call has ended.
	maxSecrets = 64
)

// output passes on a plugin's output line by line, within limits and with the secrets of calls masked. Write errors
// are ignored, since they must not block or kill the plugin.
type output struct {
	raw bool // pass everything on unchanged
	all bool // no limits

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

// event counts an event and reports whether to pass it on.
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

// begin starts a call. Output cannot be attributed to calls, so concurrent calls share the limits of the latest.
func (o *output) begin(secrets *wire.Secrets) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.bytes, o.events = 0, 0, 0
	if secrets != nil && !slices.Contains(o.secrets, secrets) {
		o.secrets = append(o.secrets, secrets)
		o.secrets = o.secrets[max(0, len(o.secrets)-maxSecrets):]
	}
}

// report writes how much was dropped, at the end of a call or, if isLast is set, of the process.
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
