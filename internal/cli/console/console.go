// Package console provides the environment of a command: streams, prompts, progress messages, interrupts, usage checks,
// and exit codes.
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

// Console is the environment of a command.
type Console struct {
	Stdin io.Reader
	// Stdout is buffered and flushed when the command ends. Write errors are sticky and reported then.
	Stdout *bufio.Writer
	// Unbuffered is the writer that Stdout writes to.
	Unbuffered io.Writer
	Stderr     io.Writer
	Getenv     func(string) string

	Out, Err        term.Stream // standard output and standard error
	StdinIsTerminal bool        // whether standard input is a terminal
	JSON            bool        // whether --json is set
	Version         string      // the version of lumi, or empty if it is unreleased
	Args            []string    // the arguments without flags
	errWritten      bool        // whether a report was printed on standard error, so that the next one is separated by an empty line
	Progress        *term.Progress
	Interrupt       atomic.Pointer[func()] // the interrupt handler; nil means exit
}

// New returns a console for the streams of a process. Standard output is buffered.
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
	// The filter is only a safety net for terminals. Text that is measured, or written elsewhere, must already be
	// escaped by [term.Visible].
	con.Unbuffered = &abandoned{w: stdout}
	con.Stdout = bufio.NewWriterSize(con.Out.Filter(con.Unbuffered), 64<<10)
	con.Stderr = con.Progress.Before(con.Err.Filter(stderr))
	return con
}

// abandoned silently discards output once the reader has closed the pipe, as in 'lumi show FILE | head'. The exit code
// then still reflects the result of the command.
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

// Interruptible returns a context that is canceled by the first interrupt, which does not exit as usual. The command
// can then clean up. The returned function cancels the context and restores the default.
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

// OnInterrupt makes interrupts call f instead of exiting. The returned function restores the default.
func (con *Console) OnInterrupt(f func()) (end func()) {
	con.Interrupt.Store(&f)
	return func() { con.Interrupt.Store(nil) }
}

// OnInterrupts makes successive interrupts call the given functions in order. The interrupt after the last exits
// immediately.
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

// Doing shows a progress message on a terminal until other output is printed.
func (con *Console) Doing(format string, args ...any) { con.Progress.Show(format, args...) }

// Say prints a line on standard error, prefixed with the command's name. It ignores write errors.
func (con *Console) Say(format string, args ...any) {
	fmt.Fprintln(con.Stderr, "lumi: "+term.Paragraph(fmt.Sprintf(format, args...)))
}

// Printf prints formatted text on standard output.
func (con *Console) Printf(format string, args ...any) { fmt.Fprintf(con.Stdout, format, args...) }

// PrintJSON prints v as a line of JSON on standard output, escaping terminal control characters.
func (con *Console) PrintJSON(v any) error {
	line, err := term.JSON(v)
	if err != nil {
		return err
	}
	_, err = con.Stdout.Write(append(line, '\n'))
	return err
}

// Count formats a number with a singular or plural noun, such as "2 files". Thing is the singular.
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

// Messages printed on interrupts.
const (
	Interrupted = "interrupted; no file is left incomplete"
	CleaningUp  = "interrupted; cleaning up (interrupt again to exit immediately)"
)
