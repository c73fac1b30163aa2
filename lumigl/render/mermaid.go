package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/lumigl"
)

// Limits of Mermaid. A web page can raise them, but a diagram cannot.
const (
	MermaidMaxArrows = 500
	MermaidMaxText   = 50_000
)

// Mermaid writes a graph as a Mermaid flowchart.
func Mermaid(w io.Writer, doc lumigl.Document, o Options) error {
	d := draw(doc, o)
	b := bufio.NewWriterSize(w, 64<<10)
	_, _ = b.WriteString("flowchart LR\n")
	for i, f := range d.frames {
		fmt.Fprintf(b, "  subgraph s%d[\"%s\"]\n", i, mermaidText(visible(f.label)))
		for _, at := range f.in {
			d.mermaidNode(b, "    ", at)
		}
		_, _ = b.WriteString("  end\n")
	}
	for _, at := range d.loose {
		d.mermaidNode(b, "  ", at)
	}
	for _, a := range d.arrows {
		lines := slices.Clone(a.lines())
		for i, line := range lines {
			lines[i] = mermaidText(line)
		}
		fmt.Fprintf(b, "  n%d -->|\"%s\"| n%d\n", a.from, strings.Join(lines, "<br/>"), a.to)
	}
	return b.Flush()
}

func (d *drawing) mermaidNode(b *bufio.Writer, indent string, at int32) {
	v := d.vertices[at]
	text := mermaidText(d.label(v))
	if v.Type != "" {
		text += "<br/>" + mermaidText(clip(visible(string(v.Type)), maxName))
	}
	fmt.Fprintf(b, "%sn%d[\"%s\"]\n", indent, at, text)
}

// mermaidText escapes characters that are special in Mermaid or in the Markdown and HTML of its labels.
func mermaidText(s string) string {
	if strings.TrimSpace(s) == "" {
		return "#8203;" // a zero-width space, since Mermaid does not allow empty labels
	}
	var b strings.Builder
	for i, r := range s {
		plain := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == ' ' || r > 0x2000
		// Dashes and dots at the start of a line mark lists, and fa:fa-car is an icon.
		inside := i > 0 && strings.ContainsRune("-:/", r) && !strings.HasSuffix(s[:i], ":fa") || r == '.' && i > 0 && !isDigit(s[i-1])
		if plain || inside {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
