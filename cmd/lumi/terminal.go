package main

import (
	"os"

	"golang.org/x/term"
)

// terminal is what there is to know of where output goes.
type terminal struct {
	interactive bool
	color       bool
	width       int // in columns; zero where it is not known
}

// terminalOf looks at a stream and at the environment.
func terminalOf(w any, getenv func(string) string) terminal {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return terminal{}
	}
	t := terminal{interactive: true}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
		t.width = columns
	}
	t.color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return t
}

func isTerminal(r any) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// The colours, as the parameters of the escape sequence that selects them.
const (
	bold  = "1"
	dim   = "2"
	red   = "1;31"
	green = "32"
	blue  = "34"
	cyan  = "1;36"
)

// paint colours a text, where there is colour.
func (t terminal) paint(color, s string) string {
	if !t.color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
