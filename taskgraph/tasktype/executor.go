package tasktype

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
)

// Executor is a [run.Executor] that runs tasks on nodes.
type Executor struct {
	Types Registry
	// Folder is the base directory for relative paths on this machine.
	Folder string
	// Remote rejects nodes with a local connection.
	Remote bool
	// Hidden returns additional files and folders in Folder that tasks must not copy to nodes. It may be nil. State
	// files, ~/.ssh, and the key of the task's node are always hidden.
	Hidden func() ([]string, error)
	// Secret returns a secret of an environment: the password for sudo on a node. It may be nil.
	Secret func(ctx context.Context, environment, name string) (string, error)
	// Hosts is the pool of connections.
	Hosts host.Pool
}

// Close closes all connections.
func (x *Executor) Close() error { return x.Hosts.Close() }

// Execute implements [run.Executor]. The environment of commands includes LUMI_ENVIRONMENT, LUMI_RUN, LUMI_TASK,
// LUMI_NODE, LUMI_ROLES (separated by commas), and LUMI_PARAMETERS (the parameters of the node and the environment as
// JSON).
func (x *Executor) Execute(ctx context.Context, w run.Work) error {
	t, ok := x.Types[w.Task.Type]
	if !ok {
		return fmt.Errorf("unknown type %q", w.Task.Type)
	}
	if b, ok := t.(builtin); ok && b.nothing && w.Task.TestPre == nil && w.Task.TestPost == nil {
		return nil
	}
	if w.Node == nil {
		return fmt.Errorf("a task of type %s requires a node", w.Task.Type)
	}
	if w.Node.Local && x.Remote {
		return fmt.Errorf(NoLocal, w.Node.Name)
	}
	env, err := environment(w)
	if err != nil {
		return err
	}
	c := &Call{
		Task: w.Task, Node: w.Node, Data: w.Data, Folder: x.Folder, Env: env, Log: w.Log,
		hidden: func() ([]string, error) { return x.hidden(w.Node) },
	}
	e := &execution{Work: w, c: c, x: x}
	if err := e.test(ctx, "test_pre", w.Task.TestPre); err != nil {
		return err
	}
	s := w.Task
	if err := e.phase(ctx, phase{"run", s.Timeout, s.Interval, s.Retries, t.Run}); err != nil {
		return err
	}
	return e.test(ctx, "test_post", w.Task.TestPost)
}

// NoLocal is the format of the error for rejected local nodes.
const NoLocal = "node %s has connection: local, which gives its tasks all permissions of the server; 'lumi serve --local-nodes' allows this"

// hidden returns the files and folders that tasks on a node must not read.
func (x *Executor) hidden(n *inventory.Node) (all []string, err error) {
	if x.Hidden != nil {
		if all, err = x.Hidden(); err != nil {
			return nil, fmt.Errorf("cannot determine which files are keys: %w", err)
		}
	}
	keys, err := x.Hosts.Keys()
	if err != nil && !n.Local { // tasks on this machine can read its keys anyway
		return nil, fmt.Errorf("cannot determine which files are keys: %w", err)
	}
	home, _ := os.UserHomeDir()
	all = append(append(all, keys...), filepath.Join(x.Folder, ".lumi"), "~/.ssh", n.Key)
	for i, name := range all {
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			all[i] = filepath.Join(cmp.Or(x.Hosts.Home, home), rest)
		}
	}
	return all, nil
}

// CheckSources returns the problems with the files that a task copies from the workspace, such as links that leave it.
// Missing files are not reported, since an earlier task may create them.
func (x *Executor) CheckSources(t *taskgraph.Spec, n *inventory.Node) (problems []string) {
	names := []string{str(t.Parameters, "src")}
	list, _ := t.Parameters["files"].([]any)
	for _, item := range list {
		pair, _ := item.(map[string]any)
		names = append(names, str(pair, "src"))
	}
	if t.Type != "sync" && t.Type != "copy_files" {
		return nil
	}
	from, err := (&Call{Folder: x.Folder, hidden: func() ([]string, error) { return x.hidden(n) }}).sources()
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = from.Close() }()
	for _, src := range names {
		if src == "" {
			continue
		}
		if _, _, err := from.tree(src); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

func environment(w run.Work) ([]string, error) {
	parameters := map[string]any{}
	maps.Copy(parameters, w.Parameters)
	maps.Copy(parameters, w.Node.Parameters)
	text, err := json.Marshal(parameters)
	return []string{
		"LUMI_ENVIRONMENT=" + w.Environment, "LUMI_RUN=" + strconv.FormatInt(w.Run, 10), "LUMI_TASK=" + w.Task.ID,
		"LUMI_NODE=" + w.Node.Name, "LUMI_ROLES=" + strings.Join(w.Node.Roles, ","), "LUMI_PARAMETERS=" + string(text),
	}, err
}

// execution is the execution of a task.
type execution struct {
	run.Work
	c *Call
	x *Executor
}

// phase is a part of an execution: the task itself or one of its tests.
type phase struct {
	name              string
	timeout, interval time.Duration
	retries           int
	run               func(context.Context, *Call) error
}

func (e *execution) test(ctx context.Context, name string, t *taskgraph.Test) error {
	if t == nil {
		return nil
	}
	err := e.phase(ctx, phase{name, t.Timeout, time.Second, t.Retries, func(ctx context.Context, c *Call) error {
		return c.Command(ctx, "test", t.Cmd, "")
	}})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s failed: %w", name, err)
	}
	return err
}

// phase runs a phase until an attempt succeeds or there are no more retries. After a crash, finished attempts return
// the same result immediately.
func (e *execution) phase(ctx context.Context, p phase) error {
	for attempt := 1; ; attempt++ {
		c := *e.c
		c.Token = fmt.Sprintf("%s/%s.%d", e.Token, p.name, attempt)
		err := e.attempt(ctx, p, &c)
		switch {
		case err == nil || errors.Is(err, run.ErrUncertain):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case attempt > p.retries:
			return err
		}
		e.Log("warn", fmt.Sprintf("%s: attempt %d of %d failed: %v", p.name, attempt, p.retries+1, err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(p.interval):
		}
	}
}

func (e *execution) attempt(ctx context.Context, p phase, c *Call) (err error) {
	access := host.Access{Warn: func(message string) { e.Log("warn", message) }}
	if name := c.Node.Secret; name != "" && e.x.Secret != nil {
		if access.Password, err = e.x.Secret(ctx, e.Environment, name); err != nil {
			return fmt.Errorf("become_secret: %w", err)
		}
	}
	if c.Host, err = e.x.Hosts.Open(ctx, c.Node, access); err != nil {
		if e.Resumed {
			return fmt.Errorf("%w: %w", run.ErrUnreached, err)
		}
		return err
	}
	timed, end := ctx, context.CancelFunc(func() {})
	if p.timeout > 0 {
		timed, end = context.WithTimeout(ctx, p.timeout)
	}
	defer end()
	err = p.run(timed, c)
	switch {
	case errors.Is(err, host.ErrUnreached):
		return fmt.Errorf("%w: %w", run.ErrUnreached, err)
	case errors.Is(err, host.ErrUncertain):
		return fmt.Errorf("%w: %w", run.ErrUncertain, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("timed out after %v", p.timeout)
	}
	return err
}
