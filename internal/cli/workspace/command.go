package workspace

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Flags holds the flags shared by all commands that use a workspace.
type Flags struct{ Environment string }

// Add declares the flags of c.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().StringVarP(&f.Environment, "environment", "e", "", "the `NAME` of the environment; by default the one in Lumi.yaml")
	_ = c.RegisterFlagCompletionFunc("environment", CompleteEnvironments)
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "env" {
			name = "environment"
		}
		return pflag.NormalizedName(name)
	})
}

// RunInEnvironment configures c to call do with an existing environment.
func RunInEnvironment(con *console.Console, c *cobra.Command, do func(context.Context, *Session, []string) error) *cobra.Command {
	var f Flags
	f.Add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return WithEnvironment(c.Context(), con, f.Environment, Fail, func(s *Session) error { return do(c.Context(), s, args) })
	}
	if strings.Contains(c.Use, "KEY") || strings.Contains(c.Use, "OLD") {
		c.ValidArgsFunction = CompleteResources
	}
	return c
}
