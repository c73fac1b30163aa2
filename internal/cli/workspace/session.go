// Package workspace opens the workspace that contains the current directory: its store, an environment and its key, and
// the plugins installed with lumi or on $PATH.
package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/sealed"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/deploy/view"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Session is an open workspace with its store and the selected environment.
type Session struct {
	*console.Console
	Workspace *lumiyaml.Workspace
	Store     store.Store
	// Database is the database under Store, which may contain other projects. It is nil if it does not exist yet.
	Database Database
	// Environment is the selected environment. If it does not exist, only its Name is set.
	Environment store.Environment
	// Simulates is set if providers and provisioners must not change anything.
	Simulates bool
	// Policy is the policy of the workspace. It is nil if there is none or the command makes no plans.
	Policy *policy.Policy
	// Evaluated lists the desired states of the programs evaluated so far.
	Evaluated []*lumigl.Snapshot
	// Reporter shows the events of deployments. It is nil if no deployment is running.
	Reporter atomic.Pointer[view.Reporter]
	// Hosts holds the connections to nodes. It is nil if the command runs no tasks.
	Hosts io.Closer
	// outputs holds the outputs of the commands that print configuration values.
	outputs map[string]string
	sealed  *sealed.File // the secret configuration, or nil before it is read
}

// Database is a database of environments.
type Database interface {
	store.Store
	// Copied returns an error wrapping [store.ErrCopied] if the database must be adopted before it is written to.
	Copied() error
	// Adopt runs f in a transaction that makes a copy writable.
	Adopt(ctx context.Context, f func(store.Tx) error) error
}

// IfMissing determines what to do if the environment does not exist.
type IfMissing int

// What to do if the environment does not exist.
const (
	Fail    IfMissing = iota // return an error
	Pretend                  // treat it as empty and write nothing
	Create                   // create it
)

// Find reads the Lumi.yaml in this directory or the nearest parent directory that contains one.
func Find() (*lumiyaml.Workspace, error) {
	w, err := lumiyaml.Find(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New(`no Lumi.yaml found in this or any parent directory: create one with "package: NAME", "program: FILE" and "environment: dev"`)
	} else if err != nil {
		return nil, err
	}
	if strings.Contains(w.State, "://") {
		if u, err := url.Parse(w.State); err == nil {
			if _, found := u.User.Password(); found || u.Query().Has("password") || u.Query().Has("sslpassword") {
				return nil, fmt.Errorf("%s: state must not contain a password, which others may read: use %s, PGPASSWORD, or the file named by PGPASSFILE",
					w.File, secret.StateVariable)
			}
		}
	}
	if state := os.Getenv(secret.StateVariable); state != "" {
		if w.Project == "" {
			return nil, fmt.Errorf("%s requires a project, which separates its environments from those of other workspaces: add project: NAME to %s",
				secret.StateVariable, w.File)
		}
		w.State = state
		if !postgres.IsURL(state) {
			w.State, err = filepath.Abs(state)
		}
	}
	return w, err
}

// Folder returns the folder that contains Lumi.yaml.
func (s *Session) Folder() string { return filepath.Dir(s.Workspace.File) }

// Path resolves a path from Lumi.yaml relative to the folder of the file.
func (s *Session) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Folder(), filepath.FromSlash(path))
}

// ReadPolicy returns the policy in the folder of a workspace, or nil if there is none.
func ReadPolicy(w *lumiyaml.Workspace) (*policy.Policy, error) {
	file := filepath.Join(filepath.Dir(w.File), policy.FileName)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) { // a link to a missing file is an error
		return nil, nil
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return policy.Parse(src, file)
}

// Location returns the path of the workspace's store, or its URL without a password.
func Location(w *lumiyaml.Workspace) string {
	if postgres.IsURL(w.State) {
		return postgres.Name(w.State)
	}
	if filepath.IsAbs(w.State) {
		return w.State
	}
	return filepath.Join(filepath.Dir(w.File), cmp.Or(filepath.FromSlash(w.State), filepath.Join(".lumi", "state.db")))
}

