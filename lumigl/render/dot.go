package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/lumigl"
)

// DOT writes a graph in the DOT language. Vertex keys are the node ids.
func DOT(w io.Writer, doc lumigl.Document, o Options) error {
	d := draw(doc, o)
	b := bufio.NewWriterSize(w, 64<<10) // errors are sticky and returned by Flush
	fmt.Fprintf(b, "digraph %s {\n", dotID(d.title))
	_, _ = b.WriteString(`  graph [rankdir=LR, fontname="Helvetica", fontsize=11, color="#9aa4b2", style=rounded];
  node [shape=box, style="rounded,filled", fillcolor="#f4f6fa", color="#5b6b82", fontname="Helvetica", fontsize=11];
  edge [color="#5b6b82", fontname="Helvetica", fontsize=9, arrowsize=0.7];
`)
	for i, f := range d.frames {
		fmt.Fprintf(b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotLabel(visible(f.label)))
		for _, at := range f.in {
			d.dotNode(b, "    ", d.vertices[at])
		}
		_, _ = b.WriteString("  }\n")
	}
	for _, at := range d.loose {
		d.dotNode(b, "  ", d.vertices[at])
	}
	for _, a := range d.arrows {
		fmt.Fprintf(b, "  %s -> %s [label=%s];\n",
			dotID(d.vertices[a.from].Key()), dotID(d.vertices[a.to].Key()), dotLabel(a.lines()...))
	}
	_, _ = b.WriteString("}\n")
	return b.Flush()
}

func (d *drawing) dotNode(b *bufio.Writer, indent string, v *lumigl.Vertex) {
	lines := []string{d.label(v)}
	if v.Type != "" {
		lines = append(lines, clip(visible(string(v.Type)), maxName))
	}
	fmt.Fprintf(b, "%s%s [label=%s];\n", indent, dotID(v.Key()), dotLabel(lines...))
}

// lines returns the lines of an arrow's label: its paths and the number of paths not listed.
func (a *arrow) lines() []string {
	if a.more == 0 {
		return a.paths
	}
	return append(a.paths[:len(a.paths):len(a.paths)], fmt.Sprintf("and %d more", a.more))
}

// dotID quotes an id. The only escape sequence of Graphviz is \", so the quoted form of other characters need only be
// unambiguous.
func dotID(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// dotEscapes escapes labels, in which Graphviz also decodes HTML entities.
var dotEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "&", "&amp;")

func dotLabel(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = dotEscapes.Replace(line)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}
