// Package tasktype runs tasks by their types:
//
//	shell        cmd, cwd                                         runs a command
//	upload_file  path, data or src, permissions                   writes a file
//	copy_files   files: [{src, dst}], permissions, dir_permissions  copies files and folders to the node
//	sync         src, dst                                         makes a folder of the node equal to one of this machine
//	reboot       command, boot_id                                 restarts the node and waits for it
//	puppet       puppet_manifest, puppet_modules, cwd             applies a manifest
//	stage, group, anchor, skipped                                 do nothing
//
// Other types are implemented in Go as a [Type] and added to the [Registry].
package tasktype

import (
	"context"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Type runs tasks of one type. It must be safe for concurrent use.
type Type interface {
	// Check returns the errors in the parameters of a task, in a stable order. Built-in types accept only their own
	// parameters and the common ones: timeout, retries, interval, and strategy, which are checked elsewhere.
	Check(parameters map[string]any) []string
	// Run runs a task once. ctx is done at its timeout. The error wraps [host.ErrUncertain] if it is unknown whether
	// the task took effect. After a crash, Run is called again with the same Call: commands run by [Call.Command] do
	// not run twice; everything else must be idempotent.
	Run(ctx context.Context, c *Call) error
}

// Call is one execution of a task.
type Call struct {
	Task *taskgraph.Spec
	Node *inventory.Node
	// Host is the connection to Node.
	Host host.Host
	// Folder is the base of relative paths on this machine.
	Folder string
	// Token identifies the attempt on the node.
	Token string
	// Env lists environment variables for commands.
	Env []string
	// Log reports output at a level of [store.Event].
	Log func(level, message string)

	// hidden returns the files and folders that the task must not read.
	hidden func() ([]string, error)
}

// Command runs a command of the task, logs its output, and requires success. The name must be unique within the task:
// the command runs at most once on the node, even if this process is killed and resumed. Statuses are additional exit
// statuses that count as success.
func (c *Call) Command(ctx context.Context, name, script, cwd string, statuses ...int) error {
	_, err := c.run(ctx, command{token: c.Token + "/" + name, script: script, dir: c.dir(cwd), statuses: statuses, log: true})
	return err
}

// Registry maps names to types.
type Registry map[string]Type

// Check implements the types argument of [taskgraph.Check].
func (r Registry) Check(name string) (func(parameters map[string]any) []string, bool) {
	t, ok := r[name]
	if !ok {
		return nil, false
	}
	return t.Check, true
}

// command is a command to run on the node.
type command struct {
	// token is empty for commands that may run more than once.
	token, script, dir string
	// statuses are additional exit statuses that count as success.
	statuses []int
	// log enables logging of the output. all returns the entire output instead of the last three lines.
	log, all bool
}
