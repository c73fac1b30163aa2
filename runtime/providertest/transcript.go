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
	name    string
	r       *Resource // nil for Configure
	subject string    // r as it was then
	id      string
	in, new *structpb.Struct
	out     *structpb.Struct
	said    string // what was answered beside properties
	err     error
}

// transcript is all calls in the order in which they ended. It shows them at the end, when it is known what is secret.
type transcript struct {
	h     *Harness
	mu    sync.Mutex
	calls []*call
}

func (t *transcript) add(c *call) {
	if c.r != nil {
		c.subject = c.r.String()
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
	var b strings.Builder
	for i, c := range all {
		fmt.Fprintf(&b, "%3d %s\n", i+1, t.h.secrets.mask(c.String()))
	}
	return indent(b.String())
}

// String shows the call in a few lines.
func (c *call) String() string {
	parts := []string{c.name}
	for _, part := range []string{c.subject, c.id} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, " ")
	if c.in != nil {
		text += "\n      " + c.show(c.in)
	}
	if c.new != nil {
		text += "\n      new " + c.show(c.new)
	}
	switch {
	case c.err != nil:
		text += "\n      failed: " + strings.ReplaceAll(shorten(c.err.Error()), "\n", "\n              ")
	case c.said != "":
		text += "\n      -> " + c.said
	}
	if c.out != nil {
		text += "\n      -> " + c.show(c.out)
	}
	return text
}

func (c *call) show(bag *structpb.Struct) string {
	return show(structpb.NewStructValue(c.r.wrapped(bag)))
}
