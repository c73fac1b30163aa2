// Package deployments implements the commands that plan, run, and show deployments.
package deployments

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for deployments.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{
		newPlanCommand(con), newDeployCommand(con), newImportCommand(con), newStatusCommand(con), newDestroyCommand(con),
		newHistoryCommand(con), newRetryCommand(con), newAbortCommand(con), newRollbackCommand(con), newResolveCommand(con),
		newPolicyCommand(con),
	}
}
