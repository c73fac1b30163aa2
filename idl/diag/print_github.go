package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
)

// GitHub prints each diagnostic as a GitHub Actions workflow command, in the given order. GitHub shows them as
// annotations on pull requests. The message includes the notes and the suggestion. It returns the first write error.
func GitHub(w io.Writer, list []Diagnostic) error {
	out := bufio.NewWriter(w)
	for _, d := range list {
		start, end := d.Span.Start, d.Span.End
		_, _ = fmt.Fprintf(out, "::%s file=%s", d.Severity, property.Replace(term.Visible(start.File)))
		if start.Line > 0 {
			_, _ = fmt.Fprintf(out, ",line=%d,endLine=%d", start.Line, max(start.Line, end.Line))
			if start.Line == end.Line { // GitHub rejects columns for multi-line spans
				_, _ = fmt.Fprintf(out, ",col=%d,endColumn=%d", start.Column, end.Column)
			}
		}
		text := []string{d.Message}
		for _, n := range d.Notes {
			text = append(text, strings.TrimPrefix(place(n.Span.Start)+": note: ", ": ")+n.Message)
		}
		if d.Suggestion != "" {
			text = append(text, "help: "+d.Suggestion)
		}
		for i := range text {
			text[i] = message.Replace(term.Paragraph(text[i]))
		}
		_, _ = fmt.Fprintf(out, ",title=%s::%s\n", property.Replace(string(d.Code)), strings.Join(text, "%0A"))
	}
	return out.Flush()
}

// These replacers escape messages and property values of workflow commands.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
