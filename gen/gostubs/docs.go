package gostubs

import (
	"go/doc/comment"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// document emits the documentation of what follows inside a declaration, if there is any. The tab makes gofmt leave it as
// it is: without indentation it would pass for documentation of the whole declaration, and be laid out.
func document(g *jen.Group, text string) {
	if text = harmless(text); text != "" {
		g.Op("\t").Comment(commentLines(text))
	}
}

// commentLines puts a comment marker before every line, with white space so that no line is a directive.
func commentLines(text string) string { return commentMarkers.Replace("\n" + text)[1:] }

var commentMarkers = strings.NewReplacer("\n\t", "\n//\t", "\n", "\n// ")

// settled returns the documentation of a declaration or a package as gofmt lays it out. Formatting the stub once would
// not do: of some odd lists gofmt makes what it takes for code the next time.
func settled(text string) string {
	text = harmless(text)
	for i := 0; i < 4 && !plain(text); i++ {
		var parser comment.Parser
		var printer comment.Printer
		text = harmless(string(printer.Comment(parser.Parse(text))))
	}
	return text
}

// plain reports whether gofmt lays out documentation once and for all, as it does where no line starts like code or an
// item of a list.
func plain(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && (line[0]|0x20 < 'a' || line[0]|0x20 > 'z') { // no ASCII letter
			return false
		}
	}
	return true
}

// harmless removes from documentation white space at the ends of lines, blank lines at both ends, and what means
// something to Go's tools even in a comment with a space before it: the old form of a build tag.
func harmless(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "+build"); ok {
			lines[i] = "`+build`" + rest
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
