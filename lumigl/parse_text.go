package lumigl

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (p *parser) text() string {
	src, start := p.src, p.pos+1
	for i := skipPlain(src, start); i < len(src); i = skipPlain(src, i+1) {
		switch c := src[i]; {
		case c == '"':
			p.pos = i + 1
			return src[start:i]
		case c == '\\' || c < ' ':
			return p.escapedText(start, i)
		}
	}
	return p.unterminated(start-1, len(src))
}

// skipPlain returns the index, at or after i, of the first quote, backslash, control character, or non-ASCII byte. It
// compares eight bytes at a time and may return an earlier index within the last eight bytes of s.
func skipPlain(s string, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, backslash, control := w^'"'*ones, w^'\\'*ones, w-' '*ones
		// The subtractions set the high bit of each smaller byte and, because they borrow, sometimes the high bits of
		// later bytes.
		if found := (w | control | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// escapedText parses the rest of a string, from its first character that needs special treatment.
func (p *parser) escapedText(start, i int) string {
	var b strings.Builder
	b.WriteString(p.src[start:i])
	for i < len(p.src) {
		switch c := p.src[i]; {
		case c == '"':
			p.moveTo(i + 1)
			return b.String()
		case c == '\n' || c == '\r':
			return p.unterminated(start-1, i)
		case c == '\\' && i+1 < len(p.src) && (p.src[i+1] == '\n' || p.src[i+1] == '\r'):
			return p.unterminated(start-1, i+1)
		case c == '\\':
			i = p.escape(&b, i)
		case c < ' ':
			p.fix(StringFault, i, i+1, escapeOf(rune(c)), "escape the character", "unescaped character U+%04X in a string", c)
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return p.unterminated(start-1, len(p.src))
}

// unterminated reports a string without a closing quote on its line.
func (p *parser) unterminated(open, end int) string {
	p.fail(Fault{Code: StringFault, Offset: open, End: end, Message: "unterminated string"})
	return ""
}

// escape parses an escape sequence at i and returns the index after it.
func (p *parser) escape(b *strings.Builder, i int) int {
	if i+1 >= len(p.src) {
		return len(p.src)
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if n := strings.IndexByte(from, p.src[i+1]); n >= 0 {
		b.WriteByte(to[n])
		return i + 2
	}
	if p.src[i+1] != 'u' {
		_, n := utf8.DecodeRuneInString(p.src[i+1:])
		p.fault(EscapeFault, i, i+1+n, "%s is not a valid JSON escape sequence; write a backslash as \\\\", shown(p.src[i:i+1+n]))
		return i + 1 + n
	}
	r, ok := hex4(p.src[i+2:])
	if !ok {
		p.fault(EscapeFault, i, i+2, `\u takes four hexadecimal digits`)
		return i + 2
	}
	end := i + 6
	if utf16.IsSurrogate(r) {
		second, _ := hex4(strings.TrimPrefix(p.src[end:], `\u`))
		pair := utf16.DecodeRune(r, second)
		if !strings.HasPrefix(p.src[end:], `\u`) || pair == utf8.RuneError {
			p.fault(EscapeFault, i, end, "unpaired surrogate %s", p.src[i:end])
			return end
		}
		r, end = pair, end+6
	}
	b.WriteRune(r)
	return end
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:4], 16, 16)
	return rune(n), err == nil
}

// otherwiseQuoted parses and reports a string in quotes not allowed in JSON.
func (p *parser) otherwiseQuoted(quotes string) string {
	start, faults := p.pos, len(p.faults.found)
	var b strings.Builder
	_, n := utf8.DecodeRuneInString(p.src[start:])
	i := start + n
	for i < len(p.src) && p.src[i] != '\n' {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		switch {
		case strings.ContainsRune(quotes, r):
			p.moveTo(i + n)
			const message = "strings must be in double quotes"
			switch {
			case !p.settled(",]}:"): // The quote may be part of the string.
				p.fail(Fault{Code: StringFault, Offset: start, End: i + n, Message: message})
			case len(p.faults.found) > faults:
				p.fault(StringFault, start, i+n, message)
			default:
				p.fix(StringFault, start, i+n, quote(b.String()), "use double quotes", message)
			}
			return b.String()
		case r == '\\' && i+1 < len(p.src) && strings.IndexByte(quotes, p.src[i+1]) >= 0:
			b.WriteByte(p.src[i+1])
			i += 2
		case r == '\\' && i+1 < len(p.src) && p.src[i+1] != '\n':
			i = p.escape(&b, i)
		default:
			b.WriteString(p.src[i : i+n])
			i += n
		}
	}
	return p.unterminated(start, i)
}

// quote returns s as a JSON string.
func quote(s string) string { return string(AppendText(nil, s)) }

// AppendText appends s to dst as a JSON string with as few escapes as possible.
func AppendText(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+2), '"')
	done := 0
	for i := skipPlain(s, 0); i < len(s); i = skipPlain(s, i) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		n, escape := 1, ""
		if c < utf8.RuneSelf {
			escape = escapeOf(rune(c))
		} else if r, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			escape = "\ufffd"
		} else {
			n = size
		}
		if escape != "" {
			dst = append(append(dst, s[done:i]...), escape...)
			done = i + n
		}
		i += n
	}
	return append(append(dst, s[done:]...), '"')
}

// escapeOf returns the escape sequence for a control character, quote, or backslash.
func escapeOf(r rune) string {
	const from, to = "\"\\\b\f\n\r\t", `"\bfnrt`
	if i := strings.IndexRune(from, r); i >= 0 {
		return `\` + to[i:i+1]
	}
	const hex = "0123456789abcdef"
	return `\u00` + string([]byte{hex[r>>4&15], hex[r&15]})
}
