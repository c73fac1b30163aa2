// Package tutorial reads the tutorial out of the README, so that a test can do what the tutorial says.
package tutorial

import (
	"fmt"
	"strings"
)

// Step is one fenced block of the tutorial.
type Step struct {
	// Line is where the block begins in the document.
	Line int
	Kind Kind
	// File is the path of the file to write, for a WriteFile.
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
)

// Steps returns the fenced blocks of the section with the given heading, in order. It is an error if there is no such
// section, if a block does not end, or if it says nothing about what to do with it.
func Steps(markdown, heading string) ([]Step, error) {
	var steps []Step
	inSection, inBlock := false, false
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
		case strings.HasPrefix(line, "## "):
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
	case len(info) == 1 && info[0] == "sh":
		return Step{Kind: RunCommands}, nil
	case len(info) == 1 && info[0] == "text":
		return Step{Kind: ExpectOutput}, nil
	}
	return Step{}, fmt.Errorf("a block is sh, text, or a language and the path of a file, not %q", strings.Join(info, " "))
}
