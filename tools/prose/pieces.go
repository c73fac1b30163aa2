package main

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// piece is a comment, a string literal, or a line of Markdown, and the number of its first line.
type piece struct {
	line int
	text string
}

// pieces returns the prose in a source file with the given extension.
func pieces(extension string, source []byte) []piece {
	switch extension {
	case ".go":
		return goPieces(source)
	case ".md":
		return markdownPieces(string(source))
	case ".sh":
		return matches(shellProse, string(source))
	}
	return matches(scriptProse, string(source))
}

func goPieces(source []byte) []piece {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	var found []piece
	for {
		pos, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return found
		case token.COMMENT, token.STRING:
			found = append(found, piece{file.Line(pos), strings.ReplaceAll(text, "says=", "=")}) // an option of the IDL
		}
	}
}

// markdownPieces returns the lines that are neither in fenced code blocks nor indented by four spaces.
func markdownPieces(source string) []piece {
	var found []piece
	fence := ""
	for i, line := range strings.Split(source, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case strings.HasPrefix(text, "```"):
			fence = "```"
		case !strings.HasPrefix(line, "    "):
			found = append(found, piece{i + 1, line})
		}
	}
	return found
}

// The expressions also match string literals, which could otherwise be mistaken for comments.
var (
	scriptProse = regexp.MustCompile("(?s)/\\*.*?\\*/|//[^\n]*|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`")
	shellProse  = regexp.MustCompile(`(?m)^\s*#.*$|"(?:[^"\\]|\\.)*"|'[^']*'`)
)

func matches(prose *regexp.Regexp, source string) []piece {
	var found []piece
	for _, at := range prose.FindAllStringIndex(source, -1) {
		found = append(found, piece{1 + strings.Count(source[:at[0]], "\n"), source[at[0]:at[1]]})
	}
	return found
}
