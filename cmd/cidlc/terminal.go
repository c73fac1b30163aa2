package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal is what there is to know of where standard error goes.
type terminal struct {
	interactive bool
	color       bool
	width       int // of source lines in diagnostics; zero where it is not known
}

// terminalOf looks at a writer, at the value of --color, and at the environment.
func terminalOf(w io.Writer, color string, getenv func(string) string) terminal {
	var t terminal
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.interactive = getenv("TERM") != "dumb"
		const gutter = 12
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			t.width = max(40, columns-gutter)
		}
	}
	t.color = color == "always" || color == "auto" && t.interactive && getenv("NO_COLOR") == ""
	return t
}
