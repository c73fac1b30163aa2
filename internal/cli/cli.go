// Package cli implements the lumi command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Main runs lumi with the arguments of the process and returns its exit code. Version is empty in unreleased binaries.
func Main(version string) int {
	console.RelaxGC()
	// If the reader of a pipe is gone, writes should fail with EPIPE. SIGPIPE could kill the process between the writes
	// of two files.
	signal.Ignore(syscall.SIGPIPE)
	con := console.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	con.Version = version
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			if interrupt := con.Interrupt.Load(); interrupt != nil {
				(*interrupt)()
				continue
			}
			signal.Stop(signals)   // a second signal kills the process
			console.Writing.Lock() // wait for writes in progress, but not for reads, prompts, or computations
			con.Say(console.Interrupted)
			os.Exit(console.ExitFailed)
		}
	}()
	return runCommand(context.Background(), con, newRoot(con), os.Args[1:])
}

// runCommand runs the command selected by args and returns its exit code.
func runCommand(ctx context.Context, con *console.Console, root *cobra.Command, args []string) int {
	defer con.Progress.Clear()
	err := dispatch(ctx, con, root, args)
	if flushed := con.Stdout.Flush(); flushed != nil {
		err = fmt.Errorf("cannot write to standard output: %w", flushed)
	}
	switch {
	case err == nil:
		return console.ExitOK
	case errors.Is(err, console.ErrWrong):
		return console.ExitWrong
	case errors.Is(err, console.ErrAsks):
		return console.ExitAsks
	case errors.Is(err, console.ErrResumable):
		return console.ExitResumable
	case errors.Is(err, console.ErrFailed):
		return console.ExitFailed
	}
	return printError(con, err)
}
