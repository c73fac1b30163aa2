package providertest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// secrets are the texts that no report may show, and no error may tell.
type secrets struct {
	mu    sync.Mutex
	texts map[string]struct{}
}

// minSecret is the length of the shortest text that is looked for. Shorter ones are a part of many a word.
const minSecret = 6

const masked = "(secret)"

// note remembers what is a secret in a bag.
func (s *secrets) note(bag *structpb.Struct) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]struct{}{}
	}
	parts("", structpb.NewStructValue(bag), func(_ lumi.Path, v *structpb.Value) bool {
		if !isSecret(v) {
			return true
		}
		for text := range texts(reveal(v)) {
			if len(text) >= minSecret && text != wire.Unknown {
				s.texts[text] = struct{}{}
			}
		}
		return false
	})
}

// forms are the texts and what they look like between quotes, the longest first, since one may be a part of another.
func (s *secrets) forms() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var forms []string
	for text := range maps.Keys(s.texts) {
		forms = append(forms, text)
		if quoted, err := json.Marshal(text); err == nil {
			forms = append(forms, strings.Trim(string(quoted), `"`))
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(forms)
}

// in reports whether a text tells a secret.
func (s *secrets) in(text string) bool {
	return slices.ContainsFunc(s.forms(), func(form string) bool { return strings.Contains(text, form) })
}

// mask takes the secrets out of a text.
func (s *secrets) mask(text string) string {
	for _, form := range s.forms() {
		text = strings.ReplaceAll(text, form, masked)
	}
	return text
}
