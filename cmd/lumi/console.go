package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lumi-idl/lumi/internal/term"
)

// console is what surrounds a command: its streams, what is known of the terminal, and its arguments.
type console struct {
	stdin io.Reader
	// stdout is flushed when the command has ended. Its errors need no looking at: they stick to it until then.
	stdout *bufio.Writer
	// unbuffered is what stdout writes to.
	unbuffered io.Writer
	stderr     io.Writer
	getenv     func(string) string

	out, err   term.Stream // standard output and standard error
	in         bool        // whether standard input is a terminal
	json       bool        // --json
	version    string      // of lumi, empty if it was not released
	args       []string    // the arguments that are no flags
	errWritten bool        // whether anything was said, for the empty line between faults
	progress   *term.Progress
	interrupt  atomic.Pointer[func()] // what a command does when it is interrupted, if not to end
}

func newConsole(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *console {
	e := &console{
		stdin: stdin, getenv: getenv,
		out: term.Inspect(stdout, "auto", getenv), err: term.Inspect(stderr, "auto", getenv),
		in: term.Inspect(stdin, "auto", getenv).Terminal,
	}
	e.progress = term.NewProgress(stderr, e.err, time.Now())
	if e.out.Terminal {
		stdout = e.progress.Before(stdout)
	}
	// The filter is the net for all ways to a terminal; what is printed elsewhere, too, or has a width, is made visible before.
	e.unbuffered = &abandoned{w: stdout}
	e.stdout = bufio.NewWriterSize(e.out.Filter(e.unbuffered), 64<<10)
	e.stderr = e.progress.Before(e.err.Filter(stderr))
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

// interruptible returns a context that the first interrupt cancels, instead of ending the process, so that a command can
// clean up. The function that it returns ends that.
func (e *console) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	end := e.onInterrupt(func() {
		e.interrupt.Store(nil)
		e.say(cleaningUp)
		cancel()
	})
	return ctx, func() {
		end()
		cancel()
	}
}

// onInterrupt has interrupts call f, instead of ending the process, until the function that it returns is called.
func (e *console) onInterrupt(f func()) (end func()) {
	e.interrupt.Store(&f)
	return func() { e.interrupt.Store(nil) }
}

// onInterrupts has interrupts call one function after the other, until the process ends. A further one leaves at once.
func (e *console) onInterrupts(steps ...func()) {
	var times atomic.Int32
	e.onInterrupt(func() {
		n := int(times.Add(1))
		if n > len(steps) {
			os.Exit(exitResumable)
		}
		steps[n-1]()
	})
}

// doing shows the progress of what takes long on a terminal, until there is something else to print.
func (e *console) doing(format string, args ...any) { e.progress.Show(format, args...) }

// say prints a line on standard error, behind the command's name. That it cannot be printed is no reason to fail.
func (e *console) say(format string, args ...any) {
	fmt.Fprintln(e.stderr, "lumi: "+term.Paragraph(fmt.Sprintf(format, args...)))
}

// printf prints on standard output.
func (e *console) printf(format string, args ...any) { fmt.Fprintf(e.stdout, format, args...) }

// printJSON prints a value on a line of its own on standard output. What could drive a terminal stands there as an
// escape.
func (e *console) printJSON(v any) error {
	line, err := term.JSON(v)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(append(line, '\n'))
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
	case strings.HasSuffix(thing, "ch") || strings.HasSuffix(thing, "ss"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
