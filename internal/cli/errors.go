package cli

import (
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/tasks"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// printError prints an error and returns the exit code for it.
func printError(con *console.Console, err error) int {
	if wrong, ok := errors.AsType[*plan.Error](err); ok {
		printPlanError(con, wrong)
		return console.ExitWrong
	}
	if wrong, ok := errors.AsType[*taskgraph.Error](err); ok {
		tasks.PrintErrors(con, wrong)
		return console.ExitWrong
	}
	if exit, ok := errors.AsType[*program.ExitError](err); ok {
		return min(exit.Code, console.ExitFailed) // the program has already printed the reason
	}
	con.Say("%s", err)
	_, isRefused := errors.AsType[*job.RefusedError](err)
	if _, ok := errors.AsType[*service.Error](err); ok || isRefused || errors.Is(err, console.ErrUnchanged) || errors.Is(err, store.ErrCopied) {
		return console.ExitWrong
	}
	if _, ok := errors.AsType[*secret.KeyError](err); ok {
		return console.ExitAsks
	}
	return console.ExitFailed
}

// printPlanError prints the errors that prevent a deployment, with the corresponding program lines.
func printPlanError(con *console.Console, err *plan.Error) {
	for _, f := range err.Faults {
		con.Separate()
		where, what := "", ""
		if f.Source != "" {
			where = con.Err.Paint(term.Bold, term.Visible(f.Source)+":") + " "
		}
		if f.URN != "" {
			what = fmt.Sprintf("%s %q: ", f.URN.Type(), f.URN.Name())
		}
		fmt.Fprintln(con.Stderr, where+con.Err.Paint(term.BoldRed, "error:")+" "+term.Paragraph(what+f.Message))
	}
}
