// Package tutorial executes documentation: it extracts the fenced blocks of a page, writes its files, runs its commands,
// and compares their output.
package tutorial

import (
	"fmt"
	"regexp"
	"strings"
)

// Step is a fenced block of a page.
type Step struct {
	// Line is the line on which the block begins.
	Line int
	Kind Kind
	// File is the path of the file for WriteFile and AppendFile.
	File string
	// Text is the content of the block: commands, a file's content, or the expected output of the previous commands.
	Text string
}

// Kind is the action for a block.
type Kind int

// The kinds of steps. The info string after the fence selects one.
const (
	// RunCommands runs shell commands: ```sh
	RunCommands Kind = iota
	// WriteFile writes a file named after its language: ```go idl/bucket.go
	WriteFile
	// ExpectOutput compares the output of the previous commands: ```text
	ExpectOutput
	// AppendFile appends to a file from an earlier block: ```go idl/bucket.go more
	AppendFile
)

// Steps returns the fenced blocks of the section with the given heading, in order, or of the whole page if the heading
// is empty. It returns an error if there are none, or if a block is unterminated or has an invalid info string.
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

// varying matches volatile output: durations, and the kit's own lines in the output of go test.
var varying = regexp.MustCompile(`(\sin)?\s(\d+m)?\d+(\.\d+)?m?s\b|\(\d+\.\d+s\)|harness\.go:\d+|\s\(cached\)`)

// Resembles reports whether output matches a page. In want, a line with only … matches any number of lines, and … in a line
// any text. Durations, indentation, and the versions printed by go get are ignored.
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
