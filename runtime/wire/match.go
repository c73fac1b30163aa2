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
	// minSecret is the minimum length of secrets to mask, in bytes. Shorter secrets would match parts of other words.
	minSecret = 6
	// maxPiece is the maximum length of texts in an index. Longer secrets are matched in pieces, so that matching time
	// does not depend on their length.
	maxPiece = 1 << 10
	// maxLayers limits the nesting of escapes that are decoded, such as JSON escapes in a quoted URL.
	maxLayers = 8
	// maxNested limits the nesting of base64 that is decoded.
	maxNested = 2
)

// index is a set of texts to find. lengths maps the first minSecret bytes of a text to the lengths of all texts that start
// with them.
type index struct {
	texts   set
	lengths map[string][]int
}

// add adds a secret. Since escapes in the searched text are decoded, it also adds the secret with its own escapes decoded.
func (ix *index) add(secret string) {
	for range maxLayers {
		secret = strings.TrimSpace(secret) // Text often contains it without the surrounding space.
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

// longest returns the length of the longest indexed text that is a prefix of s, or 0 if there is none. s must have at
// least minSecret bytes.
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

// matcher finds secrets in a text, including in escaped and base64-encoded form.
type matcher struct {
	indexes []*index
	secret  []bool // whether each byte of the text belongs to a secret
}

// scan finds the secrets in text, which was decoded from the matcher's text. places maps the offset of each byte of text,
// and of its end, to an offset in the matcher's text.
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

// scanBase64 finds the secrets in parts of text that look like base64. Unrelated characters may precede the base64, so it
// tries each of the four possible offsets.
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
				m.find(string(decoded), inText) // Binary data contains no escapes.
			}
		}
	}
}

// unescape decodes every escape in text once. places maps the offset of each byte of the result, and of its end, to an
// offset in text. It is nil if text contains no escapes.
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

// unescapeOne decodes the escape at the start of s and returns its length, or 0 if there is none.
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
