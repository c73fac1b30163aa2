package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/atomicfile"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

func newTasksListCommand(con *console.Console) *cobra.Command {
	return withTasks(con, &taskFlags{}, "environment type release plugin", false, &cobra.Command{
		Use: "list", Short: "list graphs",
		Long: `List the graphs of all owners, or of one release, plugin, or environment. With --json, it prints
one object per graph, one per line.`,
		Annotations: console.ExitCodes("the graphs are listed", "the release or plugin does not exist", console.ElseFailed),
		Example: console.Examples(
			"Which graphs are there?", "lumi tasks list",
			"Which types of graphs does the newest release have?", "lumi tasks list --release=shop@1.2 --json | jq -r .type",
		),
	}, (*tasker).list)
}

func (t *tasker) list(ctx context.Context, _ []string) error {
	var of *store.Owner
	if t.flags.Environment+t.flags.release+t.flags.plugin != "" {
		owner, _, err := t.owner(ctx, workspace.Fail)
		if err != nil {
			return err
		}
		of = &owner
	}
	all, err := t.api.Graphs(ctx, of)
	if err != nil {
		return err
	}
	names := map[store.Owner]string{}
	for _, layer := range []store.Layer{store.ReleaseLayer, store.PluginLayer} {
		releases, err := t.api.Releases(ctx, layer)
		if err != nil {
			return err
		}
		for _, r := range releases {
			names[store.Owner{Layer: layer, ID: r.ID}] = r.String()
		}
	}
	all = slices.DeleteFunc(all, func(g service.Graph) bool { return t.flags.graphType != "" && g.Type != t.flags.graphType })
	return console.PrintList(t.Console, all, "No graphs.", []string{"ID", "OWNER", "TYPE", "NAME"}, func(g service.Graph) []string {
		return []string{strconv.FormatInt(g.ID, 10), cmp.Or(names[g.Relations[0]], "cluster "+g.Relations[0].Environment), g.Type, g.Name}
	})
}

func newTasksDownloadCommand(con *console.Console) *cobra.Command {
	var out document.Output
	c := withTasks(con, &taskFlags{}, "environment type release plugin layers", false, &cobra.Command{
		Use: "download", Short: "write a graph to a file",
		Long: `Write the graph of the environment, a release, or a plugin as YAML, or as JSON with --json. With
--layers, it merges the given layers of the environment.`,
		Annotations: console.ExitCodes("the graph is written", "the graph does not exist", console.ElseFailed),
		Example: console.Examples(
			"Edit a graph.", "lumi tasks download --file=downloaded.yaml",
			"Print what runs in the environment.", "lumi tasks download --layers=release,cluster,plugins",
		),
	}, func(t *tasker, ctx context.Context, _ []string) error { return t.download(ctx, &out) })
	c.Flags().StringVar(&out.Name, "file", "", "write the graph to `FILE`; - is standard output")
	c.Flags().BoolVar(&out.Force, "force", false, "let --file overwrite an existing file")
	return c
}

func (t *tasker) download(ctx context.Context, out *document.Output) error {
	g, err := t.find(ctx)
	if err != nil {
		return err
	}
	text, err := taskgraph.Format(&g)
	if t.JSON {
		text, err = term.JSON(g)
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	if out.Name == "" || out.Name == document.StdinArg {
		_, err = t.Stdout.Write(text)
		return err
	}
	if err := out.Free(t.Console, ""); err != nil {
		return err
	}
	return out.Write(t.Console, "", atomicfile.Bytes(text), 0o644)
}

// find returns the graph selected by the flags. If they list layers, it returns the merged graph.
func (t *tasker) find(ctx context.Context) (taskgraph.Graph, error) {
	g := taskgraph.Graph{Type: t.graphType()}
	if len(t.flags.layers) > 0 {
		e, err := t.effective(ctx)
		g.Tasks = e.Tasks
		return g, err
	}
	owner, _, err := t.owner(ctx, workspace.Fail)
	if err != nil {
		return g, err
	}
	stored, err := t.api.Find(ctx, owner, g.Type)
	g.Name, g.Tasks = stored.Name, withoutIDs(stored.Tasks)
	return g, err
}

// withoutIDs returns the given tasks without their database IDs.
func withoutIDs(stored []service.Task) []taskgraph.Task {
	all := make([]taskgraph.Task, len(stored))
	for i, t := range stored {
		all[i] = t.Task
	}
	return all
}

// effective returns the graph merged from the layers listed in the flags. The default is all layers.
func (t *tasker) effective(ctx context.Context) (e service.Effective, err error) {
	layers, err := parseLayers("layers", t.flags.layers)
	if err == nil && t.flags.release+t.flags.plugin != "" {
		err = console.Misused("--layers cannot be combined with --release or --plugin")
	}
	if err == nil {
		err = t.enter(ctx, workspace.Fail)
	}
	if err != nil {
		return e, err
	}
	return t.api.Effective(ctx, t.Environment.Name, t.graphType(), layers...)
}

func parseLayers(flag string, names []string) (all []store.Layer, err error) {
	for _, name := range names {
		l := store.Layer(strings.TrimSuffix(name, "s"))
		switch {
		case !slices.Contains(layerNames, name) && l != store.PluginLayer:
			return nil, console.Misused("--%s=%s: must be release, cluster, or plugins", flag, name)
		case slices.Contains(all, l):
			return nil, console.Misused("--%s: duplicate layer %s", flag, name)
		}
		all = append(all, l)
	}
	return all, nil
}

func newTasksShowCommand(con *console.Console) *cobra.Command {
	return withTasks(con, &taskFlags{}, "environment type release plugin layers", false, &cobra.Command{
		Use: "show", Short: "show the tasks of a graph",
		Long: `Show the effective graph of the environment or of some of its layers, or the graph of a release
or plugin: each task with its type, roles, and dependencies. With --json, it prints the graph.`,
		Annotations: console.ExitCodes("the graph is shown", "the graph does not exist", console.ElseFailed),
		Example: console.Examples(
			"What runs in the environment?", "lumi tasks show",
			"What does the release bring?", "lumi tasks show --layers=release",
		),
	}, (*tasker).show)
}

func (t *tasker) show(ctx context.Context, _ []string) error {
	if t.flags.release+t.flags.plugin == "" && len(t.flags.layers) == 0 {
		t.flags.layers = layerNames
	}
	g, err := t.find(ctx)
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(g)
	}
	return console.PrintList(t.Console, g.Tasks, "The graph has no tasks.", []string{"TASK", "TYPE", "ROLES", "WAITS FOR"}, func(task taskgraph.Task) []string {
		a := task.Attributes
		waits, nodes := joined(a["tasks"], a["requires"], a["cross_depends"]), joined(a["roles"], a["groups"], a["tags"])
		return []string{task.ID, brief(a["type"]), nodes, waits}
	})
}

