package wire

import (
	"encoding/base64"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// minSecret is the minimum length in bytes of masked secrets. Shorter ones occur in many words.
	minSecret = 6
	// maxPiece limits the lengths in an index. Longer secrets are matched in pieces, so that the time per text does
	// not depend on their length.
	maxPiece = 1 << 10
	// maxLayers limits how often nested escapes in a text are decoded, such as JSON escapes in a quoted URL.
	maxLayers = 8
	// maxNested limits how often base64 within base64 is decoded.
	maxNested = 2
)

// index finds texts. lengths maps each text's first minSecret bytes to the lengths of such texts.
type index struct {
	texts   set
	lengths map[string][]int
}

// add adds a secret, both as it is and with its own escapes decoded, since a text's escapes are decoded too.
func (ix *index) add(secret string) {
	for range maxLayers {
		secret = strings.TrimSpace(secret) // Surrounding spaces are often not shown.
		for end := 0; end < len(secret) && len(secret) >= minSecret; {
			end = min(end+maxPiece, len(secret))
			piece := secret[max(0, end-maxPiece):end]
			ix.texts[piece] = struct{}{}
			if first := piece[:minSecret]; !slices.Contains(ix.lengths[first], len(piece)) {
				ix.lengths[first] = append(ix.lengths[first], len(piece))
			}
		}
		decoded, places := unescape(secret)
		if places == nil {
			return
		}
		secret = decoded
	}
}

// longest returns the length of the longest indexed text that s starts with, or 0. s must have at least minSecret
// bytes.
func (ix *index) longest(s string) int {
	longest := 0
	for _, n := range ix.lengths[s[:minSecret]] {
		if n > longest && n <= len(s) {
			if _, ok := ix.texts[s[:n]]; ok {
				longest = n
			}
		}
	}
	return longest
}

// matcher finds secrets in a text and in its decoded escapes and base64.
type matcher struct {
	indexes []*index
	secret  []bool // for each byte of the text
}

// scan finds the secrets in a text decoded from the matcher's. places maps each of its bytes, and its end, to the
// matcher's text.
func (m *matcher) scan(text string, places []int, nested int) {
	for range maxLayers {
		m.find(text, places)
		if nested > 0 {
			m.scanBase64(text, places, nested-1)
		}
		decoded, inText := unescape(text)
		if inText == nil {
			return
		}
		for i, place := range inText {
			inText[i] = places[place]
		}
		text, places = decoded, inText
	}
}

func (m *matcher) find(text string, places []int) {
	done := 0
	for i := 0; i+minSecret <= len(text); i++ {
		n := 0
		for _, ix := range m.indexes {
			n = max(n, ix.longest(text[i:]))
		}
		for done = max(done, i); done < i+n; done++ {
			for at := places[done]; at < max(places[done]+1, places[done+1]); at++ {
				m.secret[at] = true
			}
		}
	}
}

var (
	base64Run   = regexp.MustCompile(`[0-9A-Za-z+/_-]{8,}={0,2}`) // of at least minSecret bytes
	urlAlphabet = strings.NewReplacer("-", "+", "_", "/")
)

// scanBase64 decodes anything that looks like base64. It may be preceded by unrelated characters, so every offset
// within a group of four is tried.
func (m *matcher) scanBase64(text string, places []int, nested int) {
	for _, run := range base64Run.FindAllStringIndex(text, -1) {
		for start := run[0]; start < run[0]+4; start++ {
			group := urlAlphabet.Replace(strings.TrimRight(text[start:run[1]], "="))
			if len(group)%4 == 1 {
				group = group[:len(group)-1]
			}
			decoded, err := base64.RawStdEncoding.DecodeString(group)
			if err != nil {
				continue
			}
			inText := make([]int, len(decoded)+1)
			for i := range decoded {
				inText[i] = places[start+i*4/3]
			}
			inText[len(decoded)] = places[run[1]]
			if utf8.Valid(decoded) {
				m.scan(string(decoded), inText, nested)
			} else {
				m.find(string(decoded), inText) // Binary data has no escapes.
			}
		}
	}
}

// unescape decodes every escape in a text once. places maps the bytes of the result, and its end, to the text. It is
// nil if there is no escape.
func unescape(text string) (decoded string, places []int) {
	if !strings.ContainsAny(text, "%\\&+\r") {
		return text, nil
	}
	var b strings.Builder
	places = make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		one, n := unescapeOne(text[i:])
		if n == 0 {
			one, n = text[i:i+1], 1
		}
		for range len(one) {
			places = append(places, i)
		}
		b.WriteString(one)
		i += n
	}
	if decoded = b.String(); decoded == text {
		return text, nil
	}
	return decoded, append(places, len(text))
}

// unescapeOne decodes the escape at the start of a text and returns its length, or 0 if there is none.
func unescapeOne(s string) (decoded string, n int) {
	switch s[0] {
	case '+': // in a query
		return " ", 1
	case '\r': // added or removed by some systems
		return "", 1
	case '%':
		if decoded, err := url.PathUnescape(s[:min(len(s), 3)]); err == nil {
			return decoded, 3
		}
	case '\\':
		if r, multibyte, rest, err := strconv.UnquoteChar(s, '"'); err == nil {
			if decoded = string(r); !multibyte {
				decoded = string([]byte{byte(r)})
			}
			return decoded, len(s) - len(rest)
		}
		if len(s) > 1 && (s[1] == '/' || s[1] == '\'') {
			return s[1:2], 2
		}
	case '&':
		if end := strings.IndexByte(s[:min(len(s), 12)], ';') + 1; end > 0 {
			if decoded = html.UnescapeString(s[:end]); decoded != s[:end] {
				return decoded, end
			}
		}
	}
	return "", 0
}
