// Package cli is lumi: the tree of its commands, its help, and how errors are printed.
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

// Main runs lumi with the arguments of the process, and returns its exit code. The version is empty in a binary that was not
// released.
func Main(version string) int {
	console.RelaxGC()
	// With nobody left to read, a write fails like any other; the process does not die between two files.
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
			signal.Stop(signals)   // Another signal ends the process at once.
			console.Writing.Lock() // What is being written is waited for; what is read, asked or worked out is not.
			con.Say(console.Interrupted)
			os.Exit(console.ExitFailed)
		}
	}()
	return runCommand(context.Background(), con, newRoot(con), os.Args[1:])
}

// runCommand runs the command of a tree that the arguments name, and returns the exit code.
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
	return sayError(con, err)
}
