package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/clipperhouse/displaywidth"
)

// widths measures text whose only escape sequences are those of [Stream.Paint].
var widths = displaywidth.Options{ControlSequences: true}

// Width returns how many columns a terminal needs for text, not counting escape sequences.
func Width(text string) int { return widths.String(text) }

// Clip shortens text to a number of columns, at least one, and ends it with "…" if anything was cut. Escape sequences
// are all kept, so that colors are turned off again.
func Clip(text string, columns int) string {
	return widths.TruncateString(text, max(columns, 1), "…")
}

// Visible replaces every rune that could control a terminal or reorder text by a visible one.
func Visible(text string) string { return strings.Map(visible, text) }

func visible(r rune) rune {
	switch {
	case r < ' ':
		return r + '␀' // the picture of the control character
	case r < 0x7f: // Nearly every rune is one of these.
		return r
	case r == 0x7f:
		return '␡'
	case hidden(r):
		return unicode.ReplacementChar
	}
	return r
}

// hidden reports whether a rune from DEL on is invisible and acts on the runes around it, or is not a character at all.
// Joiners are not hidden: scripts and emoji need them.
func hidden(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return r >= 0x7f && r != nonJoiner && r != joiner &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point)
}

// Paragraph returns a message as [Visible] does, but with its line breaks. Lines after the first are indented.
func Paragraph(message string) string {
	lines := strings.Split(strings.TrimRight(message, "\r\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if i > 0 {
			line = "    " + strings.TrimLeft(line, " \t")
		}
		lines[i] = Visible(strings.ReplaceAll(line, "\t", " "))
	}
	return strings.Join(lines, "\n")
}

// JSON encodes v on one line, with escapes for all runes that [Visible] replaces.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !bytes.ContainsFunc(text, hidden) {
		return text, nil
	}
	escaped := make([]byte, 0, len(text)+16)
	for _, r := range string(text) { // Package json leaves hidden runes only in strings, so no parsing is needed.
		switch {
		case !hidden(r):
			escaped = append(escaped, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
	}
	return escaped, nil
}
