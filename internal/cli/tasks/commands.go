// Package tasks implements the commands for task graphs and the server for them.
package tasks

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for task graphs.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{newTasksCommand(con), newServeCommand(con)}
}

// newTasksCommand returns the group of commands for task graphs.
func newTasksCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use: "tasks", Short: "run task graphs on nodes",
		Long: `A task graph patches, upgrades, or repairs what was deployed. It has a type, such as default or
upgrade, and an owner: a release, an environment, or a plugin. Graphs of the release and the plugins
that an environment uses are merged with its own. docs/tasks.md explains task graphs.`,
		Annotations: console.ExitCodes("done", "refused, or a graph has errors", console.ElseFailed),
	}
	console.AddCommands(c, "Graphs", newTasksListCommand(con), newTasksCheckCommand(con), newTasksUploadCommand(con), newTasksDownloadCommand(con), newTasksShowCommand(con),
		newTasksExplainCommand(con), newTasksDiffCommand(con), newTasksDeleteCommand(con))
	console.AddCommands(c, "Runs", newTasksRunCommand(con), newTasksStatusCommand(con), newTasksLogsCommand(con), newTasksStopCommand(con))
	console.AddCommands(c, "Layers", newTasksUseCommand(con), newReleasesCommand(con, store.ReleaseLayer), newReleasesCommand(con, store.PluginLayer))
	return c
}
