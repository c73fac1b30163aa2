package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/deployments"
	"github.com/lumi-idl/lumi/internal/cli/files"
	"github.com/lumi-idl/lumi/internal/cli/languages"
	"github.com/lumi-idl/lumi/internal/cli/providers"
	"github.com/lumi-idl/lumi/internal/cli/state"
	"github.com/lumi-idl/lumi/internal/cli/tasks"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot returns a new tree of all commands, which run in env. A command is a constructor in a file of its own and an
// argument of [add], here or in the command above it.
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
	console.AddCommands(root, deploymentsGroup, deployments.NewPlanCommand(con), deployments.NewDeployCommand(con), deployments.NewDestroyCommand(con), deployments.NewStatusCommand(con), deployments.NewHistoryCommand(con),
		deployments.NewRetryCommand(con), deployments.NewAbortCommand(con), deployments.NewRollbackCommand(con), deployments.NewResolveCommand(con))
	console.AddCommands(root, "State", state.NewEnvCommand(con), state.NewOutputCommand(con), state.NewStateCommand(con))
	console.AddCommands(root, "Task graphs", tasks.NewTasksCommand(con), tasks.NewServeCommand(con))
	console.AddCommands(root, "Files", files.NewCheckCommand(con), files.NewConvertCommand(con), files.NewDiffCommand(con), files.NewFmtCommand(con), files.NewGraphCommand(con),
		files.NewQueryCommand(con), files.NewShowCommand(con), languages.NewYaqlCommand(con), languages.NewMuranoCommand(con))
	console.AddCommands(root, "Providers", providers.NewProviderCommand(con))
	help := newHelpCommand(con)
	console.AddCommands(root, "Help", newCompletionCommand(con), newExplainCommand(con), help, newVersionCommand(con))
	root.SetHelpCommand(help) // in place of cobra's own
	return root
}

// deploymentsGroup is the heading of the commands on deployments.
const deploymentsGroup = "Deployments"

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

// name returns what follows "lumi" to call a command.
func name(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "lumi ") }

// noCommand is the error for a name that no command below c has. The suggestion begins with prefix.
func noCommand(c *cobra.Command, given, prefix string) error {
	path := strings.TrimPrefix(c.CommandPath()+" ", "lumi ")
	if text := answer(path + given); text != "" {
		return fmt.Errorf("there is no command %q; %s", path+given, text)
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if near := suggest.Name(given, names); near != "" {
		return fmt.Errorf("there is no command %q; did you mean '%s'?", path+given, prefix+path+near)
	}
	return fmt.Errorf("there is no command %q; '%s' lists them", path+given, strings.TrimSpace("lumi help "+path))
}

// flagError adds to an error of package pflag what was probably meant.
func flagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		can := map[string]string{"bool": "it can be true or false", "int": "it is a whole number"}[flag.Value.Type()]
		return console.Misused("--%s=%s: %s", flag.Name, invalid.GetValue(), cmp.Or(can, invalid.Unwrap().Error()))
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return console.Misused("%s", err)
	}
	given, dashes := unknown.GetSpecifiedName(), "--"
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		dashes = "-"
		if len(short) > 1 && answer("--"+short) != "" { // OpenTofu writes flags with one dash.
			given = short
		}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := suggest.Name(given, names)
	switch {
	case c.HasSubCommands() && c.Flags().NArg() > 0: // The flag follows a name that is no command.
		return noCommand(c, c.Flags().Arg(0), "")
	case c.HasSubCommands():
		return misplaced(dashes + given)
	case c.GroupID == deploymentsGroup && answer("--"+given) != "":
		return fmt.Errorf("%s: there is no flag %s%s; %s", name(c), dashes, given, answer("--"+given))
	case near != "" && len(given) > 1:
		return fmt.Errorf("%s: there is no flag --%s; did you mean --%s?", name(c), given, near)
	}
	return console.Misused("there is no flag %s%s", dashes, given)
}

// misplaced is the error for a flag that precedes the command and is not a common one.
func misplaced(flag string) error {
	return fmt.Errorf("%s: the command comes first, as in 'lumi check FILE'; 'lumi help' lists the commands", flag)
}
