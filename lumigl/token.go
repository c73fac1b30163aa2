package lumigl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenEnd returns the length of the token at the start of s.
func tokenEnd(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] != '"':
		return max(1, wordEnd(s))
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// wordEnd returns the length of the word at the start of s, which consists of letters, digits, and other characters of
// names.
func wordEnd(s string) int {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		if s[n] >= utf8.RuneSelf && (otherQuotes(s[n:]) != "" || spaceEnd(s[n:]) > 0) {
			break
		}
		n++
	}
	return n
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '$' || c == '-' || c == '+' || c == '.' || c >= utf8.RuneSelf
}

// spaceEnd returns the length of the character at the start of s if it is white space not allowed in JSON, or 0.
func spaceEnd(s string) int {
	const invisible = "\u200b\u2060\ufeff"
	r, n := utf8.DecodeRuneInString(s)
	if r >= utf8.RuneSelf && (unicode.IsSpace(r) || strings.ContainsRune(invisible, r)) && n > 1 || r == '\v' || r == '\f' {
		return n
	}
	return 0
}

// otherQuotes returns the group of quotes that the first character of s belongs to, or "".
func otherQuotes(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	for _, group := range quotes {
		if strings.ContainsRune(group, r) {
			return group
		}
	}
	return ""
}

// quotes lists groups of quotation marks not allowed in JSON. A string may end with any mark of the group it starts
// with.
var quotes = [...]string{"'", "`", "“”„", "‘’"}
