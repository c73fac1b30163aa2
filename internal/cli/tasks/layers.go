package tasks

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// newReleasesCommand returns the group of commands for releases or, depending on layer, plugins.
func newReleasesCommand(con *console.Console, layer store.Layer) *cobra.Command {
	what := string(layer)
	c := &cobra.Command{
		Use: what, Short: "list, add, and delete " + what + "s", Annotations: console.ExitCodes("done", "refused", console.ElseFailed),
		Long: `A release is a version of a package. Its task graphs are the first layer of the environments that use it.`,
	}
	if layer == store.PluginLayer {
		c.Long = `A plugin adds tasks to the graphs of the environments that use it. It is not a provider's plugin.`
	}
	console.AddCommands(c, "Commands", withTasks(con, &taskFlags{}, "", false, &cobra.Command{
		Use: "list", Short: "list " + what + "s",
		Long:        `List all ` + what + `s with their IDs in the REST API. With --json, it prints one object per line.`,
		Annotations: console.ExitCodes("the "+what+"s are listed", "", console.ElseFailed),
		Example:     console.Examples("Which "+what+"s are there?", "lumi tasks "+what+" list"),
	}, func(t *tasker, ctx context.Context, _ []string) error {
		all, err := t.api.Releases(ctx, layer)
		if err != nil {
			return err
		}
		return console.PrintList(t.Console, all, "No "+what+"s.", []string{"ID", "NAME", "VERSION"}, func(r service.Release) []string {
			return []string{strconv.FormatInt(r.ID, 10), r.Name, r.Version}
		})
	}), withTasks(con, &taskFlags{}, "", true, &cobra.Command{
		Use: "add NAME VERSION", Short: "add a " + what,
		Long:        `Add a ` + what + ` without graphs; 'lumi tasks upload --` + what + `=NAME@VERSION' uploads one.`,
		Annotations: console.ExitCodes("the "+what+" is added", "it already exists", console.ElseFailed),
		Example:     console.Examples("Add a version.", "lumi tasks "+what+" add shop 1.3"),
	}, func(t *tasker, ctx context.Context, args []string) error {
		r, err := t.api.AddRelease(ctx, service.Release{Layer: layer, Name: args[0], Version: args[1]})
		if err != nil {
			return err
		}
		return t.result(r, "Added %s.", r)
	}), withTasks(con, &taskFlags{}, "yes", false, &cobra.Command{
		Use: "delete " + strings.ToUpper(what), Short: "delete a " + what + " with its graphs",
		Long: `Delete a ` + what + ` with its graphs, after confirmation unless --yes is given. ` + strings.ToUpper(what) + `
is NAME, NAME@VERSION, or an ID. It is refused while an environment uses the ` + what + `.`,
		Annotations:       console.ExitCodes("the "+what+" is deleted", "refused", console.ElseFailed),
		Example:           console.Examples("Delete a version that no environment uses.", "lumi tasks "+what+" delete shop@1.0 --yes"),
		ValidArgsFunction: completeReleases(layer),
	}, func(t *tasker, ctx context.Context, args []string) error {
		r, err := t.release(ctx, layer, args[0])
		if err != nil {
			return err
		}
		return t.deleted(r.String(), " with its graphs", func() error { return t.api.DeleteRelease(ctx, layer, r.ID) })
	}))
	return c
}

// selecting holds the flags of 'lumi tasks use'.
type selecting struct {
	release, override string
	plugins, order    []string
}

// none is the flag value that clears a selection.
const none = "none"

func newTasksUseCommand(con *console.Console) *cobra.Command {
	var s selecting
	c := withTasks(con, &taskFlags{}, "environment", true, &cobra.Command{
		Use: "use", Short: "select the release and the plugins of an environment",
		Long: `The effective graph of an environment merges the graphs of its release, its own, and its plugins;
later layers override earlier ones. Omitted flags change nothing; none clears a selection. Without
flags, it prints the selection. A selection that would make an effective graph invalid is refused.`,
		Annotations: console.ExitCodes("the selection is stored or shown", "refused", console.ElseFailed),
		Example: console.Examples(
			"Which layers does the environment have?", "lumi tasks use",
			"Use a release and two plugins, which are merged in this order.", "lumi tasks use --release=shop@1.2 --plugin=monitoring,backup",
			"Let the environment override the plugins.", "lumi tasks use --order=release,plugins,cluster",
		),
	}, func(t *tasker, ctx context.Context, _ []string) error { return t.use(ctx, s) })
	flags := c.Flags()
	flags.StringVar(&s.release, "release", "", "use a release: `NAME`, NAME@VERSION, its ID, or none")
	flags.StringSliceVar(&s.plugins, "plugin", nil, "use plugins, in this order: `NAME`, NAME@VERSION, an ID, or none, separated by commas")
	flags.StringSliceVar(&s.order, "order", nil, "merge `LAYERS` in this order: release, cluster, and plugins, separated by commas")
	console.ChoiceVar(c, flags, &s.override, "override", "", "`WHAT` a later layer overrides", "attributes", "tasks")
	completes(c, "release", completeReleases(store.ReleaseLayer))
	completes(c, "plugin", completeReleases(store.PluginLayer))
	completes(c, "order", completeLayers)
	return c
}

// use changes the selected layers of the environment, if flags are set, and prints them.
func (t *tasker) use(ctx context.Context, by selecting) error {
	changes, missing := by.release+by.override != "" || len(by.plugins)+len(by.order) > 0, workspace.Fail
	if changes {
		missing = workspace.Create
	}
	if err := t.enter(ctx, missing); err != nil {
		return err
	}
	s, err := t.api.Selection(ctx, t.Environment.Name)
	if err != nil {
		return err
	}
	if changes {
		if err = t.selected(ctx, &s, by); err == nil {
			s, err = t.api.Use(ctx, s)
		}
	}
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(s)
	}
	release, names, what := none, []string{}, "attributes of tasks"
	if s.Release != nil {
		release = s.Release.Name + " " + s.Release.Version
	}
	for _, p := range s.Plugins {
		names = append(names, p.Name+" "+p.Version)
	}
	if s.Whole {
		what = "whole tasks"
	}
	order := strings.NewReplacer("[", "", "]", "", " ", ", ", "plugin", "plugins").Replace(fmt.Sprint(s.Order))
	t.Printf("Environment %s\n  release: %s\n  plugins: %s\n  order: %s, later ones override %s\n", s.Environment,
		term.Visible(release), term.Visible(cmp.Or(strings.Join(names, ", "), none)), order, what)
	return nil
}

// selected applies the flags to a selection.
func (t *tasker) selected(ctx context.Context, s *service.Selection, by selecting) (err error) {
	if by.release != "" {
		all, err := t.releases(ctx, store.ReleaseLayer, []string{by.release})
		if err != nil {
			return err
		}
		if s.Release = nil; len(all) > 0 {
			s.Release = &all[0]
		}
	}
	if len(by.plugins) > 0 {
		if s.Plugins, err = t.releases(ctx, store.PluginLayer, by.plugins); err != nil {
			return err
		}
	}
	if len(by.order) > 0 {
		s.Order, err = parseLayers("order", by.order)
	}
	if by.override != "" {
		s.Whole = by.override == "tasks"
	}
	return err
}

// releases returns the releases with the given names. The single name none selects no releases.
func (t *tasker) releases(ctx context.Context, layer store.Layer, names []string) ([]service.Release, error) {
	all := []service.Release{}
	for _, name := range names {
		if name == none && len(names) == 1 {
			break
		}
		r, err := t.release(ctx, layer, name)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
