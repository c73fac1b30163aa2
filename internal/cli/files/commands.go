// Package files implements the commands for LumiGL files.
package files

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for LumiGL files.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{
		newCheckCommand(con), newConvertCommand(con), newDiffCommand(con), newFmtCommand(con),
		newGraphCommand(con), newQueryCommand(con), newShowCommand(con),
	}
}
