package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/deploy/view"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// site is a workspace with its store, and the environment that a command is about.
type site struct {
	*console.Console
	workspace *lumiyaml.Workspace
	store     store.Store
	// row is the environment. If it does not exist, it has only a Name.
	row store.Environment
	// simulates is whether providers and provisioners create, change and delete nothing.
	simulates bool
	// evaluated has the desired states of the programs that were evaluated.
	evaluated []*lumigl.Snapshot
	// reporter shows the events of deployments, nil before any runs.
	reporter atomic.Pointer[view.Reporter]
	// hosts has the connections to nodes, nil if tasks cannot run.
	hosts io.Closer
}

// siteFlags are the flags of commands that work in a workspace.
type siteFlags struct{ environment string }

func (f *siteFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.environment, "environment", "e", "", "the `NAME` of the environment; by default that of Lumi.yaml")
	_ = c.RegisterFlagCompletionFunc("environment", completeEnvironments)
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "env" {
			name = "environment"
		}
		return pflag.NormalizedName(name)
	})
}

// ifMissing says what to do about an environment that does not exist.
type ifMissing int

const (
	fail    ifMissing = iota // an error
	pretend                  // pretend that it exists, and is empty; nothing is written
	create                   // create it
)

// findWorkspace reads the nearest Lumi.yaml.
func findWorkspace() (*lumiyaml.Workspace, error) {
	w, err := lumiyaml.Find(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(`no Lumi.yaml here or above: create one with "package: NAME", "program: FILE" and "environment: dev"`)
	}
	return w, err
}

// folder returns the folder of the workspace.
func (s *site) folder() string { return filepath.Dir(s.workspace.File) }

// database returns the path of the store.
func database(w *lumiyaml.Workspace) string {
	return filepath.Join(filepath.Dir(w.File), ".lumi", "state.db")
}

// WithEnvironment runs f with the workspace of the current directory and one of its environments.
func WithEnvironment(ctx context.Context, con *console.Console, f siteFlags, missing ifMissing, do func(*site) error) error {
	s, err := openSite(ctx, con, f, missing)
	if err != nil {
		return err
	}
	return s.closeAfter(do(s))
}

// openSite opens the workspace of the current directory and one of its environments. It must be closed.
func openSite(ctx context.Context, con *console.Console, f siteFlags, missing ifMissing) (*site, error) {
	w, err := findWorkspace()
	if err != nil {
		return nil, err
	}
	name, err := environmentName(w, f.environment)
	if err != nil {
		return nil, err
	}
	s := &site{Console: con, workspace: w, row: store.Environment{Name: name}}
	if s.store, err = openStore(ctx, w, missing == create); err != nil {
		return nil, err
	}
	if err := s.enter(ctx, missing); err != nil {
		return nil, s.closeAfter(err)
	}
	return s, nil
}

