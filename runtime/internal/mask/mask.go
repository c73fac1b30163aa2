// Package mask keeps secrets out of text: it finds the secrets of a call in what is about to be reported or logged,
// plain or in the forms that JSON, Go, XML, URLs and base64 give them, and replaces them.
package mask

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Mark replaces a secret.
const Mark = "(secret)"

// Secrets are the secrets of a call, or of a configuration. A nil *Secrets has none. It may be used concurrently.
type Secrets struct {
	outer *Secrets

	mu    sync.Mutex
	words [3]set
	index *index // made when a text needs it
}

type set = map[string]struct{}

// Kind is what a word is.
type Kind int

// The kinds of words.
const (
	Value Kind = iota // a secret string
	Key               // a key in a secret object, unless it is also a name
	Name              // the name of a declared property
)

// New returns secrets that include those of outer, which may be nil.
func New(outer *Secrets) *Secrets { return &Secrets{outer: outer} }

// Add adds a word.
func (s *Secrets) Add(kind Kind, word string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words[kind] == nil {
		s.words[kind] = set{}
	}
	s.words[kind][word] = struct{}{}
	s.index = nil
}

func (s *Secrets) has(kind Kind, word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.words[kind][word]
	return ok
}

func (s *Secrets) lookup() *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil {
		return s.index
	}
	s.index = &index{set{}, map[string][]int{}}
	for text := range s.words[Value] {
		s.index.add(text)
	}
	for key := range s.words[Key] {
		if _, declared := s.words[Name][key]; declared {
			continue
		}
		if !strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsLetter(r) }) {
			key = strconv.Quote(key) // Without the quotes, a plain word is most likely not the key.
		}
		s.index.add(key)
	}
	return s.index
}

type contextKey struct{}

// NewContext returns a context with the secrets of a call.
func NewContext(ctx context.Context, s *Secrets) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// FromContext returns the secrets of a call, or nil.
func FromContext(ctx context.Context) *Secrets {
	s, _ := ctx.Value(contextKey{}).(*Secrets)
	return s
}

// Text returns the text with a mark in place of each secret of several calls, and of any that overlap or touch.
func Text(text string, all ...*Secrets) string {
	m := matcher{secret: make([]bool, len(text))}
	var seen []*Secrets
	for _, s := range all {
		for ; s != nil && !slices.Contains(seen, s); s = s.outer {
			seen = append(seen, s)
			if ix := s.lookup(); len(ix.texts) > 0 {
				m.indexes = append(m.indexes, ix)
			}
		}
	}
	if len(m.indexes) == 0 {
		return text
	}
	places := make([]int, len(text)+1)
	for i := range places {
		places[i] = i
	}
	m.scan(text, places, maxNested)
	var b strings.Builder
	for start, end := 0, 0; start < len(text); start = end {
		for end < len(text) && m.secret[end] == m.secret[start] {
			end++
		}
		if m.secret[start] {
			b.WriteString(Mark)
		} else {
			b.WriteString(text[start:end])
		}
	}
	return b.String()
}

// Path returns the path of a property without secret keys. Names of declared properties stay, also if a secret is the same
// word.
func (s *Secrets) Path(path string) string {
	if s == nil {
		return path
	}
	var b strings.Builder
	for _, part := range components(path) {
		name := strings.TrimPrefix(part, ".")
		if !s.has(Name, name) && (s.has(Key, name) || Text(part, s) != part) {
			part = "[…]"
		}
		b.WriteString(part)
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

// TextOf returns the text of an error or of the value of a panic. The author's code, which makes it, may itself panic.
func TextOf(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T: its Error method panicked", v)
		}
	}()
	if err, ok := v.(error); ok {
		return err.Error()
	}
	return fmt.Sprint(v)
}
