package state

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

func newStateAdoptCommand(con *console.Console) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "adopt",
		Short: "use a copied or restored state from now on",
		Long: `A copy of a state, or a restored backup, can be read and planned with, but not deployed: if the
original is still in use, both would manage the same resources. This command makes the copy an
original. Deployments that were running when it was copied then wait for 'lumi retry' or
'lumi abort', since their calls may have taken effect.

Make sure first that nothing uses the original anymore. Without a terminal, --yes is required.`,
		Annotations: console.ExitCodes("the state is in use here", "", console.ElseFailed),
		Example:     console.Examples("Restore a backup.", "cp state.backup .lumi/state.db && lumi state adopt"),
		RunE: func(c *cobra.Command, _ []string) error {
			return workspace.WithStore(c.Context(), con, false, func(s *workspace.Session) error { return adopt(c.Context(), s, yes) })
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation")
	return c
}

func adopt(ctx context.Context, s *workspace.Session, yes bool) error {
	path := workspace.Location(s.Workspace)
	switch {
	case s.Database == nil:
		return fmt.Errorf("%s does not exist yet", path)
	case s.Database.Copied() == nil:
		return s.Finish("%s is already in use here", path)
	}
	if err := s.Sure(yes, fmt.Sprintf("Use %s from now on, instead of the state that it was copied from", path)); err != nil {
		return err
	}
	var asks []store.Job
	err := s.Database.Adopt(ctx, func(tx store.Tx) (err error) {
		asks, err = environment.Adopt(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range asks {
		s.Say("%s in %s was running when the state was copied: check its resources, then run 'lumi retry' or 'lumi abort'", job.Name(d), d.Environment)
	}
	return s.Finish("%s is in use here now", path)
}