// openStore opens the store of a workspace: an empty one in memory if there is none and it is not to be created.
func openStore(ctx context.Context, w *lumiyaml.Workspace, create bool) (store.Store, error) {
	path := database(w)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if !create {
			return memory.New(), nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		// State has no place in version control.
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".gitignore"), []byte("*\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return sqlite.Open(ctx, path, sqlite.Options{Rescue: filepath.Dir(w.File)})
}

// enter reads the environment, or creates it.
func (s *site) enter(ctx context.Context, missing ifMissing) error {
	read := func(tx store.Tx) error {
		row, err := tx.Environment(s.row.Name)
		if err == nil {
			s.row = row
		}
		return err
	}
	err := s.store.Read(ctx, read)
	switch {
	case !errors.Is(err, store.ErrNotFound):
		return err
	case missing == fail:
		return s.unknownEnvironment(ctx)
	case missing == pretend:
		if err := s.close(); err != nil {
			return err
		}
		s.store = memory.New()
	}
	s.row.Lineage = rand.Text()
	return s.store.Write(ctx, s.row.Name, func(tx store.Tx) error {
		if err := read(tx); !errors.Is(err, store.ErrNotFound) {
			return err // Another process has just created it.
		}
		return tx.PutEnvironment(s.row)
	})
}

// detach replaces the store with a copy of the environment in memory, without its queue and history.
func (s *site) detach(ctx context.Context) error {
	var vertices []store.Vertex
	err := s.store.Read(ctx, func(tx store.Tx) (err error) {
		vertices, err = tx.Vertices(s.row.Name)
		return err
	})
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	s.store = memory.New()
	return s.store.Write(ctx, s.row.Name, func(tx store.Tx) error {
		return errors.Join(tx.PutEnvironment(s.row), tx.PutVertices(s.row.Name, vertices, nil))
	})
}

// closeAfter closes the workspace after what was done in it. If the store was removed, its Close says all.
func (s *site) closeAfter(done error) error {
	closed := s.close()
	if errors.Is(closed, store.ErrLost) {
		return closed
	}
	return errors.Join(done, closed)
}

func (s *site) close() error {
	if s.hosts != nil {
		return errors.Join(s.hosts.Close(), s.store.Close())
	}
	return s.store.Close()
}

// environmentName returns the name of the environment that a command is about: the one that was given, or the default.
func environmentName(w *lumiyaml.Workspace, given string) (string, error) {
	name := cmp.Or(given, w.Environment)
	if name == "" && len(w.Environments) == 1 {
		name = w.Environments[0]
	}
	if name == "" {
		return "", console.Misused(`which environment? Use --environment=NAME, or add "environment: NAME" to %s`, w.File)
	}
	if len(w.Environments) > 0 && !slices.Contains(w.Environments, name) {
		near := suggest.Name(name, w.Environments)
		if near != "" {
			near = fmt.Sprintf("; did you mean %s?", near)
		}
		return "", fmt.Errorf("%s has no environment %s%s", w.File, name, cmp.Or(near, "; it has "+strings.Join(w.Environments, ", ")))
	}
	if !isEnvironmentName(name) {
		return "", console.Misused("invalid environment name %q", name)
	}
	return name, nil
}

// workFactor is the default of package secret, except in tests, which derive hundreds of keys.
var workFactor int

// wrapper returns what wraps the key of the environment, as Lumi.yaml says.
func (s *site) wrapper() (*secret.Wrapper, error) {
	w, err := secret.ParseWrapper(cmp.Or(s.workspace.Keys[s.row.Name], "passphrase"))
	if err != nil {
		return nil, fmt.Errorf("%s: environments.%s.key: %w", s.workspace.File, s.row.Name, err)
	}
	w.Dir, w.WorkFactor = s.folder(), workFactor
	if s.CanAsk() {
		w.Ask = s.askPassphrase
	}
	return w, nil
}

// key returns the key of the environment, nil if it has none. The error is a *[secret.KeyError] if it cannot be unwrapped.
func (s *site) key(ctx context.Context) (*secret.Key, error) {
	if s.row.Key == "" {
		return nil, nil
	}
	w, err := s.wrapper()
	if err != nil {
		return nil, err
	}
	s.Doing("unwrapping the key of %s", s.row.Name)
	return w.Unwrap(ctx, s.row.Key)
}

// keyIfAny is [site.key], but if the key cannot be unwrapped, it says so, and returns nil. The command is doing what is named.
func (s *site) keyIfAny(ctx context.Context, doing string) (*secret.Key, error) {
	key, err := s.key(ctx)
	if _, ok := errors.AsType[*secret.KeyError](err); ok {
		s.Say("%s without the key: %s", doing, err)
		return nil, nil
	}
	return key, err
}

// newKey gives the environment its first key.
func (s *site) newKey(ctx context.Context) (*secret.Key, error) {
	w, err := s.wrapper()
	if err != nil {
		return nil, err
	}
	key := secret.NewKey()
	wrapped, err := w.Wrap(ctx, key)
	if err != nil {
		return nil, err
	}
	err = s.store.Write(ctx, s.row.Name, func(tx store.Tx) error {
		row, err := tx.Environment(s.row.Name)
		if err != nil {
			return err
		}
		if row.Key != "" {
			return fmt.Errorf("environment %s has just been given a key: try again", row.Name)
		}
		row.Key = wrapped
		s.row = row
		return tx.PutEnvironment(row)
	})
	return key, err
}

// path returns a path of Lumi.yaml.
func (s *site) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.folder(), filepath.FromSlash(path))
}

// programFolder returns the working directory of a module's providers, where relative paths in its program or object model
// start.
func (s *site) programFolder(module string) string {
	return s.path(filepath.Dir(filepath.FromSlash(cmp.Or(s.workspace.Modules[module], s.workspace.Models[module].File))))
}

// plugin returns how to start the plugin of a package: the one that Lumi.yaml names, or one next to lumi, or on $PATH.
func (s *site) plugin(pkg string) (plugin.Command, error) {
	log := &providerLog{site: s, name: fmt.Sprintf("plugin for package %q", pkg), level: slog.LevelWarn}
	c := plugin.Command{Env: secret.Environ(), Log: log}
	if path := s.workspace.Plugins[pkg]; path != "" {
		c.Path = s.path(path)
		_, err := findPlugin(c.Path)
		if err != nil {
			err = fmt.Errorf("%s: plugins.%s: %w", s.workspace.File, pkg, err)
		}
		return c, err
	}
	name := pluginPrefix + strings.ReplaceAll(pkg, "/", "_")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if c.Path = filepath.Join(ownFolder(), name); c.Path != name {
		if _, err := findPlugin(c.Path); err == nil {
			return c, nil
		}
	}
	var err error
	if c.Path, err = exec.LookPath(name); err != nil {
		return c, fmt.Errorf(`no plugin for package %q: install %s on $PATH or next to lumi, or add "plugins: {%[1]s: FILE}" to %[3]s`,
			pkg, name, s.workspace.File)
	}
	return c, nil
}

// ownFolder returns the folder of this executable, or "" if the system does not tell.
func ownFolder() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Dir(self)
}
