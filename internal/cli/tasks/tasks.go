package tasks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/server/client"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// tasker is an invocation of a subcommand of 'lumi tasks'.
type tasker struct {
	*workspace.Session // has no workspace and no store if a server is used
	api                service.API
	local              *service.Service // nil if a server is used
	flags              *taskFlags
}

// taskFlags holds the flags shared by the subcommands of 'lumi tasks'.
type taskFlags struct {
	workspace.Flags
	server, release, plugin, graphType, file string
	layers                                   []string
	yes                                      bool
	service                                  taskOptions
}

// layerNames lists the display names of the layers in their default order.
var layerNames = []string{"release", "cluster", "plugins"}

func (f *taskFlags) declare(c *cobra.Command, names string) {
	flags := c.Flags()
	for name := range strings.FieldsSeq(names) {
		switch name {
		case "environment":
			f.Add(c)
		case "type":
			flags.StringVar(&f.graphType, name, "", "the `TYPE` of the graph (default \"default\")")
			completes(c, name, completeTypes)
		case "release":
			flags.StringVar(&f.release, name, "", "the graph of a release: `NAME`, NAME@VERSION or its ID")
			completes(c, name, completeReleases(store.ReleaseLayer))
		case "plugin":
			flags.StringVar(&f.plugin, name, "", "the graph of a plugin: `NAME`, NAME@VERSION or its ID")
			completes(c, name, completeReleases(store.PluginLayer))
		case "layers":
			flags.StringSliceVar(&f.layers, name, nil, "the merged graph of `LAYERS` of the environment: release, cluster, and plugins, separated by commas")
			completes(c, name, completeLayers)
		case "file":
			flags.StringVar(&f.file, name, "", "the `FILE` with the graph; - is standard input")
			_ = c.MarkFlagFilename(name, "yaml", "yml", "json")
		case "yes":
			flags.BoolVarP(&f.yes, name, "y", false, "skip the confirmation")
		}
	}
	flags.StringVar(&f.server, "server", "", "use the server at `URL` instead of the workspace, with the token in $LUMI_TOKEN")
}

// completes sets the function that completes the values of a flag.
func completes(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	_ = c.RegisterFlagCompletionFunc(flag, f)
}

var completeLayers = cobra.FixedCompletions(layerNames, cobra.ShellCompDirectiveNoFileComp)

// taskFunc implements a subcommand of 'lumi tasks'.
type taskFunc func(t *tasker, ctx context.Context, args []string) error

// withTasks configures c to call do, with the named flags. If creates is set, the command may create the store of the
// workspace.
func withTasks(con *console.Console, f *taskFlags, flags string, creates bool, c *cobra.Command, do taskFunc) *cobra.Command {
	f.declare(c, flags)
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.server != "" {
			session := &workspace.Session{Console: con}
			api, err := client.New(client.Options{URL: f.server, Token: con.Getenv("LUMI_TOKEN"), CA: con.Getenv("LUMI_CA"), Report: func(message string) {
				session.Report(store.Event{Time: time.Now().UTC(), Level: "warn", Message: message})
			}})
			if err != nil {
				return console.Misused("--server=%s: %s", f.server, err)
			}
			return do(&tasker{session, api, nil, f}, c.Context(), args)
		}
		return workspace.WithStore(c.Context(), con, creates, func(s *workspace.Session) error {
			local := taskService(s, f.service)
			return do(&tasker{s, local, local, f}, c.Context(), args)
		})
	}
	return c
}

// enter selects the environment given by the flags, or the default environment.
func (t *tasker) enter(ctx context.Context, missing workspace.IfMissing) (err error) {
	if t.local != nil {
		if t.Environment.Name, err = workspace.EnvironmentName(t.Workspace, t.flags.Environment); err != nil {
			return err
		}
		return t.Enter(ctx, missing)
	}
	w := &lumiyaml.Workspace{} // the server validates the environment
	if t.flags.Environment == "" {
		if w, err = workspace.Find(); err != nil {
			return console.Misused("no environment given: use --environment=NAME")
		}
	}
	t.Environment.Name, err = workspace.EnvironmentName(w, t.flags.Environment)
	return err
}

// graphType returns the graph type given by the flags, or the default type.
func (t *tasker) graphType() string { return cmp.Or(t.flags.graphType, taskgraph.DefaultType) }

// owner returns the graph owner selected by the flags and its display name. The default is the environment.
func (t *tasker) owner(ctx context.Context, missing workspace.IfMissing) (store.Owner, string, error) {
	layer, given := store.ReleaseLayer, t.flags.release
	switch {
	case given != "" && t.flags.plugin != "":
		return store.Owner{}, "", console.Misused("--release and --plugin cannot be combined")
	case t.flags.plugin != "":
		layer, given = store.PluginLayer, t.flags.plugin
	case given == "":
		err := t.enter(ctx, missing)
		return store.Owner{Layer: store.ClusterLayer, Environment: t.Environment.Name}, "cluster " + t.Environment.Name, err
	}
	r, err := t.release(ctx, layer, given)
	return store.Owner{Layer: layer, ID: r.ID}, r.String(), err
}

