// Command lumi works on LumiGL files: the graphs that programs evaluate to and the snapshots that deployments leave.
//
//	lumi COMMAND [flags] [arguments]
//
// The manual is what 'lumi help' prints, and docs/lumi.md.
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

func main() {
	relaxGC()
	// With nobody left to read, a write fails like any other; the process does not die between two files.
	signal.Ignore(syscall.SIGPIPE)
	env := newEnvironment(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // A second signal ends the process at once.
		if cancel := env.cancel.Load(); cancel != nil {
			env.say(cleaningUp)
			(*cancel)()
			return
		}
		writing.Lock() // What is being written is waited for; what is read, asked or worked out is not.
		env.say(interrupted)
		os.Exit(exitFailed)
	})
	os.Exit(env.run(context.Background(), newRoot(env), os.Args[1:]))
}

// writing is locked while a file is being replaced. It is one for the whole process, as signals are.
var writing sync.Mutex

const (
	interrupted = "interrupted; every file is as it was or as it should be"
	cleaningUp  = "interrupted; cleaning up (interrupt again to stop at once)"
)

// The exit codes.
const (
	exitOK     = 0 // all is well
	exitWrong  = 1 // what was looked at is not as it should be; each command says what it means by that
	exitFailed = 2 // the command could not do its work
)

// errWrong says no more than which exit code is due: what there is to say has been said.
var errWrong = errors.New("what was looked at is not as it should be")

// errFailed is for failures that have been said too.
var errFailed = errors.New("the command failed")

// run runs the command of a tree that the arguments name, and returns the exit code.
func (e *environment) run(ctx context.Context, root *cobra.Command, args []string) int {
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
	case errors.Is(err, errFailed):
	default:
		e.say("%s", err)
	}
	return exitFailed
}
