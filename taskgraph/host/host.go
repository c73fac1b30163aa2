// Package host runs commands and writes files on nodes, over SSH or on this machine. A node needs only a POSIX shell
// and its utilities.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Host is a node. It connects on first use and reconnects if the connection is lost. It is safe for concurrent use.
type Host interface {
	// Run runs a command and returns its exit status.
	//
	// A command with a token runs detached from the connection and records its output and exit status on the node. If
	// any process has already started a command with this token on the node, Run does not start it again. Instead, it
	// waits for the command, reports its output, and returns its exit status. Run returns an error wrapping
	// [ErrUncertain] if the command was started but its exit status is unknown.
	//
	// When ctx is done, the processes of the command are terminated and, five seconds later, killed. Later calls of Run
	// with the same token then return an error wrapping [context.DeadlineExceeded] if that was the error of ctx, or
	// [ErrUncertain] otherwise. If ctx was canceled with another cause, a command with a token keeps running for the
	// next call of Run.
	Run(ctx context.Context, c Command) (exit int, err error)
	// Write replaces a file atomically. It creates the directory if necessary. Read returns the content of a file. In both,
	// ~/ at the beginning of the path is the home directory, as in the Dir of a command.
	Write(ctx context.Context, path string, mode fs.FileMode, content io.Reader) error
	Read(ctx context.Context, path string) ([]byte, error)
	// Close closes the connection. Detached commands keep running.
	Close() error
}

// Command is a POSIX shell command.
type Command struct {
	// Token identifies the command on the node, such as "prod/12-7". The node remembers it for at least a week. A
	// command without a token ends when the connection is lost and may run more than once.
	Token string
	// Script is the shell script. Its standard input is empty.
	Script string
	// Dir is the working directory. The default is the user's home directory or, on this machine, the current directory.
	Dir string
	// Env lists additional environment variables as NAME=VALUE.
	Env []string
	// Output is called for each line of standard output and standard error, one call at a time. Lines are split at 64
	// KiB.
	Output func(line string)
	// Warn is called when the connection to a command with a token is lost. The message tells for how long it is retried.
	// Warn may be nil.
	Warn func(message string)
}

var (
	// ErrUncertain means that a command was started but its exit status is unknown.
	ErrUncertain = errors.New("the command was started, but its exit status is unknown")
	// ErrUnreached wraps [ErrUncertain] for a command that may still be running. Calling Run again with the same token
	// returns its outcome.
	ErrUnreached = fmt.Errorf("%w while the node is unreachable", ErrUncertain)
	// ErrUnknownHost means that no known_hosts file lists the node.
	ErrUnknownHost = errors.New("unknown host key")
	// ErrHostKeyChanged means that the host key differs from the key in the known_hosts files.
	ErrHostKeyChanged = errors.New("host key has changed")
)

// errLost means that the connection was lost during a command.
var errLost = errors.New("connection lost")

// transport runs a shell on a node.
type transport interface {
	// connect connects to the node unless there is a connection.
	connect(ctx context.Context) error
	// exec runs sh with the given arguments and returns its exit status. It returns an error wrapping errLost if the
	// outcome is unknown. Urgent commands have slots of their own.
	exec(ctx context.Context, urgent bool, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error)
	Close() error
}
