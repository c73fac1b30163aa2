package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/deployments"
	"github.com/lumi-idl/lumi/internal/cli/files"
	"github.com/lumi-idl/lumi/internal/cli/languages"
	"github.com/lumi-idl/lumi/internal/cli/providers"
	"github.com/lumi-idl/lumi/internal/cli/state"
	"github.com/lumi-idl/lumi/internal/cli/tasks"
	"github.com/lumi-idl/lumi/internal/cli/workers"
)

// newRoot returns the command tree for a console. Each command is returned by its own constructor; the Commands
// function of each package lists them.
func newRoot(con *console.Console) *cobra.Command {
	var color string
	var asksVersion bool
	root := &cobra.Command{
		Use:   "lumi",
		Short: "deploy resources, and work with their state and LumiGL files",
		Long:  "'lumi help COMMAND' explains a command; 'lumi help exit-codes' lists the exit codes.",
		Annotations: map[string]string{
			"0": "success", "1": "failed or refused; a file has errors; files differ; nothing was found", "2": "usage or system error",
			"3": "input needed: an answer, an approval, or a key", "4": "a deployment is running, waiting, or interrupted",
		},
		Args: cobra.ArbitraryArgs, // otherwise, cobra itself reports unknown commands
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
	_ = root.Flags().MarkHidden("version") // there is a version command
	common := root.PersistentFlags()
	common.SortFlags = false
	common.BoolVar(&con.JSON, "json", false, "print JSON")
	console.ChoiceVar(root, common, &color, "color", "auto", "`WHEN` to use color", "auto", "always", "never")
	common.BoolP("help", "h", false, "show this help")
	console.AddCommands(root, deploymentsGroup, append(deployments.Commands(con), workers.Command(con, tasks.NewEngine))...)
	console.AddCommands(root, "State", state.Commands(con)...)
	console.AddCommands(root, "Files", append(files.Commands(con), languages.Commands(con)...)...)
	help := newHelpCommand(con)
	console.AddCommands(root, "Other", slices.Concat(tasks.Commands(con), providers.Commands(con),
		[]*cobra.Command{newExplainCommand(con), newCompletionCommand(con), newVersionCommand(con), help})...)
	root.SetHelpCommand(help) // replaces the help command of cobra
	return root
}

// init keeps commands in the order in which they are added.
func init() { cobra.EnableCommandSorting = false }

// dispatch runs the command selected by args.
func dispatch(ctx context.Context, con *console.Console, root *cobra.Command, args []string) error {
	var helped error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { // called for --help, and for commands that only group subcommands
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
	root.SetArgs(append([]string{}, args...)) // if the arguments were nil, cobra would use os.Args
	c, err := root.ExecuteContextC(ctx)
	var wrong console.UsageError
	switch ok := errors.As(err, &wrong); {
	case ok && c == root:
		return fmt.Errorf("%w; see 'lumi help'", err)
	case ok:
		return fmt.Errorf("%s: %s; see 'lumi help %[1]s'", name(c), string(wrong))
	}
	return cmp.Or(err, helped)
}
