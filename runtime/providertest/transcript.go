package providertest

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// stepKey identifies a step by its resource and the number of calls before it.
type stepKey struct {
	r     *Resource
	began int
}

// transcript records all calls in the order in which they ended. It is formatted only at the end of the test, when all
// secrets are known.
type transcript struct {
	h *Harness

	mu    sync.Mutex
	calls []*call
	// events holds the events of calls in flight.
	events map[urn.URN][]lumi.Event
	// failed holds the failed steps. It is nil if the kit has reported no failure.
	failed map[stepKey]bool
}

// made returns the number of calls so far.
func (t *transcript) made() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.calls)
}

// fail records failed steps. Without arguments, it records a failure unrelated to calls.
func (t *transcript) fail(steps ...stepKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = map[stepKey]bool{}
	}
	for _, s := range steps {
		t.failed[s] = true
	}
}

// event records an event of a call in flight. Events arrive before the response to the call.
func (t *transcript) event(e lumi.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events[e.URN] = append(t.events[e.URN], e)
}

// add adds a call and its events, and returns a violation for each event that contains a secret.
func (t *transcript) add(c *call) (found []string) {
	c.step = "setup"
	if c.r != nil {
		c.step, c.of = c.r.String()+": "+c.r.doing, stepKey{c.r, c.r.began}
	}
	for _, bag := range append(c.sent[:], c.out) {
		t.h.noteSecrets(c.r.wrapped(bag))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	c.events = t.events[c.urn]
	delete(t.events, c.urn)
	for _, e := range c.events {
		if shown := t.h.mask(e.Message); shown != e.Message {
			found = append(found, fmt.Sprintf("the log of %s contains a secret: %s", c.name, shorten(shown)))
		}
	}
	return found
}

// String formats the calls of failed steps, or all calls if the kit has reported no failure or [AllCalls] is set.
func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := writer{mask: t.h.mask, seen: map[string]string{}}
	shown, last := 0, ""
	for i, c := range t.calls {
		if !t.h.allCalls && t.failed != nil && !t.failed[c.of] {
			continue
		}
		if c.step != last {
			w.line("%s", w.mask(c.step))
		}
		w.call(i+1, c)
		shown, last = shown+1, c.step
	}
	switch shown {
	case 0:
		return ""
	case len(t.calls):
		return "all calls:\n" + indent(w.text.String())
	}
	return fmt.Sprintf("calls of the failed steps, %d of %d (option %s lists all):\n%s", shown, len(t.calls),
		t.h.term("AllCalls"), indent(w.text.String()))
}

// writer formats calls, each bag only once. It masks text before shortening it, since a truncated secret would not be
// masked.
type writer struct {
	mask func(string) string
	text strings.Builder
	seen map[string]string // maps a formatted bag to its first occurrence
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// call writes a call, several lines long.
func (w *writer) call(number int, c *call) {
	w.line("%4d %s", number, w.mask(strings.TrimSpace(c.name+" "+c.id)))
	for i, bag := range c.sent {
		w.bag(number, bagNames[i].role, bagNames[i].mark, bag, c)
	}
	for _, e := range c.events {
		kind := "logged " + e.Level.String()
		if e.Progress {
			kind = "progress"
		}
		w.line("     %s: %s", kind, strings.ReplaceAll(shorten(w.mask(e.Message)), "\n", "\n        "))
	}
	switch {
	case c.err != nil:
		w.line("     failed: %s", strings.ReplaceAll(shorten(w.mask(c.err.Error())), "\n", "\n             "))
	case c.said != "":
		w.line("     -> %s", strings.ReplaceAll(w.mask(c.said), "\n", "\n        "))
	}
	w.bag(number, "answered", "-> ", c.out, c)
}

// minRepeated is the minimum length of a bag whose repetitions are replaced by references.
const minRepeated = 40

// bag writes a bag, or a reference to its first occurrence.
func (w *writer) bag(number int, role, mark string, bag *structpb.Struct, c *call) {
	if bag == nil {
		return
	}
	text := w.mask(readableJSON(structpb.NewStructValue(c.r.wrapped(bag)), ""))
	here := fmt.Sprintf(" in %d", number)
	if where, ok := w.seen[text]; ok && len(text) >= minRepeated {
		w.line("     %s{as %s}", mark, strings.TrimSuffix(where, here))
		return
	}
	w.seen[text] = role + here
	w.line("     %s%s", mark, shorten(text))
}
