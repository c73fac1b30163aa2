package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/lumi-idl/lumi/internal/status"
	"github.com/lumi-idl/lumi/internal/visible"
)

// environment is what surrounds a command: its streams, what is known of the terminal, and its arguments.
type environment struct {
	stdin io.Reader
	// stdout is flushed when the command has ended. Its errors need no looking at: they stick to it until then.
	stdout *bufio.Writer
	stderr io.Writer
	getenv func(string) string

	out, err   terminal // what is known of standard output and of standard error
	in         bool     // whether standard input is a terminal
	json       bool     // --json
	args       []string // the arguments that are no flags
	errWritten bool     // whether anything was said, for the empty line between faults
	status     *status.Line
}

func newEnvironment(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *environment {
	e := &environment{
		stdin: stdin, getenv: getenv,
		out: terminalOf(stdout, getenv), err: terminalOf(stderr, getenv), in: isTerminal(stdin),
	}
	live := e.err.interactive && getenv("TERM") != "dumb"
	e.status = status.New(stderr, live, time.Now())
	if live {
		stderr = clearing{e.status, stderr}
	}
	if live && e.out.interactive {
		stdout = clearing{e.status, stdout}
	}
	e.stdout, e.stderr = bufio.NewWriterSize(&abandoned{w: stdout}, 64<<10), stderr
	return e
}

// abandoned is an output that its reader may leave, as in 'lumi show FILE | head'. That is what the reader wanted: the
// rest is dropped, and the exit code still says what was found.
type abandoned struct {
	w    io.Writer
	left bool
}

func (a *abandoned) Write(text []byte) (int, error) {
	if a.left {
		return len(text), nil
	}
	n, err := a.w.Write(text)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		a.left = true
		return len(text), nil
	}
	return n, err
}

// doing says on a terminal what takes long, until there is something else to say.
func (e *environment) doing(format string, args ...any) {
	text := visible.String(fmt.Sprintf(format, args...))
	if e.err.width > 0 { // A line that is full would wrap, and not go away as a whole.
		const rest = " …"
		text = strings.TrimRight(clipColored(text, max(1, e.err.width-len([]rune(rest))-1)), rest)
	}
	e.status.Show(text)
}

// say prints a line on standard error, behind the command's name. That it cannot be printed is no reason to fail.
func (e *environment) say(format string, args ...any) {
	fmt.Fprintln(e.stderr, "lumi: "+visible.Paragraph(fmt.Sprintf(format, args...)))
}

// printf prints on standard output.
func (e *environment) printf(format string, args ...any) { fmt.Fprintf(e.stdout, format, args...) }

// printJSON prints a value on a line of its own on standard output. What could drive a terminal stands there as an
// escape.
func (e *environment) printJSON(v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := e.stdout.Write(append(escapeHidden(bytes.TrimSuffix(line.Bytes(), []byte("\n"))), '\n'))
	return err
}

// count renders a number of things, in words.
func count(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "ry"):
		thing = strings.TrimSuffix(thing, "y") + "ies"
	case thing == "vertex":
		thing = "vertices"
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
