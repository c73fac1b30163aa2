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
// Others are implemented in Go as a [Type] and added to the [Registry].
package tasktype

import (
	"context"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Type runs tasks of one type. It is used concurrently.
type Type interface {
	// Check returns what is wrong with the parameters of a task, in a stable order. Built-in types have no parameters but theirs
	// and those of all types: timeout, retries, interval and strategy, which are checked elsewhere.
	Check(parameters map[string]any) []string
	// Run runs a task once. ctx is done when its time is over. The error wraps [host.ErrUncertain] if it is unknown whether the task
	// took effect. After a crash, Run is called with the same call again: what it runs with [Call.Command] does not run twice, and
	// anything else that it does must be harmless to do twice.
	Run(ctx context.Context, c *Call) error
}

// Call is a task to be run.
type Call struct {
	Task *taskgraph.Spec
	Node *inventory.Node
	// Host is connected to Node.
	Host host.Host
	// Folder is where relative paths on this machine start.
	Folder string
	// Token identifies the attempt on the node.
	Token string
	// Env has variables for commands.
	Env []string
	// Log reports output, at a level of [store.Event].
	Log func(level, message string)

	// hidden returns files and folders that the task must not read.
	hidden func() ([]string, error)
}

// Command runs a command of the task, which is logged and must succeed. Its name distinguishes it from others of the task: it
// runs at most once on the node, even if this process is killed and resumed. Statuses are also success, like 0.
func (c *Call) Command(ctx context.Context, name, script, cwd string, statuses ...int) error {
	_, err := c.run(ctx, command{token: c.Token + "/" + name, script: script, dir: c.dir(cwd), statuses: statuses, log: true})
	return err
}

// Registry has types by name.
type Registry map[string]Type

// Check is what [taskgraph.Check] asks about types.
func (r Registry) Check(name string) (func(parameters map[string]any) []string, bool) {
	t, ok := r[name]
	if !ok {
		return nil, false
	}
	return t.Check, true
}

// command is what a task runs on its node.
type command struct {
	// token is empty for what may run twice.
	token, script, dir string
	// statuses are also success, like 0.
	statuses []int
	// log is set to log the output, all to return all of it instead of the last three lines.
	log, all bool
}
