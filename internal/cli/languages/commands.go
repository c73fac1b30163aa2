// Package languages implements the commands for YAQL and MuranoPL.
package languages

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for YAQL and MuranoPL.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{newYaqlCommand(con), newMuranoCommand(con)}
}
