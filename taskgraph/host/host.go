// Package host runs commands and writes files on nodes: over SSH, or on this machine. A node needs nothing but a POSIX shell
// and its utilities.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Host is a node. It is connected when it is first used, and again after its connection was lost. Its methods may be called
// concurrently.
type Host interface {
	// Run runs a command and returns its exit status.
	//
	// A command with a token runs detached from the connection and records its output and exit status on the node. If a command
	// with its token was started there before, by any process, Run does not start it again: it waits for it, reports its output
	// and returns its status. The error wraps [ErrUncertain] if it was started and its status is not known.
	//
	// When ctx is done, the processes of the command are terminated and, five seconds later, killed. After that, Run with the
	// same token returns an error that wraps [context.DeadlineExceeded] if that was ctx's error, and [ErrUncertain] otherwise. If
	// ctx was canceled with another cause, a command with a token goes on, for the next Run.
	Run(ctx context.Context, c Command) (exit int, err error)
	// Write writes a file, whole or not at all, and creates its folder. Read returns a file's content.
	Write(ctx context.Context, path string, mode fs.FileMode, content io.Reader) error
	Read(ctx context.Context, path string) ([]byte, error)
	// Close ends the connection, but not the commands that it follows.
	Close() error
}

// Command is a command of a POSIX shell.
type Command struct {
	// Token identifies the command on the node, such as "prod/12-7". It is kept for a week at least. A command without one ends
	// with the connection, and may run again.
	Token string
	// Script reads an empty standard input.
	Script string
	// Dir is the working directory, by default the user's home directory or, on this machine, that of this process.
	Dir string
	// Env has further variables, as NAME=VALUE.
	Env []string
	// Output receives lines of standard output and standard error, one at a time. Lines above 64 KiB are broken.
	Output func(line string)
}

var (
	// ErrUncertain says that a command was started and that its exit status is not known.
	ErrUncertain = errors.New("the command was started, but its exit status is unknown")
	// ErrUnreached is an [ErrUncertain] of a command that may still run. A later Run with its token finds out.
	ErrUnreached = fmt.Errorf("%w while the node is unreachable", ErrUncertain)
	// ErrUnknownHost says that no known_hosts file has the node.
	ErrUnknownHost = errors.New("unknown host key")
	// ErrHostKeyChanged says that a node has another host key than the known_hosts files.
	ErrHostKeyChanged = errors.New("host key has changed")
)

// errLost says that a connection ended during a command.
var errLost = errors.New("connection lost")

// transport reaches the shell of a node.
type transport interface {
	// connect makes sure that there is a connection.
	connect(ctx context.Context) error
	// exec runs sh with some arguments and returns its exit status. The error wraps errLost if it is unknown how sh ended. Commands
	// that are urgent do not wait for others.
	exec(ctx context.Context, urgent bool, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error)
	Close() error
}
