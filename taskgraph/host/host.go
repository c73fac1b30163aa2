// Package host runs commands and writes files on nodes: over SSH, or on this machine.
package host

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Host is a node that is connected. Its methods may be called concurrently.
type Host interface {
	// Run runs a command under the wrapper, which holds a lock and records the exit status on the node under the command's
	// token. A command whose token is known there is not started again: Run waits for it and returns what was recorded. The
	// error wraps [ErrUncertain] if the command was started and its status is not known.
	Run(ctx context.Context, c Command) (exit int, err error)
	// Write writes a file, whole or not at all, and creates its folder. Read returns a file's content.
	Write(ctx context.Context, path string, mode fs.FileMode, content io.Reader) error
	Read(ctx context.Context, path string) ([]byte, error)
	// Close ends the connection.
	Close() error
}

// Command is a command of a POSIX shell.
type Command struct {
	// Token identifies the command on the node, such as "prod/12-7". A command without one is run without the wrapper.
	Token  string
	Script string
	// Dir is the working directory, by default the user's home directory or, on this machine, that of this process.
	Dir string
	// Env has further variables, as NAME=VALUE.
	Env []string
	// Output receives lines of standard output and standard error.
	Output func(line string)
}

// ErrUncertain says that a command was started and that nobody knows how it ended.
var ErrUncertain = errors.New("the command was started, and its exit status is not known")

// Open connects to a node. Keys of hosts are checked with the known_hosts files of the user.
func Open(ctx context.Context, n *inventory.Node) (Host, error) {
	if n.Local {
		return local{}, nil
	}
	return nil, errors.New("SSH is not supported yet")
}
