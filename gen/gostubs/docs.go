package gostubs

import (
	"go/doc/comment"
	"strings"
)

// docComment returns the documentation of a package or of a declaration as comment lines, which gofmt lays out.
func docComment(text string) []string {
	text = harmless(text)
	if !plain(text) {
		var parser comment.Parser
		var printer comment.Printer
		text = string(printer.Comment(parser.Parse(text)))
	}
	return commentLines(text)
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
	text = strings.Trim(strings.ReplaceAll(text, "\r", ""), "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "+build"); ok {
			line = "`+build`" + rest
		}
		lines[i] = line
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// commentLines puts the comment marker before every line.
func commentLines(text string) []string {
	text = strings.TrimRight(text, "\n")
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
