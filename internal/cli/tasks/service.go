package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	taskrun "github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

type taskOptions struct {
	// inventory is the path of a file that replaces the inventory selected in Lumi.yaml.
	inventory string
	// engine contains only the limits and the error mode.
	engine taskrun.Options
	// remote rejects nodes with a local connection. hidden lists files on the server that tasks must not read.
	remote bool
	hidden []string
}

// taskService returns a task graph service for the workspace. Its engines report events to the session.
func taskService(s *workspace.Session, o taskOptions) *service.Service {
	types := tasktype.Builtin()
	o.engine.Store, o.engine.Events = s.Store, s.Report
	executor := &tasktype.Executor{Types: types, Folder: s.Folder(), Remote: o.remote, Hidden: hiddenFiles(s, o), Secret: secrets(s)}
	executor.Hosts.Environ = func() []string {
		return slices.DeleteFunc(secret.Environ(), func(v string) bool { return strings.HasPrefix(v, "LUMI_TOKEN=") })
	}
	o.engine.Executor, s.Hosts = executor, executor
	var mutex sync.Mutex
	engines := map[string]*taskrun.Engine{}
	return &service.Service{
		Store: s.Store, Types: types, Remote: o.remote, CheckSources: executor.CheckSources,
		Inventory: func(ctx context.Context, environment string) (*inventory.Inventory, *lumigl.Snapshot, error) {
			return loadInventory(ctx, s, environment, o.inventory)
		},
		Engine: func(environment string) *taskrun.Engine {
			mutex.Lock()
			defer mutex.Unlock()
			if engines[environment] == nil {
				o := o.engine
				o.Environment = environment
				engines[environment] = taskrun.New(o)
			}
			return engines[environment]
		},
	}
}

// NewEngine returns an engine for the runs of the session's environment.
func NewEngine(s *workspace.Session) *taskrun.Engine {
	return taskService(s, taskOptions{}).Engine(s.Environment.Name)
}

// hiddenFiles returns a function that lists the files that tasks must not read. They include the keys in all
// inventories of the workspace.
func hiddenFiles(s *workspace.Session, o taskOptions) func() ([]string, error) {
	files := []string{s.Path(defaultInventory), o.inventory}
	for _, file := range s.Workspace.Inventories {
		files = append(files, s.Path(file))
	}
	type loaded struct {
		src  string
		keys []string
	}
	var mutex sync.Mutex
	known := map[string]loaded{} // a cache, since parsing all inventories for each task would be slow
	return func() ([]string, error) {
		mutex.Lock()
		defer mutex.Unlock()
		all := append([]string{s.Getenv(secret.IdentityVariable)}, o.hidden...)
		for _, file := range files {
			src, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil && known[file].src != string(src) {
				var nodes *inventory.Inventory
				if nodes, err = inventory.Load(string(src), file, nil); err == nil {
					known[file] = loaded{string(src), nodes.Keys}
				}
			}
			if err != nil {
				return nil, err
			}
			all = append(all, known[file].keys...)
		}
		return all, nil
	}
}

// defaultInventory is the name of the default inventory file, next to Lumi.yaml.
const defaultInventory = "inventory.yaml"

// loadInventory returns the nodes of an environment and its state. The nodes are read from file or, if it is empty,
// from the inventory selected in Lumi.yaml. The state is read without a key, so secrets are unknown: nodes and
// conditions must not depend on them.
func loadInventory(ctx context.Context, s *workspace.Session, environment, file string) (*inventory.Inventory, *lumigl.Snapshot, error) {
	of := &workspace.Session{Console: s.Console, Workspace: s.Workspace, Store: s.Store, Environment: store.Environment{Name: environment}}
	if err := of.Enter(ctx, workspace.Fail); err != nil {
		return nil, nil, err
	}
	if file == "" {
		file = s.Path(cmp.Or(s.Workspace.Inventories[environment], defaultInventory))
	}
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &service.Error{Kind: service.Invalid, Message: fmt.Sprintf(
			"%s has no nodes: list them in %s, or name another file with --inventory or in %s", environment, file, s.Workspace.File)}
	} else if err != nil {
		return nil, nil, err
	}
	snapshot, err := of.Snapshot(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := inventory.Load(string(src), file, snapshot)
	if err != nil {
		return nil, nil, err
	}
	var wrong []string
	for _, n := range nodes.Nodes {
		if n.Secret == "" {
			continue
		}
		if _, err := of.Secret(n.Secret); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: node %s: become_secret: %v", file, n.Name, err))
		}
	}
	if wrong != nil {
		return nil, nil, &service.Error{Kind: service.Invalid, Message: strings.Join(wrong, "\n")}
	}
	return nodes, snapshot, nil
}

// secrets returns a function that returns secrets of environments. It keeps them for a minute, since deriving a key from
// a passphrase is slow.
func secrets(s *workspace.Session) func(ctx context.Context, environment, name string) (string, error) {
	type opened struct {
		text string
		at   time.Time
	}
	var mutex sync.Mutex
	known := map[[2]string]opened{}
	return func(ctx context.Context, environment, name string) (string, error) {
		mutex.Lock()
		defer mutex.Unlock()
		if one, ok := known[[2]string{environment, name}]; ok && time.Since(one.at) < time.Minute {
			return one.text, nil
		}
		of := &workspace.Session{Console: s.Console, Workspace: s.Workspace, Store: s.Store, Environment: store.Environment{Name: environment}}
		if err := of.Enter(ctx, workspace.Fail); err != nil {
			return "", err
		}
		setting, err := of.Secret(name)
		if err != nil {
			return "", err
		}
		text, err := of.OpenSecret(ctx, setting)
		if err == nil {
			known[[2]string{environment, name}] = opened{text, time.Now()}
		}
		return text, err
	}
}
