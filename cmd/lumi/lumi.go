package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs lumi with the arguments of the process, and returns its exit code. The version is empty in a binary that was not
// released.
func Main(version string) int {
	relaxGC()
	// With nobody left to read, a write fails like any other; the process does not die between two files.
	signal.Ignore(syscall.SIGPIPE)
	env := newConsole(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	env.version = version
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			if interrupt := env.interrupt.Load(); interrupt != nil {
				(*interrupt)()
				continue
			}
			signal.Stop(signals) // Another signal ends the process at once.
			writing.Lock()       // What is being written is waited for; what is read, asked or worked out is not.
			env.say(interrupted)
			os.Exit(exitFailed)
		}
	}()
	return env.run(context.Background(), newRoot(env), os.Args[1:])
}

// writing is locked while a file is being replaced. It is one for the whole process, as signals are.
var writing sync.Mutex

const (
	interrupted = "interrupted; nothing is half written"
	cleaningUp  = "interrupted; cleaning up (interrupt again to stop at once)"
)

// The exit codes.
const (
	exitOK        = 0 // all is well
	exitWrong     = 1 // what was looked at is not as it should be; each command says what it means by that
	exitFailed    = 2 // the command could not do its work
	exitAsks      = 3 // a deployment needs an answer or a key
	exitResumable = 4 // a deployment was interrupted, or waits
)

// errWrong says no more than which exit code is due: what there is to say has been said.
var errWrong = errors.New("what was looked at is not as it should be")

// errFailed is for failures that have been said too.
var errFailed = errors.New("the command failed")

// errAsks and errResumable end with their exit codes what has been said.
var (
	errAsks      = errors.New("a deployment needs an answer")
	errResumable = errors.New("a deployment can be resumed")
)

// run runs the command of a tree that the arguments name, and returns the exit code.
func (e *console) run(ctx context.Context, root *cobra.Command, args []string) int {
	defer e.progress.Clear()
	err := e.dispatch(ctx, root, args)
	if flushed := e.stdout.Flush(); flushed != nil {
		err = fmt.Errorf("cannot write to standard output: %w", flushed)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errWrong):
		return exitWrong
	case errors.Is(err, errAsks):
		return exitAsks
	case errors.Is(err, errResumable):
		return exitResumable
	case errors.Is(err, errFailed):
		return exitFailed
	}
	return e.sayError(err)
}
