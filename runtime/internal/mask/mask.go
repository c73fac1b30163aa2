// Package mask keeps secrets out of text: it finds each secret of a call in what is about to be reported or logged, as
// it is and in the forms that JSON, Go, URLs and base64 give it, and puts a mark in its place.
package mask

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	// Mark replaces a secret.
	Mark = "(secret)"
	// minSecret is the length in bytes of the shortest secret that is looked for. Shorter ones are part of many words.
	minSecret = 6
)

// Found is what a source knows about secrets.
type Found struct {
	// Texts are secret strings.
	Texts []string
	// Keys are keys in secret objects. Those that are also among the names are not secret.
	Keys []string
	// Names are the names of declared properties.
	Names []string
}

// Secrets are the secrets of a call, or of a configuration. A nil *Secrets has none. It may be used concurrently.
type Secrets struct {
	outer *Secrets

	mu      sync.Mutex
	sources []func() Found // those that were not asked yet
	found   Found
	names   map[string]struct{}
	index   index
}

// New returns secrets that include those of outer, which may be nil.
func New(outer *Secrets) *Secrets { return &Secrets{outer: outer} }

// Add adds a source of secrets. It is asked once, and only when some text needs it.
func (s *Secrets) Add(source func() Found) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources = append(s.sources, source)
}

type key struct{}

// NewContext returns a context with the secrets of a call.
func NewContext(ctx context.Context, s *Secrets) context.Context {
	return context.WithValue(ctx, key{}, s)
}

// FromContext returns the secrets of a call, or nil.
func FromContext(ctx context.Context) *Secrets {
	s, _ := ctx.Value(key{}).(*Secrets)
	return s
}

// Text returns the text with a mark in place of each secret, and of any secrets that overlap or touch.
func (s *Secrets) Text(text string) string { return Text(text, s) }

// Text does that for the secrets of several calls.
func Text(text string, all ...*Secrets) string { return replace(text, len(text), all) }

// Head does what Text does for the first n bytes of a text. It leaves out what may be the first part of a secret that
// goes on after them.
func (s *Secrets) Head(text string, n int) string {
	if len(text) <= n {
		return s.Text(text)
	}
	return replace(text[:n], max(0, n-maxPiece), []*Secrets{s})
}

// replace masks a text, and drops what is after the given place and not in a secret.
func replace(text string, last int, all []*Secrets) string {
	indexes := indexesOf(all...)
	if len(indexes) == 0 {
		return text[:last]
	}
	var b strings.Builder
	done := 0
	for _, found := range find(text, indexes) {
		b.WriteString(text[done:found.start])
		b.WriteString(Mark)
		done = found.end
	}
	b.WriteString(text[done:max(done, last)])
	return b.String()
}

func indexesOf(all ...*Secrets) []index {
	var indexes []index
	for _, s := range all {
		for ; s != nil; s = s.outer {
			if ix, _ := s.look(); len(ix) > 0 {
				indexes = append(indexes, ix)
			}
		}
	}
	return indexes
}

// span is a part of a text.
type span struct{ start, end int }

// find returns the parts of a text that are secret, in order, those that overlap or touch as one.
func find(text string, indexes []index) []span {
	var spans []span
	for i := 0; i+minSecret <= len(text); i++ {
		n := 0
		for _, ix := range indexes {
			n = max(n, ix.longest(text[i:]))
		}
		switch last := len(spans) - 1; {
		case n == 0:
		case last >= 0 && i <= spans[last].end:
			spans[last].end = max(spans[last].end, i+n)
		default:
			spans = append(spans, span{i, i + n})
		}
	}
	return spans
}

// Path returns the path of a property with its secret keys left out. Names of declared properties stay, also if some
// secret happens to be the same word. Where no such names are known, the first one stays.
func (s *Secrets) Path(path string) string {
	names, spans := s.declared(), find(path, indexesOf(s))
	var b strings.Builder
	start := 0
	for i, part := range components(path) {
		end := start + len(part)
		_, keep := names[strings.TrimPrefix(part, ".")]
		keep = keep || i == 0 && len(names) == 0
		if slices.ContainsFunc(spans, func(found span) bool {
			outside := found.start < start || found.end > end
			return found.start < end && start < found.end && (outside || !keep)
		}) {
			part = "[…]"
		}
		b.WriteString(part)
		start = end
	}
	return b.String()
}

// components splits a path in front of each dot and bracket outside quotes.
func components(path string) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '.' || c == '[') && i > start:
			parts = append(parts, path[start:i])
			start = i
		}
	}
	return append(parts, path[start:])
}

// declared returns the names of the declared properties of the call.
func (s *Secrets) declared() map[string]struct{} {
	if s == nil {
		return nil
	}
	_, names := s.look()
	return names
}

// look asks the sources that were not asked yet.
func (s *Secrets) look() (index, map[string]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sources) == 0 {
		return s.index, s.names
	}
	for _, source := range s.sources {
		f := source()
		s.found.Texts = append(s.found.Texts, f.Texts...)
		s.found.Keys = append(s.found.Keys, f.Keys...)
		s.found.Names = append(s.found.Names, f.Names...)
	}
	s.sources = nil
	s.names = make(map[string]struct{}, len(s.found.Names))
	for _, name := range s.found.Names {
		s.names[name] = struct{}{}
	}
	all := newForms()
	for _, text := range s.found.Texts {
		all.add(text)
	}
	for _, key := range s.found.Keys {
		if _, declared := s.names[key]; !declared {
			all.add(key)
		}
	}
	s.index = newIndex(all.texts)
	return s.index, s.names
}

// TextOf returns the text of an error or of what a panic is about. The author's code, which makes it, may itself panic.
func TextOf(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T, which has no text, since the method that makes it panics", v)
		}
	}()
	if err, ok := v.(error); ok {
		return err.Error()
	}
	return fmt.Sprint(v)
}
