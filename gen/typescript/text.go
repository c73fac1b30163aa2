package typescript

import (
	"bytes"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

const (
	indent = "    "
	// lineWidth is the maximum width of lines that can be broken, in bytes.
	lineWidth = 120
)

// text is a buffer for TypeScript source.
type text struct{ buf []byte }

func (t *text) put(parts ...string) {
	for _, part := range parts {
		t.buf = append(t.buf, part...)
	}
}

// doc appends a documentation comment. It appends nothing if doc is empty.
func (t *text) doc(indent, doc string) {
	doc = strings.TrimSpace(doc)
	if doc == "" {
		return
	}
	doc = strings.ReplaceAll(doc, "*/", `*\/`)
	// On a single line, text such as "@ts-ignore" would be a compiler directive.
	if !strings.Contains(doc, "\n") && !strings.HasPrefix(doc, "@") && len(indent)+len(doc)+len("/**  */") <= lineWidth {
		t.put(indent, "/** ", doc, " */\n")
		return
	}
	t.put(indent, "/**\n")
	for line := range strings.SplitSeq(doc, "\n") {
		t.put(strings.TrimRight(indent+" * "+line, " \t\r"), "\n")
	}
	t.put(indent, " */\n")
}

// from appends the names and the source of an import or export, on one line if it fits.
func (t *text) from(names []string, specifier string) {
	source := " from " + quote(specifier) + ";\n"
	t.putFitting(
		"{ "+strings.Join(names, ", ")+" }"+source,
		"{\n"+indent+strings.Join(names, ",\n"+indent)+",\n}"+source)
}

// putFitting appends line if it fits on the current line, and lines otherwise. Both include the line break at the end.
func (t *text) putFitting(line, lines string) {
	start := bytes.LastIndexByte(t.buf, '\n') + 1
	if len(t.buf)-start+len(line)-1 <= lineWidth {
		t.put(line)
	} else {
		t.put(lines)
	}
}

var quote = schema.TSQuote
