// Package providers implements the commands for provider authors.
package providers

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for provider authors.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{newProviderCommand(con)}
}
