package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// resource returns the resource selected by key, which may be waiting for its deletion.
func resource(s *workspace.Session, snapshot *lumigl.Snapshot, key string) (*lumigl.Vertex, error) {
	v, err := query.New(snapshot.Base()).Find(key)
	if err == nil && v.Type != lumigl.ModuleType {
		return v, nil
	}
	for _, v := range snapshot.Pending.Deletes {
		if v.Key() == key || v.URN().Name() == key {
			return v, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s is a module, not a resource", v.Key())
	}
	return nil, fmt.Errorf("%s%s: %w", workspace.EnvironmentPrefix, s.Environment.Name, err)
}

func newStateListCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "list",
		Short: "list the resources of an environment",
		Long: `Print one line per resource: key, type, and id, separated by tabs, or a table on a terminal.
Resources of older module versions are listed last, marked such as "a::46 for b". 'lumi show
env:NAME' prints a tree.

With --json, it prints the same objects as 'lumi show'.`,
		Annotations: console.ExitCodes("the resources are listed", "", console.ElseFailed),
		Example:     console.Examples("List the resources of the environment dev.", "lumi state list --environment=dev"),
	}, showState)
}

func newStateShowCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "show KEY...",
		Short: "show resources of an environment in full",
		Long: `KEY is a URN, the end of one, or a unique name. If an older module version that is still in use has
a resource with the same URN, both are shown. Secrets are masked.

With --json, it prints the same objects as 'lumi show'.`,
		Annotations: console.ExitCodes("the resources are shown", "", console.ElseFailed),
		Example:     console.Examples("What is recorded about a resource?", "lumi state show password"),
	}, showState)
}

// showState lists the resources of an environment or, with keys, shows the selected resources with all fields. Secrets
// are never shown, so no key is needed.
func showState(ctx context.Context, s *workspace.Session, keys []string) error {
	snapshot, err := s.Snapshot(ctx, nil)
	if err != nil {
		return err
	}
	v := &display.Viewer{Con: s.Console, View: "plain", Index: query.New(snapshot.Base())}
	if v.Doc = (&document.File{Input: document.Input{Name: workspace.EnvironmentPrefix + s.Environment.Name}, Document: snapshot}); s.Out.Terminal {
		v.View = "table"
	}
	return v.Show(keys)
}

func newStateGetCommand(con *console.Console) *cobra.Command {
	var reveal bool
	c := workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "get KEY PATH",
		Short: "print a value of a resource",
		Long: `KEY is as for 'lumi state show'. PATH is a property or a part of one, such as tags.owner or
ingress[0].port, or id or urn. Strings are printed as they are, other values, and all values with
--json, as JSON. Secrets require --show-secrets and the key of the environment.`,
		Annotations: console.ExitCodes("the value is printed", "", console.ElseFailed),
		Example: console.Examples(
			"How long is the password?", "lumi state get password length",
			"Use an id in a script.", "ID=$(lumi state get password id)",
		),
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		return get(ctx, s, args[0], args[1], reveal)
	})
	c.Flags().BoolVar(&reveal, "show-secrets", false, "print the value even if it is or contains a secret")
	return c
}

func get(ctx context.Context, s *workspace.Session, name, path string, reveal bool) (err error) {
	var key *secret.Key
	if reveal {
		key, err = s.Key(ctx)
	}
	if err != nil {
		return err
	}
	snapshot, err := s.Snapshot(ctx, key)
	if err != nil {
		return err
	}
	v, err := resource(s, snapshot, name)
	if err != nil {
		kept := display.Viewer{Index: query.New(snapshot.Base()), Older: display.OlderVersions(snapshot)}
		found, _ := kept.Find(name)
		if len(found) != 1 || kept.OlderOf(found[0]) == nil {
			return err
		}
		v = found[0]
	}
	all := v.Properties
	for name, value := range map[string]string{"id": v.ID, "urn": v.Key()} {
		if !all.Get(name).Exists() {
			all = all.With(name, lumigl.TextOf(value))
		}
	}
	what := term.Visible(v.URN().Name())
	value, hidden, err := expr.At(all, path)
	text, isText := value.Text()
	switch {
	case err != nil:
		return fmt.Errorf("%s: %s: %w", what, path, err)
	case hidden && !reveal:
		return fmt.Errorf("%s of %s is or contains a secret: use --show-secrets", path, what)
	case value.Kind() == lumigl.Null:
		return fmt.Errorf("%s has no %s%s", what, path, nearProperty(all, path))
	case !expr.IsKnown(value):
		return fmt.Errorf("%s of %s is not known yet", path, what)
	case !isText || s.JSON:
		return s.PrintJSON(json.RawMessage(display.AppendJSON(nil, value, lumigl.DefaultTag)))
	case s.Out.Terminal:
		text = term.Visible(text)
	}
	s.Printf("%s\n", text)
	return nil
}

