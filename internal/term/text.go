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

// Width returns the display width of text in columns, excluding escape sequences.
func Width(text string) int { return widths.String(text) }

// Clip shortens text to the given number of columns (at least 1) and ends it with "…" if anything was cut. It keeps all
// escape sequences, so that colors are reset.
func Clip(text string, columns int) string {
	return widths.TruncateString(text, max(columns, 1), "…")
}

// Visible replaces each rune that could control a terminal or reorder text with a visible one.
func Visible(text string) string { return strings.Map(visible, text) }

func visible(r rune) rune {
	switch {
	case r < ' ':
		return r + '␀' // the picture of the control character
	case r < 0x7f: // fast path for nearly every rune
		return r
	case r == 0x7f:
		return '␡'
	case hidden(r):
		return unicode.ReplacementChar
	}
	return r
}

// hidden reports whether a rune from DEL on is invisible and affects its neighbors, or is not a character. Joiners are
// not hidden: scripts and emoji need them.
func hidden(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return r >= 0x7f && r != nonJoiner && r != joiner &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point)
}

// Paragraph is like [Visible], but keeps line breaks and indents the lines after the first.
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
