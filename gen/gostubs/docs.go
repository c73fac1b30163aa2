package gostubs

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// comment returns documentation as comments, one a line.
func comment(text string) []jen.Code {
	var lines []jen.Code
	for _, line := range commentLines(text) {
		lines = append(lines, jen.Comment(line))
	}
	return lines
}

// commentLines puts the comment marker before every line of a documentation. Behind the space that follows it, no line
// can be a directive to the compiler, except that the old kind of build tag is one in spite of the space.
func commentLines(text string) []string {
	text = strings.TrimRight(text, " \t\r\n")
	if text == "" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "+build"); ok {
			line = "`+build`" + rest
		}
		switch {
		case line == "":
			lines = append(lines, "//")
		case line[0] == '\t':
			lines = append(lines, "//"+line)
		default:
			lines = append(lines, "// "+line)
		}
	}
	return lines
}
