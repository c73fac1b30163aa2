// Package tasktype runs tasks by their types: shell, upload_file, copy_files, sync, reboot and puppet, and those that do
// nothing: stage, group, anchor and skipped. Others are added in Go, with [Register].
package tasktype

import (
	"context"
	"fmt"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
)

// Type runs tasks of one type. It is used concurrently.
type Type interface {
	// Check returns what is wrong with the parameters of a task.
	Check(parameters map[string]any) []string
	// Run runs a task once.
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
	Log func(level, message string)
}

// Registry has types by name.
type Registry map[string]Type

// Builtin returns the types that are built in.
func Builtin() Registry {
	return Registry{
		"shell": shell{}, taskgraph.StageType: nothing{}, taskgraph.GroupType: nothing{}, taskgraph.AnchorType: nothing{},
		taskgraph.SkippedType: nothing{},
	}
}

// Check is what [taskgraph.Check] asks about types.
func (r Registry) Check(name string) (func(parameters map[string]any) []string, bool) {
	t, ok := r[name]
	if !ok {
		return nil, false
	}
	return t.Check, true
}

// Executor is a [run.Executor] that connects to nodes.
type Executor struct {
	Types  Registry
	Folder string
}

// Execute implements [run.Executor].
func (x *Executor) Execute(ctx context.Context, w run.Work) error {
	h, err := host.Open(ctx, w.Node)
	if err != nil {
		return err
	}
	defer h.Close()
	return x.Types[w.Task.Type].Run(ctx, &Call{Task: w.Task, Node: w.Node, Host: h, Folder: x.Folder, Token: w.Token, Log: w.Log})
}

type nothing struct{}

func (nothing) Check(map[string]any) []string    { return nil }
func (nothing) Run(context.Context, *Call) error { return nil }

type shell struct{}

func (shell) Check(map[string]any) []string { return nil }

func (shell) Run(ctx context.Context, c *Call) error {
	cmd, _ := c.Task.Parameters["cmd"].(string)
	exit, err := c.Host.Run(ctx, host.Command{
		Token: c.Token, Script: cmd, Dir: c.Folder, Output: func(line string) { c.Log("info", line) },
	})
	if err == nil && exit != 0 {
		err = fmt.Errorf("exit status %d", exit)
	}
	return err
}
