// Package state implements the commands for environments, their state, and module outputs.
package state

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for environments and their state.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{
		newEnvCommand(con), newConfigCommand(con), newOutputCommand(con), newRefreshCommand(con), newStateCommand(con),
	}
}

// newStateCommand returns the group of commands for the state of an environment.
func newStateCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "state",
		Short: "show and change the state of an environment",
		Long: `The state records the resources of an environment. These commands never create, change, or delete
resources. Commands that read LumiGL files also accept env:NAME, as in 'lumi diff env:dev env:prod'.`,
		Annotations: console.ExitCodes("done", "refused, or a file has errors", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", newStateListCommand(con), newStateShowCommand(con), newStateGetCommand(con), newStateExportCommand(con),
		newStateImportCommand(con), newStateMoveCommand(con), newStateForgetCommand(con), newStateRekeyCommand(con), newStateBackupCommand(con), newStateAdoptCommand(con))
	return c
}
