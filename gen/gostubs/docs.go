package gostubs

import (
	"go/doc/comment"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// document emits documentation inside a declaration. The leading tab keeps gofmt from reformatting the text as
// documentation of the whole declaration.
func document(g *jen.Group, text string) {
	if text = harmless(text); text != "" {
		g.Op("\t").Comment(commentLines(text))
	}
}

// commentLines returns text as a comment. Each line has a space after the marker, so that none is a directive.
func commentLines(text string) string { return commentMarkers.Replace("\n" + text)[1:] }

var commentMarkers = strings.NewReplacer("\n\t", "\n//\t", "\n", "\n// ")

// settled formats documentation like gofmt. It formats repeatedly because gofmt turns some unusual lists into text that
// it would format as code the next time.
func settled(text string) string {
	text = harmless(text)
	for i := 0; i < 4 && !plain(text); i++ {
		var parser comment.Parser
		var printer comment.Printer
		text = harmless(string(printer.Comment(parser.Parse(text))))
	}
	return text
}

// plain reports whether gofmt leaves documentation unchanged because no line can be code or a list item.
func plain(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && (line[0]|0x20 < 'a' || line[0]|0x20 > 'z') { // not an ASCII letter
			return false
		}
	}
	return true
}

// harmless removes trailing white space and leading and trailing blank lines. It also quotes old build tags, which Go
// tools recognize even in indented comments.
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
