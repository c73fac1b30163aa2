package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/visible"
)

// TextOptions say how [Text] prints.
type TextOptions struct {
	// Source returns the content of a file that a position names. Where it is nil or fails, source lines are left out.
	Source func(file string) ([]byte, error)
	// Color turns on the escape sequences that colour a terminal.
	Color bool
	// Width is how many columns of a source line are shown; a longer line is cut around the span. Zero means 100.
	Width int
}

// Text prints diagnostics for people, in the order given. Each begins with a line such as
//
//	idl/ec2/vpc.go:12:3: error E0102: unknown option "optinal"
//
// and goes on with the source line, a run of carets under the span, the notes and the suggestion. The last line counts
// errors and warnings. Nothing is printed for an empty list. Control characters in sources, file names and messages
// are made visible, so that no input can drive the terminal. The error returned is the writer's.
func Text(w io.Writer, list []Diagnostic, opts TextOptions) error {
	if len(list) == 0 {
		return nil
	}
	if opts.Width <= 0 {
		opts.Width = 100
	}
	p := &textPrinter{Writer: bufio.NewWriter(w), opts: opts, files: make(map[string][]string)}
	for i := range list {
		p.diagnostic(&list[i])
		p.line("")
	}
	p.line("%s", Count(list))
	return p.Flush()
}

// Count says how many errors and warnings there are, such as "2 errors, 1 warning".
func Count(list []Diagnostic) string {
	errors := Errors(list)
	var parts []string
	for _, c := range []struct {
		n    int
		name string
	}{{errors, "error"}, {len(list) - errors, "warning"}} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.name)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", c.n, c.name))
		}
	}
	if parts == nil {
		return "0 errors"
	}
	return strings.Join(parts, ", ")
}

// textPrinter holds what the lines of one call of Text have in common. Write errors stick to the buffered writer and
// come out when it is flushed.
type textPrinter struct {
	*bufio.Writer
	opts TextOptions
	// files holds the lines of the sources read so far; those of a file that cannot be read are nil.
	files map[string][]string
}

// The colours, as the parameters of the escape sequence that selects them.
const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	blue   = "34"
	cyan   = "1;36"
)

func (p *textPrinter) paint(color, s string) string {
	if !p.opts.Color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// line prints one line. Its errors are those that Flush returns.
func (p *textPrinter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format+"\n", args...)
}

func (p *textPrinter) diagnostic(d *Diagnostic) {
	color := red
	if d.Severity == Warning {
		color = yellow
	}
	kind := string(d.Severity)
	if d.Code != "" {
		kind += " " + string(d.Code)
	}
	p.headed(d.Span, p.paint(color, visible.String(kind)+":"), d.Message, color)
	for _, n := range d.Notes {
		p.headed(n.Span, p.paint(cyan, "note:"), n.Message, cyan)
	}
	if d.Suggestion != "" {
		p.line("%s %s", p.paint(cyan, "help:"), visible.Paragraph(d.Suggestion))
	}
}

// headed prints a message behind its place and its kind, and the source that it is about.
func (p *textPrinter) headed(span Span, kind, message, color string) {
	if where := place(span.Start); where != "" {
		kind = p.paint(bold, where+":") + " " + kind
	}
	p.line("%s %s", kind, visible.Paragraph(message))
	p.snippet(span, color)
}

// place renders a position as far as it is known.
func place(pos Position) string {
	file := visible.String(pos.File)
	switch {
	case pos.Line <= 0:
		return file
	case pos.Column <= 0:
		return fmt.Sprintf("%s:%d", file, pos.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, pos.Line, pos.Column)
}
