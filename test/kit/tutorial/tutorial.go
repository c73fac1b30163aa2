// Package tutorial executes documentation: it extracts the fenced code blocks of a page, writes the files, runs the
// commands, and compares their output.
package tutorial

import (
	"fmt"
	"regexp"
	"strings"
)

// Step is a fenced code block on a page.
type Step struct {
	// Line is the number of the block's first line, starting at 1.
	Line int
	Kind Kind
	// File is the path of the file to write, for WriteFile and AppendFile.
	File string
	// Text is the content of the block: commands, file content, or the expected output of the previous commands.
	Text string
}

// Kind selects how a block is executed.
type Kind int

// The kinds of steps, each with an example of the opening fence and its info string.
const (
	// RunCommands runs the block as shell commands: ```sh
	RunCommands Kind = iota
	// WriteFile writes the block to the file named after the language: ```go idl/bucket.go
	WriteFile
	// ExpectOutput compares the block with the output of the previous commands: ```text
	ExpectOutput
	// AppendFile appends the block to an existing file: ```go idl/bucket.go more
	AppendFile
)

// Steps returns the fenced code blocks in the section with the given heading, or on the entire page if heading is empty. It
// returns an error if there are no blocks, or if a block is unterminated or has an invalid info string.
func Steps(markdown, heading string) ([]Step, error) {
	var steps []Step
	inSection, inBlock := heading == "", false
	for i, line := range strings.Split(markdown, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && inBlock:
			inBlock = false
		case isFence && inSection:
			step, err := newStep(strings.Fields(fence))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			step.Line = i + 1
			steps, inBlock = append(steps, step), true
		case inBlock:
			steps[len(steps)-1].Text += line + "\n"
		case strings.HasPrefix(line, "## ") && heading != "":
			inSection = line == "## "+heading
		}
	}
	if inBlock {
		return nil, fmt.Errorf("line %d: unterminated block", steps[len(steps)-1].Line)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("no code blocks in section %q", heading)
	}
	return steps, nil
}

func newStep(info []string) (Step, error) {
	switch {
	case len(info) == 2:
		return Step{Kind: WriteFile, File: info[1]}, nil
	case len(info) == 3 && info[2] == "more":
		return Step{Kind: AppendFile, File: info[1]}, nil
	case len(info) == 1 && info[0] == "sh":
		return Step{Kind: RunCommands}, nil
	case len(info) == 1 && info[0] == "text":
		return Step{Kind: ExpectOutput}, nil
	}
	return Step{}, fmt.Errorf("info string must be sh, text, or a language and a file path, got %q", strings.Join(info, " "))
}

// varying matches output that varies between runs: durations, cached test results, and line numbers in the test kit.
var varying = regexp.MustCompile(`(\sin)?\s(\d+m)?\d+(\.\d+)?m?s\b|\(\d+\.\d+s\)|harness\.go:\d+|\s\(cached\)`)

// Resembles reports whether got matches the expected output on a page. In want, a line consisting of … matches any number
// of lines, and … within a line matches any text. Durations, indentation, and lines that start with "go: " are ignored.
func Resembles(want, got string) bool {
	lines := func(text string) (all []string) {
		for line := range strings.Lines(strings.TrimSpace(varying.ReplaceAllString(text, ""))) {
			if !strings.HasPrefix(line, "go: ") {
				all = append(all, strings.TrimSpace(line))
			}
		}
		return all
	}
	return match(lines(want), lines(got))
}

func match(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "…":
		return match(want[1:], got) || len(got) > 0 && match(want, got[1:])
	case len(got) == 0:
		return false
	}
	line := "^" + strings.ReplaceAll(regexp.QuoteMeta(want[0]), "…", ".*") + "$"
	return regexp.MustCompile(line).MatchString(got[0]) && match(want[1:], got[1:])
}
