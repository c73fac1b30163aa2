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

// Masked is the replacement for a secret in text.
const Masked = "(secret)"

// Secrets is a set of the secrets of a call or configuration. A nil *Secrets is empty. Secrets is safe for concurrent use.
type Secrets struct {
	outer *Secrets

	mu    sync.Mutex
	words [2]set   // by kind
	names []string // distinct; calls add few, and filling a set takes longer than decoding the properties
	index *index   // built when first needed
}

type set = map[string]struct{}

// kind is the kind of a word in [Secrets].
type kind int

const (
	value kind = iota
	key
)

// NewSecrets returns a set that contains the secrets of outer, including any added to it later. outer may be nil.
func NewSecrets(outer *Secrets) *Secrets { return &Secrets{outer: outer} }

// AddValue adds a secret string. Short strings are not masked.
func (s *Secrets) AddValue(text string) { s.add(value, text) }

// AddKey adds a key of an object inside a secret. It is treated as a secret unless it is also added as a name.
func (s *Secrets) AddKey(text string) { s.add(key, text) }

// AddName adds the name of a property that the IDL declares. Names are not secret.
func (s *Secrets) AddName(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range slices.Backward(s.names) { // Objects in a list repeat the latest ones.
		if known == text {
			return
		}
	}
	s.names, s.index = append(s.names, text), nil
}

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

// isName reports whether word is the name of a declared property, and isKey whether it is a key inside a secret.
func (s *Secrets) isName(word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.names, word)
}

func (s *Secrets) isKey(word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.words[key][word]
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
		if slices.Contains(s.names, text) {
			continue
		}
		if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			text = strconv.Quote(text) // A word without quotes is probably not the key.
		}
		s.index.add(text)
	}
	return s.index
}

type contextKey struct{}

// WithSecrets returns a context for a call with the given secrets.
func WithSecrets(ctx context.Context, s *Secrets) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// SecretsOf returns the secrets of the call that ctx belongs to, or nil if it has none.
func SecretsOf(ctx context.Context) *Secrets {
	s, _ := ctx.Value(contextKey{}).(*Secrets)
	return s
}

// Mask returns text with each secret replaced by [Masked]. Adjacent and overlapping secrets are replaced by a single one.
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

// Path returns a property's path with secret keys replaced by "[…]". It keeps the names of declared properties, even if
// equal to a secret.
func (s *Secrets) Path(path string) string {
	if s == nil {
		return path
	}
	var b strings.Builder
	for _, part := range PathParts(path) {
		word := strings.TrimPrefix(part, ".")
		if !s.isName(word) && (s.isKey(word) || Mask(part, s) != part) {
			part = "[…]"
		}
		b.WriteString(part)
	}
	return b.String()
}

// PathParts splits a property's path before each dot and opening bracket that is not inside quotes.
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

// TextOf returns the text of an error or other panic value, or a placeholder if its Error method panics.
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
