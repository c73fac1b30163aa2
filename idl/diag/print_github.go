package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
)

// GitHub prints a workflow command for each diagnostic, in the given order. GitHub Actions shows them as annotations on
// pull requests. Notes and the suggestion are part of the message. The error is the writer's.
func GitHub(w io.Writer, list []Diagnostic) error {
	out := bufio.NewWriter(w)
	for _, d := range list {
		start, end := d.Span.Start, d.Span.End
		_, _ = fmt.Fprintf(out, "::%s file=%s", d.Severity, property.Replace(term.Visible(start.File)))
		if start.Line > 0 {
			_, _ = fmt.Fprintf(out, ",line=%d,endLine=%d", start.Line, max(start.Line, end.Line))
			if start.Line == end.Line { // GitHub rejects columns of multi-line spans
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

// Escapes of workflow commands in messages and property values.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
