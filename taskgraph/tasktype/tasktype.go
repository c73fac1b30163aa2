// Package tasktype runs tasks according to their types:
//
//	shell        cmd, cwd                                         runs a command
//	upload_file  path; data, src or template; permissions         writes a file
//	copy_files   files: [{src, dst}], permissions, dir_permissions  copies files and folders to the node
//	sync         src, dst                                         mirrors a folder of this machine on the node
//	reboot       command, boot_id                                 restarts the node and waits for it
//	puppet       puppet_manifest, puppet_modules, cwd             applies a manifest
//	stage, group, anchor, skipped                                 do nothing
//
// Other types are implemented in Go as a [Type] and added to a [Registry].
package tasktype

import (
	"context"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Type runs the tasks of a type. It must be safe for concurrent use.
type Type interface {
	// Check returns descriptions of the errors in the parameters of a task, in a deterministic order. Built-in types
	// accept only their own parameters and timeout, retries, interval, and strategy, which are validated elsewhere.
	// Before a run, Check is called for each node with the values of expressions. In an upload, the parameters contain
	// the expressions; see [taskgraph.HasExpression].
	Check(parameters map[string]any) []string
	// Run runs a task once. ctx is done when the task times out. Run returns an error wrapping [host.ErrUncertain] if
	// it is unknown whether the task took effect. After a crash, Run is called again with the same Call. Commands run
	// by [Call.Command] are not repeated then; everything else must be idempotent.
	Run(ctx context.Context, c *Call) error
}

// Call is an execution of a task.
type Call struct {
	Task *taskgraph.Spec
	Node *inventory.Node
	// Data returns the data of conditions and expressions in values of Go; see [run.Work].
	Data func() (map[string]any, error)
	// Host is the connection to Node.
	Host host.Host
	// Folder is the base directory for relative paths on this machine.
	Folder string
	// Token identifies the attempt on the node.
	Token string
	// Env lists environment variables for commands as NAME=VALUE.
	Env []string
	// Log logs output at one of the levels of [store.Event].
	Log func(level, message string)

	// hidden returns the files and folders that the task must not read.
	hidden func() ([]string, error)
}

// Command runs a command of the task and logs its output. It returns an error unless the exit status is 0 or one of
// statuses. name must be unique within the task: the command runs at most once on the node, even if this process is
// killed and the run is resumed.
func (c *Call) Command(ctx context.Context, name, script, cwd string, statuses ...int) error {
	_, err := c.run(ctx, command{token: c.Token + "/" + name, script: script, dir: c.dir(cwd), statuses: statuses, log: true})
	return err
}

// Registry maps names of types to types.
type Registry map[string]Type

// Check returns the Check method of the named type, for the types argument of [taskgraph.Check].
func (r Registry) Check(name string) (func(parameters map[string]any) []string, bool) {
	t, ok := r[name]
	if !ok {
		return nil, false
	}
	return t.Check, true
}

// command is a command to be run on a node.
type command struct {
	// token is empty for commands that may run more than once.
	token, script, dir string
	// statuses lists additional exit statuses that count as success.
	statuses []int
	// log enables logging of the output. all returns the entire output instead of the last three lines.
	log, all bool
	// breaks means that the command ends the connection, which is then not announced.
	breaks bool
}
