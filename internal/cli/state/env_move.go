package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

func newEnvExportCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME FILE",
		Short: "copy an environment to a new file, to move it to another state",
		Long: `The file is a state with only this environment: its resources, key, queue, and history, and its task
graphs. Secrets stay encrypted. It is refused while a deployment or a task graph runs.

After 'lumi env import' into the other state, delete the environment here with 'lumi env delete
NAME --force', so that it is not deployed from both.`,
		Annotations: console.ExitCodes("the file is written", "refused", console.ElseFailed),
		Example:     console.Examples("Take dev along to another machine.", "lumi env export dev dev.db"),
		RunE: func(c *cobra.Command, args []string) error {
			return workspace.WithStore(c.Context(), con, false, func(s *workspace.Session) error {
				s.Environment.Name = args[0]
				return exportEnvironment(c.Context(), s, args[1])
			})
		},
		ValidArgsFunction: workspace.CompleteEnvironments,
	}
}

func exportEnvironment(ctx context.Context, s *workspace.Session, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s already exists: choose another name", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err == nil {
		err = errors.Join(environment.Copy(ctx, s.Store, to, s.Environment.Name), to.Close())
	}
	if err != nil {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return s.UnknownEnvironment(ctx)
	} else if err != nil {
		return err
	}
	return s.Finish("environment %s written to %s", s.Environment.Name, path)
}

func newEnvImportCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "add the environment in a file from 'lumi env export'",
		Long: `The environment keeps its name, and its secrets the key. It is refused if the state already has an
environment of that name. Releases and plugins that the state already has are kept unchanged.`,
		Annotations: console.ExitCodes("the environment is added", "refused", console.ElseFailed),
		Example: console.Examples(
			"Restore an environment from its file.", "lumi env export dev dev.db && lumi env delete dev --yes --force && lumi env import dev.db"),
		RunE: func(c *cobra.Command, args []string) error {
			return workspace.WithStore(c.Context(), con, true, func(s *workspace.Session) error {
				return importEnvironment(c.Context(), s, args[0])
			})
		},
	}
}

func importEnvironment(ctx context.Context, s *workspace.Session, path string) error {
	if _, err := os.Stat(path); err != nil { // Open would create it
		return err
	}
	from, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	var all []store.Environment
	err = from.Read(ctx, func(tx store.Tx) (err error) {
		all, err = tx.Environments()
		return err
	})
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return fmt.Errorf("%s has %s: use a file from 'lumi env export', which has one", path, console.Count(len(all), "environment"))
	}
	name, err := workspace.EnvironmentName(s.Workspace, all[0].Name)
	if err != nil {
		return err
	}
	if err := environment.Copy(ctx, from, s.Store, name); err != nil {
		return err
	}
	return s.Finish("environment %s added", name)
}
