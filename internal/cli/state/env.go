package state

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/secret"
	codec "github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

// newEnvCommand returns the group of commands for environments.
func newEnvCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "env",
		Short: "list, create, delete, and move environments",
		Long: `Modules are deployed to an environment, such as dev or prod. The state of all environments is in
.lumi/state.db, next to Lumi.yaml.`,
		Annotations: console.ExitCodes("done", "refused", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", newEnvListCommand(con), newEnvNewCommand(con), newEnvDeleteCommand(con),
		newEnvExportCommand(con), newEnvImportCommand(con))
	return c
}

// jsonEnvironment is the JSON form of an environment.
type jsonEnvironment struct {
	Name      string   `json:"name"`
	Default   bool     `json:"default"`
	Exists    bool     `json:"exists"` // false if the environment is only listed in Lumi.yaml
	Modules   []string `json:"modules"`
	Resources int      `json:"resources"`
	Last      string   `json:"last"` // the last finished deployment; Ended is its end time
	Ended     string   `json:"ended,omitempty"`
	Key       bool     `json:"key"`
}

func newEnvListCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the environments of the workspace",
		Long: `The default is marked with an asterisk. Environments that exist only in Lumi.yaml are listed, too.
With --json, it prints one object per environment, one per line.`,
		Annotations: console.ExitCodes("the environments are listed", "", console.ElseFailed),
		Example:     console.Examples("Which environments are there?", "lumi env list"),
		RunE: func(c *cobra.Command, _ []string) error {
			return workspace.WithStore(c.Context(), con, false, func(s *workspace.Session) error { return listEnvironments(c.Context(), s) })
		},
	}
}

func listEnvironments(ctx context.Context, s *workspace.Session) error {
	var all []jsonEnvironment
	err := s.Store.Read(ctx, func(tx store.Tx) error {
		rows, err := tx.Environments()
		all = nil
		for i := 0; err == nil && i < len(rows); i++ {
			all = append(all, jsonEnvironment{Name: rows[i].Name, Exists: true, Modules: []string{}, Key: rows[i].Key != ""})
			err = all[i].describe(tx, rows[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range s.Workspace.Environments {
		if !slices.ContainsFunc(all, func(e jsonEnvironment) bool { return e.Name == name }) {
			all = append(all, jsonEnvironment{Name: name, Modules: []string{}})
		}
	}
	slices.SortFunc(all, func(a, b jsonEnvironment) int { return strings.Compare(a.Name, b.Name) })
	standard, _ := workspace.EnvironmentName(s.Workspace, "")
	for i := range all {
		all[i].Default = all[i].Name == standard
	}
	head := []string{"NAME", "MODULES", "RESOURCES", "LAST DEPLOYMENT", "KEY"}
	return console.PrintList(s.Console, all, "No environments.", head, func(e jsonEnvironment) []string {
		name := e.Name + map[bool]string{true: " *"}[e.Default]
		last, key := strings.TrimSpace(e.Last+" "+e.Ended), map[bool]string{true: "yes", false: "no"}[e.Key]
		return []string{name, cmp.Or(strings.Join(e.Modules, ", "), "-"), strconv.Itoa(e.Resources), cmp.Or(last, "-"), key}
	})
}

// describe sets the fields that depend on the stored environment.
func (e *jsonEnvironment) describe(tx store.Tx, row store.Environment) error {
	vertices, err := tx.Vertices(row.Name)
	if err != nil {
		return err
	}
	g, err := codec.Codec{}.Graph(row, vertices)
	if err != nil {
		return fmt.Errorf("environment %s: %w", row.Name, err)
	}
	e.Modules, e.Resources = append(e.Modules, g.Modules()...), g.Count()
	last, err := tx.History(row.Name, 0, 1)
	for _, d := range last {
		e.Last, e.Ended = fmt.Sprintf("%s %s", job.Name(d), strings.ToLower(string(d.State))), runs.Stamp(d.Ended)
	}
	return err
}

func newEnvNewCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "create an environment",
		Long: `The first deployment also creates the environment. This command additionally gives it a key if
Lumi.yaml configures one or LUMI_PASSPHRASE is set; otherwise, the first secret does.`,
		Annotations: console.ExitCodes("the environment is created", "it already exists", console.ElseFailed),
		Example:     console.Examples("Create the environment prod.", "lumi env new prod"),
		RunE: func(c *cobra.Command, args []string) error {
			return workspace.WithStore(c.Context(), con, true, func(s *workspace.Session) error { return newEnvironment(c.Context(), s, args[0]) })
		},
	}
}

func newEnvironment(ctx context.Context, s *workspace.Session, name string) error {
	name, err := workspace.EnvironmentName(s.Workspace, name)
	if err != nil {
		return err
	}
	s.Environment = store.Environment{Name: name, Lineage: rand.Text()}
	err = s.Store.Read(ctx, func(tx store.Tx) error {
		_, err := tx.Environment(name)
		return err
	})
	// For an existing environment, the passphrase is not needed.
	if errors.Is(err, store.ErrNotFound) && (s.Workspace.Keys[name] != "" || s.Getenv(secret.PassphraseVariable) != "") {
		w, err := s.Wrapper()
		if err != nil {
			return err
		}
		if s.Environment.Key, err = w.Wrap(ctx, secret.NewKey()); err != nil {
			return err
		}
	}
	if err := environment.Add(ctx, s.Store, s.Environment); err != nil {
		return err
	}
	return s.Finish("environment %s created", name)
}

func newEnvDeleteCommand(con *console.Console) *cobra.Command {
	var yes, force bool
	c := &cobra.Command{
		Use:   "delete NAME",
		Short: "delete an environment with its history",
		Long: `It is refused while the environment has resources, which 'lumi destroy' deletes, or queued
deployments. With --force, it deletes the state and leaves the real resources. Without a terminal,
--yes is required.`,
		Annotations: console.ExitCodes("the environment is deleted", "refused", console.ElseFailed),
		Example:     console.Examples("Delete an environment without resources.", "lumi env new prod && lumi env delete prod --yes"),
		RunE: func(c *cobra.Command, args []string) error {
			return workspace.WithStore(c.Context(), con, false, func(s *workspace.Session) error {
				s.Environment.Name = args[0]
				return deleteEnvironment(c.Context(), s, yes, force)
			})
		},
		ValidArgsFunction: workspace.CompleteEnvironments,
	}
	c.Flags().BoolVar(&force, "force", false, "delete the state even if it has resources; the real resources are kept")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation")
	return c
}

func deleteEnvironment(ctx context.Context, s *workspace.Session, yes, force bool) error {
	name, resources := s.Environment.Name, 0
	check := func(tx store.Tx) (err error) {
		resources, err = environment.Deletable(tx, name, force)
		return err
	}
	err := s.Store.Read(ctx, check)
	if errors.Is(err, store.ErrNotFound) {
		return s.UnknownEnvironment(ctx)
	} else if err != nil {
		return err
	}
	what := fmt.Sprintf("Delete the history and the state of %s, without deleting these,", console.Count(resources, "resource"))
	if resources == 0 {
		what = "Delete the history"
	}
	if err := s.Agreed(yes, what); err != nil {
		return err
	}
	err = s.Store.Write(ctx, name, func(tx store.Tx) error { return cmp.Or(check(tx), tx.DeleteEnvironment(name)) })
	if err != nil {
		return err
	}
	if resources > 0 {
		s.Say("no longer managed, but not deleted: %s of %s", console.Count(resources, "resource"), name)
	}
	return s.Finish("environment %s deleted", name)
}
