package main

import (
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// sayError prints an error, and returns the exit code.
func (e *console) sayError(err error) int {
	if wrong, ok := errors.AsType[*plan.Error](err); ok {
		e.printPlanError(wrong)
		return exitWrong
	}
	if wrong, ok := errors.AsType[*taskgraph.Error](err); ok {
		e.printTaskErrors(wrong)
		return exitWrong
	}
	if exit, ok := errors.AsType[*program.ExitError](err); ok {
		return min(exit.Code, exitFailed) // The program has said why.
	}
	e.say("%s", err)
	_, isRefused := errors.AsType[*job.RefusedError](err)
	if _, ok := errors.AsType[*service.Error](err); ok || isRefused || errors.Is(err, errUnchanged) {
		return exitWrong
	}
	if _, ok := errors.AsType[*secret.KeyError](err); ok {
		return exitAsks
	}
	return exitFailed
}

// printPlanError prints what prevents a deployment, with the lines of the program that it is about.
func (e *console) printPlanError(err *plan.Error) {
	for _, f := range err.Faults {
		e.separate()
		where, what := "", ""
		if f.Source != "" {
			where = e.err.Paint(term.Bold, term.Visible(f.Source)+":") + " "
		}
		if f.URN != "" {
			what = fmt.Sprintf("%s %q: ", f.URN.Type(), f.URN.Name())
		}
		fmt.Fprintln(e.stderr, where+e.err.Paint(term.BoldRed, "error:")+" "+term.Paragraph(what+f.Message))
	}
}