// nearProperty returns a hint with a known property similar to an unknown one, or "" if there is none.
func nearProperty(all lumigl.Value, path string) string {
	first, names := wire.PathParts(path)[0], []string(nil)
	for name := range all.Members() {
		names = append(names, name)
	}
	if near := suggest.Name(first, names); near != "" && near != first {
		return "; did you mean " + near + "?"
	}
	return ""
}

func newStateExportCommand(con *console.Console) *cobra.Command {
	var out document.Output
	var reveal bool
	c := workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "export",
		Short: "write the state of an environment as a LumiGL snapshot",
		Long: `The snapshot contains the newest version of each module; its field "versions" lists resources of
older ones that are still in use. Secrets are unknown unless --show-secrets is given, which requires
the key of the environment. The file is readable only by the user.`,
		Annotations: console.ExitCodes("the snapshot is written", "", console.ElseFailed),
		Example: console.Examples(
			"Write the state to a file, without secrets.", "lumi state export --output=dev.json",
			"Write it with secrets, for 'lumi state import'.", "lumi state export --show-secrets --output=all.json",
		),
	}, func(ctx context.Context, s *workspace.Session, _ []string) error { return export(ctx, s, &out, reveal) })
	document.OutputVar(c, &out, "the snapshot", "json")
	c.Flags().BoolVar(&reveal, "show-secrets", false, "include secrets in plaintext, but not on a terminal")
	return c
}

// export writes the state of the environment as a snapshot.
func export(ctx context.Context, s *workspace.Session, out *document.Output, reveal bool) error {
	err := out.Misuse()
	if err == nil {
		err = out.Free(s.Console, workspace.Location(s.Workspace))
	}
	if err == nil && reveal && s.Out.Terminal && out.Name == "" {
		err = errors.New("--show-secrets cannot be used on a terminal; " + document.Withheld)
	}
	var key *secret.Key
	if err == nil && reveal {
		key, err = s.Key(ctx)
	}
	if err != nil {
		return err
	}
	g, err := s.Editor(key).Graph(ctx)
	if err != nil {
		return err
	}
	snapshot := g.Snapshot()
	workspace.NoteProvisioners(snapshot, g)
	for _, module := range g.Modules() {
		if newest := g.Newest(module); newest != nil {
			noteDependencies(snapshot, newest)
		}
	}
	write := func(w io.Writer) error { return lumigl.Write(w, snapshot) }
	if out.Name != "" {
		return out.Write(s.Console, workspace.Location(s.Workspace), write, fs.FileMode(0o600))
	}
	return write(s.Stdout)
}

func newStateBackupCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "copy the state of all environments to a new file",
		Long: `Make a consistent copy of .lumi/state.db, even while deployments run. Secrets stay encrypted.
docs/engine.md explains how to restore it.`,
		Annotations: console.ExitCodes("the copy is written", "", console.ElseFailed),
		Example:     console.Examples("Make a backup.", "lumi state backup state.backup"),
		RunE: func(c *cobra.Command, args []string) error {
			return workspace.WithStore(c.Context(), con, false, func(s *workspace.Session) error {
				if s.Database == nil {
					return fmt.Errorf("%s does not exist yet", workspace.Location(s.Workspace))
				}
				file, ok := s.Database.(*sqlite.Store)
				if !ok {
					return fmt.Errorf("%s is not a file: back it up with pg_dump", workspace.Location(s.Workspace))
				}
				return file.Backup(c.Context(), args[0])
			})
		},
	}
}
