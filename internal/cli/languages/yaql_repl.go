package languages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
)

// keys replaces Ctrl-C, which would end the session, with keys that clear the line.
type keys struct {
	io.Reader
	left []byte
}

func (k *keys) Read(p []byte) (int, error) {
	if len(k.left) == 0 {
		n, err := k.Reader.Read(p)
		if err != nil {
			return n, err
		}
		k.left = bytes.ReplaceAll(p[:n], []byte("\x03"), []byte("\x05\x15\r")) // go to the end, delete to the start, and press Enter
	}
	n := copy(p, k.left)
	k.left = k.left[n:]
	return n, nil
}

// repl evaluates expressions entered on a terminal, until \q or the end of input. Errors do not end the session. Ctrl-C
// only cancels an evaluation or clears the line.
func (e *evaluator) repl(ctx context.Context) error {
	file := e.con.Stdin.(*os.File) // standard input is known to be a terminal
	e.con.Printf("YAQL: $ is the data; \\q quits\n")
	lines := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{Reader: file}, e.con.Unbuffered}, "yaql> ")
	for {
		if err := e.con.Stdout.Flush(); err != nil {
			return err
		}
		line, err := e.readLine(lines, file)
		line = strings.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF):
			e.con.Printf("\n")
			return nil
		case err != nil && !errors.Is(err, term.ErrPasteIndicator):
			return document.FileError(document.StdinName, err)
		case line == `\q`:
			return nil
		case line == "":
			continue
		}
		interruptible, cancel := context.WithCancel(ctx)
		end := e.con.OnInterrupt(cancel)
		_ = e.print(interruptible, line) // errors have already been printed
		end()
		cancel()
	}
}

// readLine reads a line with editing and history. The terminal is in raw mode only during the call, so that Ctrl-C
// interrupts evaluations.
func (e *evaluator) readLine(lines *term.Terminal, file *os.File) (string, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	restore := func() { _ = term.Restore(fd, before) }
	defer restore()
	defer e.con.OnInterrupt(func() {
		restore()
		fmt.Fprintln(e.con.Stderr)
		os.Exit(console.ExitFailed)
	})()
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = lines.SetSize(width, height)
	}
	return lines.ReadLine()
}
