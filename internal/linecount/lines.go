package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// goLines counts the lines of a Go file that hold code: anything but blanks and comments.
func goLines(name string, src []byte) (int, error) {
	var (
		s        scanner.Scanner
		problems scanner.ErrorList
		lines    = map[int]bool{}
		file     = token.NewFileSet().AddFile(name, -1, len(src))
	)
	s.Init(file, src, problems.Add, 0) // without comments
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines), problems.Err()
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // which stands for the end of a line
		}
		first := file.Line(pos)
		for i := range strings.Count(text, "\n") + 1 {
			lines[first+i] = true
		}
	}
}

// tsLines counts the lines of a TypeScript file that hold code. It relies on comments in blocks having lines of their
// own, as they have where cidlc wrote them, and says so if one has not.
func tsLines(name string, src []byte) (int, error) {
	count, comment := 0, false
	for i, line := range bytes.Split(src, []byte("\n")) {
		line = bytes.TrimSpace(line)
		switch {
		case comment || bytes.HasPrefix(line, []byte("/*")):
			end := bytes.Index(line, []byte("*/"))
			if end >= 0 && end != len(line)-2 {
				return 0, fmt.Errorf("%s:%d: there is code behind a comment", name, i+1)
			}
			comment = end < 0
		case len(line) > 0 && !bytes.HasPrefix(line, []byte("//")):
			count++
		}
	}
	if comment {
		return 0, errors.New(name + ": a comment has no end")
	}
	return count, nil
}
