package term

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"
)

// Filter returns a writer that keeps text from controlling the terminal. It replaces the same characters as [Visible],
// except line breaks, tabs, and the escape sequences of [Stream.Paint]. Text from other sources may contain these
// sequences too, but they can only change colors and cannot hide text. If s is not a terminal, Filter returns w.
func (s Stream) Filter(w io.Writer) io.Writer {
	if !s.Terminal {
		return w
	}
	return &filter{w: w}
}

// filter is the writer returned by [Stream.Filter]. It holds back an incomplete escape sequence or character until the
// next write, but never holds back text that ends with a line break.
type filter struct {
	mu   sync.Mutex
	w    io.Writer
	held []byte
}

var (
	paints = regexp.MustCompile(`^\x1b\[(0|1|2|3[1-6]|1;3[1-6])m`)
	begun  = regexp.MustCompile(`^\x1b(\[(0|1|1;|2|1?;?3[1-6]?)?)?$`)
)

// Write implements [io.Writer]. The result counts the bytes of text, not of the replacements.
func (f *filter) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := slices.Concat(f.held, text)
	f.held = nil
	out := make([]byte, 0, len(rest))
	for len(rest) > 0 {
		if i := bytes.IndexFunc(rest, func(r rune) bool { return r != '\n' && r != '\t' && visible(r) != r || r == utf8.RuneError }); i != 0 {
			if i < 0 {
				i = len(rest)
			}
			out, rest = append(out, rest[:i]...), rest[i:]
			continue
		}
		size := len(paints.Find(rest))
		if bytes.HasPrefix(rest, []byte("\r\n")) {
			size = len("\r\n")
		}
		switch {
		case size > 0:
			out = append(out, rest[:size]...)
		case !utf8.FullRune(rest) || len(rest) == 1 && rest[0] == '\r' || begun.Match(rest):
			f.held, rest = bytes.Clone(rest), nil
		default:
			var r rune
			r, size = utf8.DecodeRune(rest)
			out = utf8.AppendRune(out, visible(r))
		}
		rest = rest[size:]
	}
	_, err := f.w.Write(out)
	return len(text), err
}
