package lumigl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenEnd returns the length of the token that s starts with.
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

// wordEnd returns the length of the word that s starts with: letters, digits, and what else stands in names.
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

// spaceEnd returns the length of a character of white space that JSON does not have, 0 if s starts with another.
func spaceEnd(s string) int {
	const invisible = "\u200b\u2060\ufeff"
	r, n := utf8.DecodeRuneInString(s)
	if r >= utf8.RuneSelf && (unicode.IsSpace(r) || strings.ContainsRune(invisible, r)) && n > 1 || r == '\v' || r == '\f' {
		return n
	}
	return 0
}

// otherQuotes returns the group of the quote that s starts with, "" if there is none.
func otherQuotes(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	for _, group := range quotes {
		if strings.ContainsRune(group, r) {
			return group
		}
	}
	return ""
}

// quotes are those that JSON does not have. Any of a group may end a string that starts with one of it.
var quotes = [...]string{"'", "`", "“”„", "‘’"}
