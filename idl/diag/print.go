package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
)

// TextOptions say how [Text] prints.
type TextOptions struct {
	// Source returns the content of a file that a position names. Where it is nil or fails, source lines are left out.
	Source func(file string) ([]byte, error)
	// Color turns on the escape sequences that color a terminal.
	Color bool
	// Width is how many columns the terminal has; a longer source line is cut around the span. If it is zero, 100 columns
	// of a source line are shown.
	Width int
}

// Text prints diagnostics for people, in the order given. Each begins with a line such as
//
//	idl/ec2/vpc.go:12:3: error UnknownOption: unknown tag option "optinal"
//
// and goes on with the source line, a run of carets under the span, the notes and the suggestion. The last line counts
// errors and warnings. Nothing is printed for an empty list. Control characters in sources, file names and messages
// are made visible, so that no input can drive the terminal. The error returned is the writer's.
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
	term.Stream
	source func(file string) ([]byte, error)
	files  map[string]string // the sources read so far, empty if they cannot be read
}

// line prints one line. Its errors are those that Flush returns.
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

// headed prints a message behind its place and its kind, and the source that it is about.
func (p *textPrinter) headed(span Span, kind, message string, style term.Style) {
	if where := place(span.Start); where != "" {
		kind = p.Paint(term.Bold, where+":") + " " + kind
	}
	p.line("%s %s", kind, term.Paragraph(message))
	p.snippet(span, style)
}

// place renders a position as far as it is known.
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

// snippet prints the lines that a span starts and ends on, or nothing if they are unknown.
func (p *textPrinter) snippet(span Span, style term.Style) {
	file := span.Start.File
	text, read := p.files[file]
	if !read && file != "" && p.source != nil {
		content, _ := p.source(file) // A diagnostic is worth printing without its source.
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

// offset returns the offset of a position in a text, at most that of the end of its line, or -1 if there is no such line.
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