// release returns the release or plugin with the given name, name and version, or ID.
func (t *tasker) release(ctx context.Context, layer store.Layer, given string) (service.Release, error) {
	all, err := t.api.Releases(ctx, layer)
	if err != nil {
		return service.Release{}, err
	}
	var found []service.Release
	var names, versions []string
	for _, r := range all {
		full := r.Name + "@" + r.Version
		if given == r.Name || given == full || given == strconv.FormatInt(r.ID, 10) {
			found, versions = append(found, r), append(versions, full)
		}
		names = append(names, r.Name, full)
	}
	switch near := suggest.DidYouMean(given, names); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return service.Release{}, console.Misused("ambiguous %s: %s", layer, strings.Join(versions, " or "))
	case near != "":
		return service.Release{}, refused("%s %s not found%s", layer, given, near)
	}
	return service.Release{}, refused("%s %s not found; 'lumi tasks %[1]s list' lists them", layer, given)
}

// refused returns an error that makes the command exit with code 1.
func refused(format string, args ...any) error {
	return &service.Error{Kind: service.NotFound, Message: fmt.Sprintf(format, args...)}
}

// PrintErrors prints the errors in graphs as text on standard error or, with --json, as JSON on standard output.
func PrintErrors(con *console.Console, err *taskgraph.Error) {
	for _, p := range err.Problems {
		if con.JSON {
			_ = con.PrintJSON(struct {
				File string `json:"file,omitempty"`
				taskgraph.Problem
			}{err.File, p})
			continue
		}
		if p.Line > 0 && p.Layer != "" && !strings.HasPrefix(p.Layer, "graph ") {
			p.Message += ", in " + p.Layer
		}
		printTaskProblem(con, err.File, p, con.Err.Paint(term.BoldRed, "error:"))
	}
	_ = con.Stdout.Flush()
}

// printTaskProblem prints an error or warning about a task on standard error.
func printTaskProblem(con *console.Console, file string, p taskgraph.Problem, severity string) {
	where, message := cmp.Or(p.Layer, file), p.Message
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
	}
	if p.Task != "" {
		message = "task " + p.Task + ": " + message
	}
	fmt.Fprintln(con.Stderr, con.Err.Paint(term.Bold, term.Visible(cmp.Or(where, "lumi"))+":"), severity, term.Paragraph(message))
}

// several joins names with commas. It abbreviates the list if there are more than most names.
func several(names []string, most int) string {
	if len(names) > most {
		names = []string{strings.Join(names[:2], ", "), fmt.Sprintf("… %s (%d)", names[len(names)-1], len(names))}
	}
	return term.Visible(strings.Join(names, ", "))
}

// fromStore returns a completion function for the names that f reads from the store.
func fromStore(f func(store.Tx) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		workspace.InStore(c, func(_ *lumiyaml.Workspace, tx store.Tx, _ string) { names = f(tx) })
		return workspace.Completed(names), cobra.ShellCompDirectiveNoFileComp
	}
}

var completeTypes = fromStore(func(tx store.Tx) (names []string) {
	graphs, _ := tx.Graphs()
	for _, g := range graphs {
		names = append(names, g.Type)
	}
	return names
})

var completeTasks = fromStore(func(tx store.Tx) (names []string) {
	graphs, _ := tx.Graphs()
	for _, g := range graphs {
		tasks, _ := tx.GraphTasks(g.ID)
		for _, t := range tasks {
			names = append(names, t.Name)
		}
	}
	return names
})

// completeReleases returns a completion function for releases or plugins, in the form NAME@VERSION.
func completeReleases(layer store.Layer) cobra.CompletionFunc {
	return fromStore(func(tx store.Tx) (names []string) {
		all, _ := tx.Releases()
		for _, r := range all {
			if r.Layer == layer {
				names = append(names, r.Name+"@"+r.Version)
			}
		}
		return names
	})
}

func completeNodes(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	environment, _ := c.Flags().GetString("environment")
	file, _ := c.Flags().GetString("inventory")
	_ = workspace.WithEnvironment(c.Context(), console.New(strings.NewReader(""), io.Discard, io.Discard, os.Getenv), environment, workspace.Pretend, func(s *workspace.Session) error {
		nodes, _, err := loadInventory(c.Context(), s, s.Environment.Name, file)
		if err == nil {
			for _, n := range nodes.Nodes {
				names = append(names, n.Name)
			}
		}
		return err
	})
	return workspace.Completed(names), cobra.ShellCompDirectiveNoFileComp
}

// completeRuns completes the last hundred runs of the environment, newest first.
func completeRuns(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	workspace.InStore(c, func(_ *lumiyaml.Workspace, tx store.Tx, environment string) {
		rows, _ := tx.Runs(environment, 0, 100)
		for _, d := range rows {
			if len(args) == 0 {
				names = append(names, fmt.Sprintf("%s[%d]\t%s", d.Module, d.ID, d.State))
			}
		}
	})
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// result prints v as JSON if --json is set, and a formatted line otherwise.
func (t *tasker) result(v any, format string, args ...any) error {
	if t.JSON {
		return t.PrintJSON(v)
	}
	return t.Finish(format, args...)
}
