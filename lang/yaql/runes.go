package yaql

import (
	"unicode"
)

func runeSlice(s string, lo, hi int) string {
	if lo >= hi {
		return ""
	}
	s = s[runeOffset(s, lo):]
	return s[:runeOffset(s, hi-lo)]
}

// runeOffset returns the byte offset of the nth character.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// isSpace reports whether r is white space as in Python, which includes the ASCII separators.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
