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

// widths measures text that contains no escape sequences except those of [Stream.Paint].
var widths = displaywidth.Options{ControlSequences: true}

// Width returns the width of text in columns, ignoring escape sequences.
func Width(text string) int { return widths.String(text) }

// Clip shortens text to the given number of columns, which is at least 1. If it cuts text, the result ends with "…". It
// keeps all escape sequences, so that colors are reset.
func Clip(text string, columns int) string {
	return widths.TruncateString(text, max(columns, 1), "…")
}

// Visible replaces each rune that could control a terminal or reorder text with a visible one.
func Visible(text string) string { return strings.Map(visible, text) }

func visible(r rune) rune {
	switch {
	case r < ' ':
		return r + '␀' // the symbol of the control character
	case r < 0x7f: // a fast path for nearly every rune
		return r
	case r == 0x7f:
		return '␡'
	case hidden(r):
		return unicode.ReplacementChar
	}
	return r
}

// hidden reports whether r, from U+007F on, is invisible and affects its neighbors, or is not a character. Joiners are
// not hidden, since scripts and emoji need them.
func hidden(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return r >= 0x7f && r != nonJoiner && r != joiner &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point)
}

// Paragraph is like [Visible], but keeps line breaks and indents every line after the first.
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

// JSON encodes v on one line, escaping every rune that [Visible] would replace.
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
	for _, r := range string(text) { // hidden runes occur only inside strings, so no parsing is needed
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
