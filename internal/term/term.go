// Package term prints to terminals. It provides colors, source snippets, text of known width without control
// characters, and a transient progress line.
package term

import (
	"os"

	"golang.org/x/term"
)

// Stream describes a standard stream. The zero Stream is not a terminal and has no color.
type Stream struct {
	Terminal bool
	Color    bool
	Width    int // in columns; 0 if unknown
	dumb     bool
}

// Inspect returns the properties of stream, which is a terminal only if it is an [*os.File]. Color is the value of a
// flag: "always", "never", or "auto". The last enables color on a terminal unless NO_COLOR is set or TERM is "dumb".
func Inspect(stream any, color string, getenv func(string) string) Stream {
	s := Stream{dumb: getenv("TERM") == "dumb"}
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		s.Terminal = true
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			s.Width = columns
		}
	}
	s.Color = color == "always" || color == "auto" && s.Terminal && !s.dumb && getenv("NO_COLOR") == ""
	return s
}

// Style is the parameter string of an SGR escape sequence, which sets a color or font.
type Style string

// The supported styles.
const (
	Plain      Style = ""
	Bold       Style = "1"
	Dim        Style = "2"
	Red        Style = "31"
	Green      Style = "32"
	Yellow     Style = "33"
	Blue       Style = "34"
	Magenta    Style = "35"
	BoldRed    Style = "1;31"
	BoldYellow Style = "1;33"
	BoldCyan   Style = "1;36"
)

// Paint returns text in the given style if the stream supports color, and text itself if not.
func (s Stream) Paint(style Style, text string) string {
	if !s.Color || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}
