// Package tutorial executes documentation: it takes the fenced blocks out of a page, writes the files that are among
// them, runs the commands, and compares what these print.
package tutorial

import (
	"fmt"
	"regexp"
	"strings"
)

// Step is one fenced block of a page.
type Step struct {
	// Line is where the block begins in the document.
	Line int
	Kind Kind
	// File is the path of the file, for a WriteFile or an AppendFile.
	File string
	// Text is what stands in the block: commands, the file's content, or what the commands before have to print.
	Text string
}

// Kind says what a reader does with a block.
type Kind int

// The kinds of steps. The first line of a block, behind the fence, tells them apart.
const (
	// RunCommands is for the shell: ```sh
	RunCommands Kind = iota
	// WriteFile is a file, named behind its language: ```go idl/bucket.go
	WriteFile
	// ExpectOutput is what the commands of the block before print: ```text
	ExpectOutput
	// AppendFile is the next part of a file of which an earlier block is the first: ```go idl/bucket.go more
	AppendFile
)

// Steps returns the fenced blocks of the section with the given heading, in order, or those of the whole page if the
// heading is empty. It is an error if there are none, if a block does not end, or if it does not say what to do with it.
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
		return nil, fmt.Errorf("line %d: the block does not end", steps[len(steps)-1].Line)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("there are no blocks in a section %q", heading)
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
	return Step{}, fmt.Errorf("a block is sh, text, or a language and the path of a file, not %q", strings.Join(info, " "))
}

// varying is output that differs from run to run: durations, and the kit's own lines in the output of go test.
var varying = regexp.MustCompile(`(\sin)?\s(\d+m)?\d+(\.\d+)?m?s\b|\(\d+\.\d+s\)|harness\.go:\d+|\s\(cached\)`)

// Resembles reports whether output is what a page expects. In want, a line with … alone is any number of lines, and … in a
// line is any text. Durations, indentation, and what go get says of versions are ignored.
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
