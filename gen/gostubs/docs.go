package gostubs

import (
	"go/doc/comment"
	"strings"
	"unicode"
)

// docComment returns the documentation of a package or of a declaration as comment lines, which gofmt lays out.
func docComment(text string) []string {
	text = harmless(text)
	// gofmt may have more to do on what it made: it takes some odd lists for code the second time.
	for range 4 {
		next := layOut(text)
		if next == text {
			break
		}
		text = next
	}
	return commentLines(text)
}

// layOut makes of a documentation what gofmt makes of it.
func layOut(text string) string {
	if plain(text) {
		return text
	}
	var parser comment.Parser
	var printer comment.Printer
	return trimLines(string(printer.Comment(parser.Parse(text))))
}

// innerComment returns the documentation of a field or of a constant in a group as comment lines, which gofmt leaves as
// they are.
func innerComment(text string) []string { return commentLines(harmless(text)) }

// plain reports whether gofmt leaves a documentation alone for sure: one paragraph whose lines all start with a letter,
// without quotes that gofmt might turn.
func plain(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || !isLetter(line[0]) || strings.Contains(line, "``") || strings.Contains(line, "''") {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// harmless takes from documentation what would mean something to Go's tools. Behind the space that follows the comment
// marker no line is a directive, but the old kind of build tag is one in spite of the space.
func harmless(text string) string {
	lines := strings.Split(trimLines(strings.ReplaceAll(text, "\r", "")), "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "+build"); ok {
			lines[i] = "`+build`" + rest
		}
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}

// trimLines cuts off the white space at the end of every line, and the blank lines at the end of the text.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// commentLines puts the comment marker before every line.
func commentLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case line == "":
			lines[i] = "//"
		case line[0] == '\t':
			lines[i] = "//" + line
		default:
			lines[i] = "// " + line
		}
	}
	return lines
}
