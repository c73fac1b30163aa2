package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxPiece is the length of the longest text that is looked for. Longer secrets are looked for in pieces, so that the
	// time that a text takes does not depend on how long secrets are.
	maxPiece = 1 << 10
	// maxEncoded is the length of the longest secret that is looked for in other forms than as it is. All secrets of a
	// call together may have the length encodedBudget for that, each counted with secretCost more.
	maxEncoded    = 64 << 10
	encodedBudget = 4 << 20
	secretCost    = 64
)

// forms are what secrets may look like in a text.
type forms struct {
	texts  map[string]struct{}
	seen   map[string]struct{} // the secrets
	budget int
}

func newForms() *forms {
	return &forms{texts: make(map[string]struct{}), seen: make(map[string]struct{}), budget: encodedBudget}
}

// add adds a secret. Blank ones are in every text, and those with blanks around them are often shown without.
func (f *forms) add(secret string) {
	trimmed := strings.TrimSpace(secret)
	if len(secret) < minSecret || trimmed == "" {
		return
	}
	f.addOne(secret)
	if trimmed != secret && len(trimmed) >= minSecret {
		f.addOne(trimmed)
	}
}

func (f *forms) addOne(s string) {
	if _, seen := f.seen[s]; seen {
		return
	}
	f.seen[s] = struct{}{}
	f.addPieces(s)
	if len(s) > maxEncoded || f.budget < len(s)+secretCost {
		return
	}
	f.budget -= len(s) + secretCost
	f.addPieces(inBase64(s)...)
	if isPlain(s) {
		return
	}
	f.addPieces(inURL(s)...)
	for _, once := range escaped(s) {
		f.addPieces(once)
		f.addPieces(escaped(once)...) // such as JSON in a log line
	}
}

// isPlain reports whether a text has no characters that quotes or URLs escape.
func isPlain(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' && c != '.' && c != '~' {
			return false
		}
	}
	return true
}

// addPieces adds texts, or pieces that cover them.
func (f *forms) addPieces(texts ...string) {
	for _, s := range texts {
		for len(s) > maxPiece {
			f.texts[s[:maxPiece]] = struct{}{}
			s = s[min(maxPiece, len(s)-maxPiece):]
		}
		if len(s) >= minSecret {
			f.texts[s] = struct{}{}
		}
	}
}

// escaped returns what is between the quotes of the text as JSON and as Go.
func escaped(s string) []string {
	forms := []string{strconv.Quote(s), strconv.QuoteToASCII(s)}
	for _, html := range []bool{false, true} {
		var b bytes.Buffer
		out := json.NewEncoder(&b)
		out.SetEscapeHTML(html)
		if err := out.Encode(s); err == nil {
			forms = append(forms, strings.TrimSuffix(b.String(), "\n"))
		}
	}
	for i, form := range forms {
		forms[i] = form[1 : len(form)-1]
	}
	return forms
}

// inURL returns the text as a part of a query, of a path and of what is in front of a host.
func inURL(s string) []string {
	query := url.QueryEscape(s)
	forms := []string{
		query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(s), url.User(s).String(),
	}
	for _, form := range forms {
		forms = append(forms, lowerHex(form))
	}
	return forms
}

func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 returns the text in base64: by itself, and inside a longer text, where it may start at any of three offsets
// in a group of three bytes. The characters at the edges that depend on what is around are left out then.
func inBase64(s string) []string {
	var forms []string
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		raw := alphabet.WithPadding(base64.NoPadding)
		forms = append(forms, alphabet.EncodeToString([]byte(s)), raw.EncodeToString([]byte(s)))
		for offset := range 3 {
			group := append(make([]byte, offset, offset+len(s)), s...)
			form := raw.EncodeToString(group)
			if len(group)%3 != 0 {
				form = form[:len(form)-1]
			}
			forms = append(forms, form[(offset*8+5)/6:])
		}
	}
	return forms
}