// joined formats attributes on one line, without those that are not set.
func joined(attributes ...any) string {
	var all []string
	for _, v := range attributes {
		if text := brief(v); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// brief formats an attribute on one line, as a list of names or of cross dependencies such as "migrate on db".
func brief(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		return joined(v...)
	case map[string]any:
		if name, ok := v["name"].(string); ok {
			return map[bool]string{true: "any "}[v["policy"] == "any"] + name + " on " + cmp.Or(brief(v["role"]), "*")
		}
	}
	text, _ := term.JSON(v) // attributes are JSON values
	return string(text)
}

func newTasksExplainCommand(con *console.Console) *cobra.Command {
	return withTasks(con, &taskFlags{}, "environment type", false, &cobra.Command{
		Use: "explain [TASK...]", Short: "show which layer each attribute of a task comes from",
		Long: `List the attributes of the effective graph, or of the given tasks, with their values and the
layers that set them. With --json, it prints one object per attribute, one per line.`,
		Annotations: console.ExitCodes("the attributes are shown", "a task does not exist", console.ElseFailed),
		Example: console.Examples(
			"Who has set what?", "lumi tasks explain",
			"Why does a task run where it runs?", `lumi tasks explain install --json | jq 'select(.attribute == "roles")'`,
		),
	}, (*tasker).explain)
}

func (t *tasker) explain(ctx context.Context, tasks []string) error {
	e, err := t.effective(ctx)
	if err != nil {
		return err
	}
	type attribute struct {
		Task      string `json:"task"`
		Attribute string `json:"attribute"`
		Value     any    `json:"value"`
		Layer     string `json:"layer"`
	}
	var all []attribute
	for _, name := range tasks {
		if e.Origins[name] == nil {
			return refused("graph %s of %s has no task %s", e.Type, t.Environment.Name, name)
		}
	}
	for _, task := range e.Tasks {
		for _, name := range task.Names() {
			if len(tasks) == 0 || slices.Contains(tasks, task.ID) {
				all = append(all, attribute{task.ID, name, task.Attributes[name], e.Origins[task.ID][name]})
			}
		}
	}
	return console.PrintList(t.Console, all, "No attributes.", []string{"TASK", "ATTRIBUTE", "VALUE", "LAYER"}, func(a attribute) []string {
		return []string{a.Task, a.Attribute, brief(a.Value), a.Layer}
	})
}

func newTasksDeleteCommand(con *console.Console) *cobra.Command {
	return withTasks(con, &taskFlags{}, "environment type release plugin yes", false, &cobra.Command{
		Use: "delete", Short: "delete a graph",
		Long: `Delete the graph of the given type and its tasks, after confirmation unless --yes is given. Runs
stay in 'lumi tasks status'.`,
		Annotations: console.ExitCodes("the graph is deleted", "refused", console.ElseFailed),
		Example:     console.Examples("Delete a fix that is no longer needed.", "lumi tasks delete --type=fix-1234 --yes"),
	}, (*tasker).delete)
}

func (t *tasker) delete(ctx context.Context, _ []string) error {
	owner, what, err := t.owner(ctx, workspace.Fail)
	if err != nil {
		return err
	}
	g, err := t.api.Find(ctx, owner, t.graphType())
	if err != nil {
		return err
	}
	what = fmt.Sprintf("graph %s of %s", g.Type, what)
	return t.deleted(what, "", func() error { return t.api.Delete(ctx, g.ID) })
}

// deleted asks for confirmation, calls do, and reports the deletion. What names the object to delete; more names
// objects that are deleted with it.
func (t *tasker) deleted(what, more string, do func() error) error {
	if err := t.Sure(t.flags.yes, "Delete "+what+more); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return t.Finish("Deleted %s.", what)
}
