package providertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"
)

// call is one call of the provider.
type call struct {
	name string
	r    *Resource // nil for Configure
	step string    // what it was a part of
	id   string
	// in and new are what was sent, and out what was answered; nil where there was nothing.
	in, new, out *structpb.Struct
	said         string // what was answered beside properties
	err          error
}

// transcript is all calls in the order in which they ended. It shows them at the end, when it is known what is secret.
type transcript struct {
	h     *Harness
	mu    sync.Mutex
	calls []*call
}

func (t *transcript) add(c *call) {
	c.step = "before all"
	if c.r != nil {
		c.step = c.r.String() + ": " + c.r.doing
	}
	for _, bag := range []*structpb.Struct{c.in, c.new, c.out} {
		t.h.secrets.note(c.r.wrapped(bag))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
}

// String shows all calls.
func (t *transcript) String() string {
	t.mu.Lock()
	all := slices.Clone(t.calls)
	t.mu.Unlock()
	if len(all) == 0 {
		return ""
	}
	w := writer{mask: t.h.secrets.mask, seen: map[string]string{}}
	for i, c := range all {
		if i == 0 || c.step != all[i-1].step {
			w.line("%s", w.mask(c.step))
		}
		w.call(i+1, c)
	}
	return indent(w.text.String())
}

// writer shows each bag once, and no secret. It masks texts before it shortens them, lest half a secret stay.
type writer struct {
	mask func(string) string
	text strings.Builder
	seen map[string]string // where a bag was shown
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// call shows a call in a few lines.
func (w *writer) call(number int, c *call) {
	w.line("%4d %s", number, w.mask(strings.TrimSpace(c.name+" "+c.id)))
	w.bag(number, "sent", "", c.in, c)
	w.bag(number, "new", "new ", c.new, c)
	switch {
	case c.err != nil:
		w.line("     failed: %s", strings.ReplaceAll(shorten(w.mask(c.err.Error())), "\n", "\n             "))
	case c.said != "":
		w.line("     -> %s", strings.ReplaceAll(w.mask(c.said), "\n", "\n        "))
	}
	w.bag(number, "answered", "-> ", c.out, c)
}

// worthIt is the length of the shortest bag that is not shown again.
const worthIt = 40

// bag shows a bag, or where it was shown.
func (w *writer) bag(number int, role, mark string, bag *structpb.Struct, c *call) {
	if bag == nil {
		return
	}
	text := w.mask(toJSON(readable(structpb.NewStructValue(c.r.wrapped(bag))), ""))
	here := fmt.Sprintf(" in %d", number)
	if where, ok := w.seen[text]; ok && len(text) >= worthIt {
		w.line("     %s{as %s}", mark, strings.TrimSuffix(where, here))
		return
	}
	w.seen[text] = role + here
	w.line("     %s%s", mark, shorten(text))
}
