package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/linediff"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

func newTasksUploadCommand(con *console.Console) *cobra.Command {
	var name string
	c := withTasks(con, &taskFlags{}, "environment type release plugin file yes", true, &cobra.Command{
		Use: "upload", Short: "create or update a graph",
		Long: `Create or replace a graph from a YAML or JSON file, and print which tasks are added, changed, and
removed. A graph is identified by its type and owner, by default the environment. All effective
graphs that change are checked.

An existing graph of type default is replaced only after confirmation, or with --yes.`,
		Annotations: console.ExitCodes("the graph is stored", "refused, or the graph has errors", console.ElseFailed),
		Example: console.Examples(
			"Upload the default graph of the environment.", "lumi tasks upload --file=tasks.yaml --yes",
			"Upload a fix for two nodes, from another program.", "cat tasks.yaml | lumi tasks upload --type=fix-1234 --file=-",
			"Upload the graph of a release.", "lumi tasks upload --release=shop@1.2 --type=upgrade --name='Rolling upgrade' --file=tasks.yaml",
		),
	}, func(t *tasker, ctx context.Context, _ []string) error { return t.upload(ctx, name) })
	c.Flags().StringVar(&name, "name", "", "a descriptive `NAME` for the graph")
	return c
}

// changes lists the differences between two versions of a graph.
type changes struct {
	Added   []string            `json:"added"`
	Changed map[string][]string `json:"changed"`
	Removed []string            `json:"removed"`
	// Warnings lists the warnings about the new version.
	Warnings []taskgraph.Problem `json:"warnings,omitempty"`
}

func changesOf(before, after []taskgraph.Task) (c changes, text string) {
	c = changes{[]string{}, map[string][]string{}, []string{}, nil}
	var changed []string
	for _, one := range taskgraph.Diff(before, after) {
		switch {
		case one.Old == nil:
			c.Added = append(c.Added, one.New.ID)
		case one.New == nil:
			c.Removed = append(c.Removed, one.Old.ID)
		default:
			c.Changed[one.New.ID] = one.Attributes
			changed = append(changed, one.New.ID+" ("+strings.Join(one.Attributes, ", ")+")")
		}
	}
	for _, part := range []struct {
		verb  string
		names []string
	}{{"added", c.Added}, {"changed", changed}, {"removed", c.Removed}} {
		if len(part.names) > 0 {
			text += fmt.Sprintf("  %s: %s\n", part.verb, several(part.names, 20))
		}
	}
	return c, text
}

func (t *tasker) parseGraph() (*document.Input, *taskgraph.Graph, error) {
	if t.flags.file == "" {
		return nil, nil, console.Misused("--file is required; - is standard input")
	}
	in, err := document.ReadFile(t.Console, t.flags.file)
	if err != nil {
		return nil, nil, err
	}
	g, err := taskgraph.Parse([]byte(in.Src), in.Name)
	if err != nil {
		return nil, nil, err
	}
	if t.flags.graphType != "" && g.Type != "" && g.Type != t.flags.graphType {
		return nil, nil, console.Misused("--type=%s: the graph in %s is of type %s", t.flags.graphType, in.Name, g.Type)
	}
	g.Type = cmp.Or(g.Type, t.graphType())
	t.flags.graphType = g.Type
	for _, p := range g.Warnings {
		if !t.JSON {
			printTaskProblem(t.Console, in.Name, p, t.Err.Paint(term.BoldYellow, "warning:"))
		}
	}
	return in, g, nil
}

func (t *tasker) upload(ctx context.Context, name string) error {
	in, g, err := t.parseGraph()
	if err != nil {
		return err
	}
	owner, what, err := t.owner(ctx, workspace.Create)
	if err != nil {
		return err
	}
	what = fmt.Sprintf("graph %s of %s", g.Type, what)
	g.Name = cmp.Or(name, g.Name)
	old, err := t.api.Find(ctx, owner, g.Type)
	missing, ok := errors.AsType[*service.Error](err)
	isNew := ok && missing.Kind == service.NotFound
	if err != nil && !isNew {
		return err
	}
	before := withoutIDs(old.Tasks)
	after := g.Tasks
	if after == nil { // the file changes only the name
		after = before
	}
	changed, text := changesOf(before, after)
	if !isNew && text != "" && g.Type == taskgraph.DefaultType {
		if err := t.Sure(t.flags.yes, "Replace "+what); err != nil {
			return err
		}
	}
	verb := "Created " + what
	var stored service.Graph
	if isNew {
		stored, err = t.api.Create(ctx, owner, *g)
	} else {
		verb = "Updated " + what
		newName := &g.Name
		if g.Name == "" {
			newName = nil
		}
		stored, err = t.api.Update(ctx, old.ID, newName, g.Tasks)
	}
	if wrong, ok := errors.AsType[*taskgraph.Error](err); ok {
		return &taskgraph.Error{File: in.Name, Problems: g.Locate(wrong.Problems)}
	} else if err != nil {
		return err
	}
	if !isNew && text == "" && stored.Name == old.Name {
		verb = "G" + what[1:] + " is up to date"
	}
	if changed.Warnings = g.Warnings; t.JSON {
		return t.PrintJSON(struct {
			ID   int64  `json:"id"`
			Type string `json:"type"`
			changes
		}{stored.ID, stored.Type, changed})
	}
	t.Printf("%s: %s.\n%s", verb, console.Count(len(stored.Tasks), "task"), text)
	return nil
}

func newTasksDiffCommand(con *console.Console) *cobra.Command {
	return withTasks(con, &taskFlags{}, "environment type release plugin layers file", false, &cobra.Command{
		Use: "diff", Short: "compare a graph with a file",
		Long: `Compare the graph in a file with the stored one, line by line. With --json, it prints one object
with the names of added, changed, and removed tasks.`,
		Annotations: console.ExitCodes("they are equal", "they differ, the graph does not exist, or the file has errors", console.ElseFailed),
		Example:     console.Examples("What would an upload change?", "lumi tasks diff --file=tasks.yaml"),
	}, (*tasker).diff)
}

func (t *tasker) diff(ctx context.Context, _ []string) error {
	in, g, err := t.parseGraph()
	if err != nil {
		return err
	}
	stored, err := t.find(ctx)
	if err != nil {
		return err
	}
	changed, text := changesOf(stored.Tasks, g.Tasks)
	if changed.Warnings = g.Warnings; t.JSON {
		err = t.PrintJSON(changed)
	}
	switch {
	case err != nil || text == "":
		return err
	case t.JSON:
		return console.ErrWrong
	}
	at := map[string]int{} // the order of tasks is irrelevant
	for i, task := range g.Tasks {
		at[task.ID] = i - len(g.Tasks)
	}
	slices.SortStableFunc(stored.Tasks, func(a, b taskgraph.Task) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	g.Name = stored.Name
	old, err := taskgraph.Format(&stored)
	if err != nil {
		return err
	}
	now, err := taskgraph.Format(g)
	if err != nil {
		return err
	}
	styles := map[string]term.Style{"+": term.Green, "-": term.Red}
	linediff.Unified("stored", string(old), in.Name, string(now), func(sign, text string) {
		t.Printf("%s\n", t.Out.Paint(styles[sign], term.Visible(sign+text)))
	})
	return console.ErrWrong
}
