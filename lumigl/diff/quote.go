package diff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quote returns s as a JSON string in which invisible and control characters are escaped.
func quote(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	return string(appendQuoted(nil, s))
}

// isPlain reports whether s is printable ASCII and needs no escapes. Other strings take a slower path.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendQuoted(dst []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	dst = append(dst, '"')
	for _, r := range s {
		dst = appendRune(dst, r)
	}
	return append(dst, '"')
}

func appendRune(dst []byte, r rune) []byte {
	const escaped, as = "\"\\\n\t\r", `"\ntr`
	if i := strings.IndexRune(escaped, r); i >= 0 {
		return append(dst, '\\', as[i])
	}
	if strconv.IsPrint(r) {
		return utf8.AppendRune(dst, r)
	}
	for _, unit := range utf16.AppendRune(nil, r) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return dst
}

// label formats a key. It is quoted only if it could be misread.
func label(key string) string {
	if isName(key) {
		return key
	}
	visible := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r == '"' || r == '\\' || r == utf8.RuneError || !strconv.IsPrint(r)
	})
	if visible && !strings.ContainsAny(key, " ()[]") && !strings.HasSuffix(key, ":") {
		return key
	}
	return quote(key)
}

// isName reports whether key consists of letters and digits, which is the common case.
func isName(key string) bool {
	for i := range len(key) {
		if c := key[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return key != ""
}

// urnLabel formats the key of a resource. Unlike with label, spaces need no quotes.
func urnLabel(key string) string {
	if key != "" && isPlain(key) {
		return key
	}
	if quoted := quote(key); quoted != `"`+key+`"` || key == "" {
		return quoted
	}
	return key
}
