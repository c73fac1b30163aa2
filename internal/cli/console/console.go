// Package console is what surrounds a command: its streams, prompts, progress and interrupts, how it is called, and exit codes.
package console

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

// Console is what surrounds a command: its streams, what is known of the terminal, and its arguments.
type Console struct {
	Stdin io.Reader
	// Stdout is flushed when the command has ended. Its errors need no looking at: they stick to it until then.
	Stdout *bufio.Writer
	// Unbuffered is what stdout writes to.
	Unbuffered io.Writer
	Stderr     io.Writer
	Getenv     func(string) string

	Out, Err        term.Stream // standard output and standard error
	StdinIsTerminal bool        // whether standard input is a terminal
	JSON            bool        // --json
	Version         string      // of lumi, empty if it was not released
	Args            []string    // the arguments that are no flags
	errWritten      bool        // whether anything was said, for the empty line between faults
	Progress        *term.Progress
	Interrupt       atomic.Pointer[func()] // what a command does when it is interrupted, if not to end
}

// New returns a console with the streams of a process. What is written to standard output is buffered.
func New(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *Console {
	con := &Console{
		Stdin: stdin, Getenv: getenv,
		Out: term.Inspect(stdout, "auto", getenv), Err: term.Inspect(stderr, "auto", getenv),
		StdinIsTerminal: term.Inspect(stdin, "auto", getenv).Terminal,
	}
	con.Progress = term.NewProgress(stderr, con.Err, time.Now())
	if con.Out.Terminal {
		stdout = con.Progress.Before(stdout)
	}
	// The filter is the net for all ways to a terminal; what is printed elsewhere, too, or has a width, is made visible before.
	con.Unbuffered = &abandoned{w: stdout}
	con.Stdout = bufio.NewWriterSize(con.Out.Filter(con.Unbuffered), 64<<10)
	con.Stderr = con.Progress.Before(con.Err.Filter(stderr))
	return con
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

// Interruptible returns a context that the first interrupt cancels, instead of ending the process, so that a command can
// clean up. The function that it returns ends that.
func (con *Console) Interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	end := con.OnInterrupt(func() {
		con.Interrupt.Store(nil)
		con.Say(CleaningUp)
		cancel()
	})
	return ctx, func() {
		end()
		cancel()
	}
}

// OnInterrupt has interrupts call f, instead of ending the process, until the function that it returns is called.
func (con *Console) OnInterrupt(f func()) (end func()) {
	con.Interrupt.Store(&f)
	return func() { con.Interrupt.Store(nil) }
}

// OnInterrupts has interrupts call one function after the other, until the process ends. A further one leaves at once.
func (con *Console) OnInterrupts(steps ...func()) {
	var times atomic.Int32
	con.OnInterrupt(func() {
		n := int(times.Add(1))
		if n > len(steps) {
			os.Exit(ExitResumable)
		}
		steps[n-1]()
	})
}

// Doing shows the progress of what takes long on a terminal, until there is something else to print.
func (con *Console) Doing(format string, args ...any) { con.Progress.Show(format, args...) }

// Say prints a line on standard error, behind the command's name. That it cannot be printed is no reason to fail.
func (con *Console) Say(format string, args ...any) {
	fmt.Fprintln(con.Stderr, "lumi: "+term.Paragraph(fmt.Sprintf(format, args...)))
}

// Printf prints on standard output.
func (con *Console) Printf(format string, args ...any) { fmt.Fprintf(con.Stdout, format, args...) }

// PrintJSON prints a value on a line of its own on standard output. What could drive a terminal stands there as an
// escape.
func (con *Console) PrintJSON(v any) error {
	line, err := term.JSON(v)
	if err != nil {
		return err
	}
	_, err = con.Stdout.Write(append(line, '\n'))
	return err
}

// Count renders a number of things, in words.
func Count(n int, thing string) string {
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

// What is said when a command is interrupted.
const (
	Interrupted = "interrupted; no file is left incomplete"
	CleaningUp  = "interrupted; cleaning up (interrupt again to exit immediately)"
)