// WithStore calls f with the workspace of the current directory, without selecting an environment.
func WithStore(ctx context.Context, con *console.Console, create bool, f func(*Session) error) error {
	w, err := Find()
	if err != nil {
		return err
	}
	s := &Session{Console: con, Workspace: w}
	if err := s.openStore(ctx, create); err != nil {
		return err
	}
	return s.closeAfter(f(s))
}

// WithEnvironment calls do with the workspace of the current directory and the environment called name, or the default
// environment.
func WithEnvironment(ctx context.Context, con *console.Console, name string, missing IfMissing, do func(*Session) error) error {
	s, err := openSession(ctx, con, name, missing)
	if err != nil {
		return err
	}
	return s.closeAfter(do(s))
}

// openSession opens the workspace of the current directory and selects an environment. The caller must close the
// session.
func openSession(ctx context.Context, con *console.Console, name string, missing IfMissing) (*Session, error) {
	w, err := Find()
	if err != nil {
		return nil, err
	}
	name, err = EnvironmentName(w, name)
	if err != nil {
		return nil, err
	}
	s := &Session{Console: con, Workspace: w, Environment: store.Environment{Name: name}}
	if err := s.openStore(ctx, missing == Create); err != nil {
		return nil, err
	}
	if err := s.Enter(ctx, missing); err != nil {
		return nil, s.closeAfter(err)
	}
	return s, nil
}

// openStore opens the store of the workspace. If the store does not exist, it is created if create is set. Otherwise,
// openStore opens an empty in-memory store.
func (s *Session) openStore(ctx context.Context, create bool) error {
	if postgres.IsURL(s.Workspace.State) {
		return s.connect(ctx)
	}
	path := Location(s.Workspace)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if !create {
			s.Store = memory.New()
			return nil
		}
		if s.Workspace.State == "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			// Keep the state out of version control.
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".gitignore"), []byte("*\n"), 0o600); err != nil {
				return err
			}
		}
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Rescue: s.Folder()})
	if err != nil {
		return err
	}
	s.Store, s.Database = db, db
	if s.Workspace.State == "" {
		return nil
	}
	return s.share(ctx, db)
}

// connect opens a store in PostgreSQL.
func (s *Session) connect(ctx context.Context) error {
	if warning := postgres.Warning(s.Workspace.State); warning != "" {
		s.Say("%s", warning)
	}
	s.Doing("connecting to %s", Location(s.Workspace))
	db, err := postgres.Open(ctx, s.Workspace.State, postgres.Options{})
	if err != nil {
		return err
	}
	s.Database = db
	return s.share(ctx, db)
}

// share selects the workspace's project in a store of several workspaces.
func (s *Session) share(ctx context.Context, db store.Store) error {
	s.Store = store.InProject(db, s.Workspace.Project)
	if err := db.Read(ctx, s.checkShared); err != nil {
		return s.closeAfter(err)
	}
	return nil
}

// checkShared returns an error if the shared store contains an environment without a project, which is then the store of
// another workspace.
func (s *Session) checkShared(tx store.Tx) error {
	all, err := tx.Environments()
	for _, e := range all {
		if !strings.Contains(e.Name, "/") {
			return fmt.Errorf("%s is the state of a single workspace, since its environment %s has no project: name another file in state of %s, "+
				"and move the environments there with 'lumi env export' and 'lumi env import'", Location(s.Workspace), e.Name, s.Workspace.File)
		}
	}
	return err
}

// Enter reads the environment from the store. If the environment does not exist, missing determines what happens.
func (s *Session) Enter(ctx context.Context, missing IfMissing) error {
	read := func(tx store.Tx) error {
		row, err := tx.Environment(s.Environment.Name)
		if err == nil {
			s.Environment = row
		}
		return err
	}
	err := s.Store.Read(ctx, read)
	switch {
	case !errors.Is(err, store.ErrNotFound):
		return err
	case missing == Fail:
		return s.UnknownEnvironment(ctx)
	case missing == Pretend:
		if err := s.close(); err != nil {
			return err
		}
		s.Store, s.Database = memory.New(), nil
	}
	s.Environment.Lineage = rand.Text()
	return s.Store.Write(ctx, s.Environment.Name, func(tx store.Tx) error {
		if err := read(tx); !errors.Is(err, store.ErrNotFound) {
			return err // another process has created it
		}
		return tx.PutEnvironment(s.Environment)
	})
}

