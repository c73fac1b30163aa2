package render

import (
	"strings"
	"unicode"
)

// substitute stands for a character that is not shown. Parsers of DOT stumble over the usual one, U+FFFD.
const substitute = '␦'

// visible returns s with each character that shows nothing itself, or changes the order of those around it, replaced by
// one that is seen. Scripts that are written from right to left stay as they are.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		const nonJoiner, joiner = 0x200c, 0x200d // Scripts and emoji need them.
		switch {
		case r < ' ':
			return r + '␀' // the picture of the control character
		case r < 0x7f, r == nonJoiner, r == joiner:
			return r
		case r == 0x7f:
			return '␡'
		case r == unicode.ReplacementChar, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
			return substitute
		case unicode.Is(unicode.Noncharacter_Code_Point, r):
			return substitute
		}
		return r
	}, s)
}
