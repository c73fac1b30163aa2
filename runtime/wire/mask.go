package wire

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Masked replaces a secret in text.
const Masked = "(secret)"

// Secrets holds the secrets of a call or a configuration. A nil *Secrets is empty. It is safe for concurrent use.
type Secrets struct {
	outer *Secrets

	mu    sync.Mutex
	words [3]set // by kind
	index *index // built when first needed
}

type set = map[string]struct{}

// kind classifies a word.
type kind int

const (
	value kind = iota
	key
	name
)

// NewSecrets returns an empty set of secrets that includes outer's, which may be nil.
func NewSecrets(outer *Secrets) *Secrets { return &Secrets{outer: outer} }

// AddValue adds a secret string.
func (s *Secrets) AddValue(text string) { s.add(value, text) }

// AddKey adds a key in a secret object. It is a secret unless it is also added as a name.
func (s *Secrets) AddKey(text string) { s.add(key, text) }

// AddName adds the name of a declared property.
func (s *Secrets) AddName(text string) { s.add(name, text) }

func (s *Secrets) add(k kind, word string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words[k] == nil {
		s.words[k] = set{}
	}
	s.words[k][word] = struct{}{}
	s.index = nil
}

func (s *Secrets) has(k kind, word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.words[k][word]
	return ok
}

func (s *Secrets) lookup() *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil {
		return s.index
	}
	s.index = &index{set{}, map[string][]int{}}
	for text := range s.words[value] {
		s.index.add(text)
	}
	for text := range s.words[key] {
		if _, declared := s.words[name][text]; declared {
			continue
		}
		if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			text = strconv.Quote(text) // Without quotes, a plain word is most likely not the key.
		}
		s.index.add(text)
	}
	return s.index
}

type contextKey struct{}

// WithSecrets returns a context with the secrets of a call.
func WithSecrets(ctx context.Context, s *Secrets) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// SecretsOf returns the secrets of ctx's call, or nil.
func SecretsOf(ctx context.Context) *Secrets {
	s, _ := ctx.Value(contextKey{}).(*Secrets)
	return s
}

// Mask replaces each secret in the text with [Masked]. Secrets that overlap or touch are replaced as one.
func Mask(text string, all ...*Secrets) string {
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
			b.WriteString(Masked)
		} else {
			b.WriteString(text[start:end])
		}
	}
	return b.String()
}

// Path returns a property's path without secret keys. Names of declared properties are kept, even if equal to a
// secret.
func (s *Secrets) Path(path string) string {
	if s == nil {
		return path
	}
	var b strings.Builder
	for _, part := range PathParts(path) {
		word := strings.TrimPrefix(part, ".")
		if !s.has(name, word) && (s.has(key, word) || Mask(part, s) != part) {
			part = "[…]"
		}
		b.WriteString(part)
	}
	return b.String()
}

// PathParts splits a property's path before each dot and bracket outside quotes.
func PathParts(path string) []string {
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

// TextOf returns the text of an error or panic value, or a placeholder if its method panics.
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
