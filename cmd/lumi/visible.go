package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/mattn/go-runewidth"

	"github.com/lumi-idl/lumi/internal/visible"
)

// widths measures how many columns a text takes. It is the same everywhere, whatever language the user has chosen.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

func width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return widths.StringWidth(s)
}

// isPlain reports whether a text is of printable ASCII only, as most are.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// clip shortens a text to some columns, with a mark where it was cut.
func clip(s string, columns int) string { return widths.Truncate(s, max(columns, 1), "…") }

// clipColored shortens a text with colours to some columns.
func clipColored(s string, columns int) string {
	if len(s) <= columns && isPlain(s) || width(colors.ReplaceAllString(s, "")) <= columns {
		return s
	}
	var b strings.Builder
	left := columns - 1 // for the mark
	for len(s) > 0 {
		end := len(s)
		if at := colors.FindStringIndex(s); len(at) == 2 {
			end = at[0]
			if end == 0 {
				b.WriteString(s[:at[1]]) // Those behind the cut are kept, so that the last turns colours off.
				s = s[at[1]:]
				continue
			}
		}
		switch text := s[:end]; {
		case left < 0:
		case width(text) <= left:
			b.WriteString(text)
			left -= width(text)
		default:
			b.WriteString(widths.Truncate(text, left, "") + "…")
			left = -1
		}
		s = s[end:]
	}
	return b.String()
}

// colors matches what turns colours on and off.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// escapeHidden escapes the runes that package json leaves as they are although they show nothing. They can stand
// nowhere in JSON but in its strings, so no parsing is needed.
func escapeHidden(text []byte) []byte {
	if !bytes.ContainsFunc(text, visible.Hidden) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !visible.Hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
