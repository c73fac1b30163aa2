package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
)

// TextOptions configures [Text].
type TextOptions struct {
	// Source returns the content of a file. Source lines are omitted if Source is nil or returns an error.
	Source func(file string) ([]byte, error)
	// Color enables color escape sequences.
	Color bool
	// Width is the terminal's width in columns. Longer source lines are clipped around the span. Zero means 100
	// columns.
	Width int
}

// Text prints diagnostics in readable form, in the order given. Each begins with a line such as
//
//	idl/ec2/vpc.go:12:3: error UnknownOption: unknown tag option "optinal"
//
// and continues with the source line, carets under the span, the notes, and the suggestion. The last line counts errors
// and warnings. Nothing is printed for an empty list. Control characters in sources, file names, and messages are
// replaced with visible ones, so that input cannot control the terminal. The error is the writer's.
func Text(w io.Writer, list []Diagnostic, opts TextOptions) error {
	if len(list) == 0 {
		return nil
	}
	p := &textPrinter{
		Writer: bufio.NewWriter(w), Stream: term.Stream{Color: opts.Color, Width: opts.Width},
		source: opts.Source, files: make(map[string]string),
	}
	for i := range list {
		p.diagnostic(&list[i])
		p.line("")
	}
	p.line("%s", Count(list))
	return p.Flush()
}

// Count formats the number of errors and warnings, as in "2 errors, 1 warning".
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

// textPrinter is the state of one [Text] call. Write errors are sticky; Flush returns the first.
type textPrinter struct {
	*bufio.Writer
	term.Stream
	source func(file string) ([]byte, error)
	files  map[string]string // file contents by name; empty if unreadable
}

// line prints a formatted line. Flush returns any write error.
func (p *textPrinter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format+"\n", args...)
}

func (p *textPrinter) diagnostic(d *Diagnostic) {
	style := term.BoldRed
	if d.Severity == Warning {
		style = term.BoldYellow
	}
	kind := string(d.Severity)
	if d.Code != "" {
		kind += " " + string(d.Code)
	}
	p.headed(d.Span, p.Paint(style, term.Visible(kind)+":"), d.Message, style)
	for _, n := range d.Notes {
		p.headed(n.Span, p.Paint(term.BoldCyan, "note:"), n.Message, term.BoldCyan)
	}
	if d.Suggestion != "" {
		p.line("%s %s", p.Paint(term.BoldCyan, "help:"), term.Paragraph(d.Suggestion))
	}
}

// headed prints a message with its position and kind, followed by the source line.
func (p *textPrinter) headed(span Span, kind, message string, style term.Style) {
	if where := place(span.Start); where != "" {
		kind = p.Paint(term.Bold, where+":") + " " + kind
	}
	p.line("%s %s", kind, term.Paragraph(message))
	p.snippet(span, style)
}

// place formats a position, omitting unknown parts.
func place(pos Position) string {
	file := term.Visible(pos.File)
	switch {
	case pos.Line <= 0:
		return file
	case pos.Column <= 0:
		return fmt.Sprintf("%s:%d", file, pos.Line)
	}
	return fmt.Sprintf("%s:%d:%d", file, pos.Line, pos.Column)
}

// snippet prints the source line of a span, or the first and last line of a longer one. It prints nothing if the source
// is unavailable.
func (p *textPrinter) snippet(span Span, style term.Style) {
	file := span.Start.File
	text, read := p.files[file]
	if !read && file != "" && p.source != nil {
		content, _ := p.source(file) // the source line is omitted if the file is unreadable
		text = string(content)
		p.files[file] = text
	}
	from, to := offset(text, span.Start), -1
	if from < 0 || text == "" {
		return
	}
	if span.Start.Column > 0 {
		to = max(from, offset(text, span.End))
	}
	s := term.Snippet{Stream: p.Stream, Source: text}
	s.Print(p, span.Start.Line, from, to, style)
}

// offset returns the byte offset of a position, clamped to the end of its line. It returns -1 if the line does not
// exist.
func offset(text string, pos Position) int {
	if pos.Line < 1 {
		return -1
	}
	start := 0
	for range pos.Line - 1 {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return -1
		}
		start += i + 1
	}
	line, _, _ := strings.Cut(text[start:], "\n")
	return start + min(max(0, pos.Column-1), len(line))
}
