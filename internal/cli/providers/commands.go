// Package providers has the commands for people who write providers.
package providers

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Commands returns the commands for people who write providers.
func Commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{newProviderCommand(con)}
}
