// Package visible makes text that comes from anywhere safe to print on a terminal.
package visible

import (
	"strings"
	"unicode"
)

// String returns s with every rune that could drive a terminal, or change the order in which it shows the others,
// replaced by one that is seen.
func String(s string) string { return strings.Map(Rune, s) }

// Rune returns r, or what is printed in its place.
func Rune(r rune) rune {
	switch {
	case r < ' ':
		return r + '␀' // the picture of the control character
	case r < 0x7f: // Nearly every rune is one of these.
		return r
	case r == 0x7f:
		return '␡'
	case Hidden(r):
		return unicode.ReplacementChar
	}
	return r
}

// Hidden reports whether a rune beyond ASCII acts on what is around it and shows nothing itself, or is no character at
// all. Joiners are let through: scripts and emoji need them.
func Hidden(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return r >= 0x7f && r != nonJoiner && r != joiner &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// Paragraph makes a message safe to print: it makes control characters visible and indents further lines.
func Paragraph(message string) string {
	lines := strings.Split(strings.TrimRight(message, "\r\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if i > 0 {
			line = "    " + strings.TrimLeft(line, " \t")
		}
		lines[i] = String(strings.ReplaceAll(line, "\t", " "))
	}
	return strings.Join(lines, "\n")
}
