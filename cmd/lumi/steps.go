package main

import (
	"fmt"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl/repair"
)

// printStep says on standard error what was done to a file, or would be.
func (e *environment) printStep(name, what string, s repair.Step) {
	where := term.Visible(name)
	switch {
	case s.Line > 0:
		where = fmt.Sprintf("%s:%d:%d", where, s.Line, s.Column)
	case s.Pointer != "":
		where += " at " + term.Visible(s.Pointer)
	}
	e.errWritten = true
	fmt.Fprintf(e.stderr, "%s %s %s\n", e.err.Paint(term.Bold, where+":"), e.err.Paint(term.BoldCyan, what+":"), term.Paragraph(s.Message))
}

// jsonStep is a step of a repair for programs.
type jsonStep struct {
	Kind    repair.Kind `json:"kind"`
	Line    int         `json:"line,omitempty"`
	Column  int         `json:"column,omitempty"`
	Pointer string      `json:"pointer"`
	Message string      `json:"message"`
}

func jsonSteps(steps []repair.Step) []jsonStep {
	list := make([]jsonStep, 0, len(steps))
	for _, s := range steps {
		list = append(list, jsonStep{s.Kind, s.Line, s.Column, s.Pointer, s.Message})
	}
	return list
}