// Detach closes the store and replaces it with an in-memory copy of the environment, without its queue and history.
func (s *Session) Detach(ctx context.Context) error {
	var vertices []store.Vertex
	err := s.Store.Read(ctx, func(tx store.Tx) (err error) {
		vertices, err = tx.Vertices(s.Environment.Name)
		return err
	})
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	s.Store, s.Database = memory.New(), nil
	return s.Store.Write(ctx, s.Environment.Name, func(tx store.Tx) error {
		return errors.Join(tx.PutEnvironment(s.Environment), tx.PutVertices(s.Environment.Name, vertices, nil))
	})
}

// closeAfter closes the session and returns done joined with any error. If the store was removed, it returns only that
// error.
func (s *Session) closeAfter(done error) error {
	closed := s.close()
	if errors.Is(closed, store.ErrLost) {
		return closed
	}
	return errors.Join(done, closed)
}

func (s *Session) close() error {
	if s.Hosts != nil {
		return errors.Join(s.Hosts.Close(), s.Store.Close())
	}
	return s.Store.Close()
}

// EnvironmentName returns the name of a command's environment: the given name or, if that is empty, the default. It
// returns an error if there is no default or the name is invalid.
func EnvironmentName(w *lumiyaml.Workspace, given string) (string, error) {
	name := cmp.Or(given, w.Environment)
	if name == "" && len(w.Environments) == 1 {
		name = w.Environments[0]
	}
	if name == "" {
		return "", console.Misused(`no environment given: use --environment=NAME, or add "environment: NAME" to %s`, w.File)
	}
	if len(w.Environments) > 0 && !slices.Contains(w.Environments, name) {
		near := suggest.Name(name, w.Environments)
		if near != "" {
			near = fmt.Sprintf("; did you mean %s?", near)
		}
		return "", fmt.Errorf("%s has no environment %s%s", w.File, name, cmp.Or(near, "; it has "+strings.Join(w.Environments, ", ")))
	}
	if !IsEnvironmentName(name) {
		return "", console.Misused("invalid environment name %q", name)
	}
	return name, nil
}

// IsEnvironmentName reports whether name is valid as an environment in URNs.
func IsEnvironmentName(name string) bool {
	_, err := urn.Format(urn.Parts{Environment: name, Package: "a", Module: "b", Type: "a:b:C", Name: "d"})
	return err == nil
}

// Flag returns the flag --environment for commands in advice, with a leading space. It returns "" for the default
// environment.
func (s *Session) Flag() string {
	if name, err := EnvironmentName(s.Workspace, ""); err == nil && name == s.Environment.Name {
		return ""
	}
	return " --environment=" + s.Environment.Name
}

// UnknownEnvironment returns an error for a missing environment. It suggests a similar name or lists all environments.
func (s *Session) UnknownEnvironment(ctx context.Context) error {
	var names []string
	err := s.Store.Read(ctx, func(tx store.Tx) error {
		all, err := tx.Environments()
		names = nil
		for _, one := range all {
			names = append(names, one.Name)
		}
		return err
	})
	if near := suggest.Name(s.Environment.Name, names); err == nil && near != "" && !slices.Contains(s.Workspace.Environments, s.Environment.Name) {
		return fmt.Errorf("environment %s does not exist; did you mean %s?", s.Environment.Name, near)
	}
	return fmt.Errorf("environment %s does not exist yet: 'lumi deploy' or 'lumi env new %[1]s' creates it", s.Environment.Name)
}

// Agreed asks for confirmation of an action in the environment, unless yes is set. It returns [console.ErrUnchanged]
// unless the answer is yes, and first the error of [Session.Copied].
func (s *Session) Agreed(yes bool, what string) error {
	if err := s.Copied(); err != nil {
		return err
	}
	return s.Sure(yes, what+" in "+s.Environment.Name)
}

// Copied returns an error wrapping [store.ErrCopied] if the store must be adopted before it is written to.
func (s *Session) Copied() error {
	if s.Database == nil {
		return nil
	}
	return s.Database.Copied()
}
