package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/deployments"
	"github.com/lumi-idl/lumi/internal/cli/files"
	"github.com/lumi-idl/lumi/internal/cli/languages"
	"github.com/lumi-idl/lumi/internal/cli/providers"
	"github.com/lumi-idl/lumi/internal/cli/state"
	"github.com/lumi-idl/lumi/internal/cli/tasks"
)

// newRoot returns a new tree of all commands, which use the console. Each package of commands has a constructor for each of its
// own, which its Commands lists.
func newRoot(con *console.Console) *cobra.Command {
	var color string
	var asksVersion bool
	root := &cobra.Command{
		Use:   "lumi",
		Short: "deploy resources, and work with their state and with LumiGL files",
		Long: `'lumi deploy' evaluates the programs that Lumi.yaml names, shows what differs from the state of the
environment, and makes it so. 'lumi status' shows where it is, and what to do next. The other commands
work with the state, with LumiGL files, in which programs and states are written, and with providers.

'lumi help COMMAND' has all flags of a command, its exit codes, and examples.`,
		Annotations: map[string]string{
			"0": "done", "1": "failed or refused; a file has faults, files differ, nothing was found", "2": console.ElseFailed,
			"3": "an answer, a consent or a key is needed", "4": "a deployment runs, waits or was interrupted",
		},
		Args: cobra.ArbitraryArgs, // Without it, cobra reports unknown commands itself.
		PersistentPreRun: func(_ *cobra.Command, args []string) {
			con.Args = args
			if color != "auto" {
				con.Out.Color, con.Err.Color = color == "always", color == "always"
			}
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if asksVersion && len(args) == 0 {
				return printVersion(con)
			}
			return pflag.ErrHelp
		},
		SilenceErrors: true, SilenceUsage: true, DisableSuggestions: true,
	}
	root.SetOut(con.Stdout)
	root.SetErr(con.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.Flags().SortFlags = false
	root.Flags().BoolVar(&asksVersion, "version", false, "print lumi's version")
	common := root.PersistentFlags()
	common.SortFlags = false
	common.BoolVar(&con.JSON, "json", false, "print JSON")
	console.ChoiceVar(root, common, &color, "color", "auto", "`WHEN` to use colour", "auto", "always", "never")
	common.BoolP("help", "h", false, "show this help")
	console.AddCommands(root, deploymentsGroup, deployments.Commands(con)...)
	console.AddCommands(root, "State", state.Commands(con)...)
	console.AddCommands(root, "Task graphs", tasks.Commands(con)...)
	console.AddCommands(root, "Files", append(files.Commands(con), languages.Commands(con)...)...)
	console.AddCommands(root, "Providers", providers.Commands(con)...)
	help := newHelpCommand(con)
	console.AddCommands(root, "Help", newCompletionCommand(con), newExplainCommand(con), help, newVersionCommand(con))
	root.SetHelpCommand(help) // in place of cobra's own
	return root
}

// dispatch runs the command of a tree that the arguments name.
func dispatch(ctx context.Context, con *console.Console, root *cobra.Command, args []string) error {
	var helped error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { // for --help, and for commands that only have others below them
		asked, _ := c.Flags().GetBool("help")
		below := c.Flags().Args()
		switch {
		case c.HasSubCommands() && c.Flags().ArgsLenAtDash() == 0:
			helped = misplaced("--")
		case asked || len(below) > 0:
			helped = help(con, c, below, "")
		default:
			c.PrintErr(manual(c))
			helped = console.ErrFailed
		}
	})
	root.SetArgs(append([]string{}, args...)) // With nil, cobra takes those of the process.
	c, err := root.ExecuteContextC(ctx)
	var wrong console.UsageError
	switch ok := errors.As(err, &wrong); {
	case ok && c == root:
		return fmt.Errorf("%w; 'lumi help' says more", err)
	case ok:
		return fmt.Errorf("%s: %s; 'lumi help %[1]s' says more", name(c), string(wrong))
	}
	return cmp.Or(err, helped)
}
