package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// newRoot returns a new tree of all commands, which run in env. A command is a constructor in a file of its own and an
// argument of [add], here or in the command above it.
func newRoot(env *console) *cobra.Command {
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
			"0": "done", "1": "failed or refused; a file has faults, files differ, nothing was found", "2": elseFailed,
			"3": "an answer, a consent or a key is needed", "4": "a deployment runs, waits or was interrupted",
		},
		Args: cobra.ArbitraryArgs, // Without it, cobra reports unknown commands itself.
		PersistentPreRun: func(_ *cobra.Command, args []string) {
			env.args = args
			if color != "auto" {
				env.out.Color, env.err.Color = color == "always", color == "always"
			}
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if asksVersion && len(args) == 0 {
				return printVersion(env)
			}
			return pflag.ErrHelp
		},
		SilenceErrors: true, SilenceUsage: true, DisableSuggestions: true,
	}
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.SetFlagErrorFunc(flagError)
	root.Flags().SortFlags = false
	root.Flags().BoolVar(&asksVersion, "version", false, "print lumi's version")
	common := root.PersistentFlags()
	common.SortFlags = false
	common.BoolVar(&env.json, "json", false, "print JSON")
	choiceVar(root, common, &color, "color", "auto", "`WHEN` to use colour", "auto", "always", "never")
	common.BoolP("help", "h", false, "show this help")
	add(root, deploymentsGroup, newPlanCommand(env), newDeployCommand(env), newDestroyCommand(env), newStatusCommand(env), newHistoryCommand(env),
		newRetryCommand(env), newAbortCommand(env), newRollbackCommand(env), newResolveCommand(env))
	add(root, "State", newEnvCommand(env), newOutputCommand(env), newStateCommand(env))
	add(root, "Task graphs", newTasksCommand(env), newServeCommand(env))
	add(root, "Files", newCheckCommand(env), newConvertCommand(env), newDiffCommand(env), newFmtCommand(env), newGraphCommand(env),
		newQueryCommand(env), newShowCommand(env), newYaqlCommand(env), newMuranoCommand(env))
	add(root, "Providers", newProviderCommand(env))
	help := newHelpCommand(env)
	add(root, "Help", newCompletionCommand(env), newExplainCommand(env), help, newVersionCommand(env))
	root.SetHelpCommand(help) // in place of cobra's own
	return root
}

// deploymentsGroup is the heading of the commands on deployments.
const deploymentsGroup = "Deployments"

// add adds commands below another one, under a heading in its help.
func add(parent *cobra.Command, heading string, children ...*cobra.Command) {
	parent.AddGroup(&cobra.Group{ID: heading, Title: heading + ":"})
	for _, c := range children {
		c.GroupID, c.Args, c.Flags().SortFlags = heading, checkUse, false
		parent.AddCommand(c)
	}
}

// What 2 means: to commands for which a file with faults is an answer, 1, and to those whose 1 says something else.
const (
	elseFailed   = "the command was used wrongly, or the system failed"
	faultsFailed = "a file has faults, the command was used wrongly, or the system failed"
)

// exitCodes returns what the exit codes of a command mean, by code, as its annotations. A command without a meaning for 1
// never exits with it.
func exitCodes(fine, wrong, failed string) map[string]string {
	codes := map[string]string{"0": fine, "1": wrong, "2": failed}
	if wrong == "" {
		delete(codes, "1")
	}
	return codes
}

// examples returns the examples of a command from pairs of what a line for a shell does, and the line.
func examples(pairs ...string) string {
	var b strings.Builder
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\n  # %s\n  %s\n", pair[0], pair[1])
	}
	return b.String()[1:]
}

// dispatch runs the command of a tree that the arguments name.
func (e *console) dispatch(ctx context.Context, root *cobra.Command, args []string) error {
	var helped error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { // for --help, and for commands that only have others below them
		asked, _ := c.Flags().GetBool("help")
		below := c.Flags().Args()
		switch {
		case c.HasSubCommands() && c.Flags().ArgsLenAtDash() == 0:
			helped = misplaced("--")
		case asked || len(below) > 0:
			helped = e.help(c, below, "")
		default:
			c.PrintErr(manual(c))
			helped = errFailed
		}
	})
	root.SetArgs(append([]string{}, args...)) // With nil, cobra takes those of the process.
	c, err := root.ExecuteContextC(ctx)
	var wrong usageError
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

// usageError is an error in how a command was called. [console.dispatch] adds the name of the command to it.
type usageError string

func (m usageError) Error() string { return string(m) }

func misused(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// checkUse checks the arguments of a command against its usage line, where those in brackets are optional and one with
// dots may be repeated. Neither they, except for expressions, nor a string or list given to a flag can be empty.
func checkUse(c *cobra.Command, args []string) (err error) {
	_, usage, _ := strings.Cut(c.Use, " ")
	most := len(strings.Fields(usage))
	least := most - strings.Count(usage, "[")
	switch {
	case slices.Contains(args, "") && !strings.Contains(usage, "EXPRESSION"):
		return misused("an argument is empty")
	case len(args) < least:
		return misused("it takes %s", usage)
	case len(args) > most && !strings.Contains(usage, "..."):
		return misused("unexpected argument %q", args[most])
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		list, _ := f.Value.(pflag.SliceValue)
		if f.Value.Type() == "string" && f.Value.String() == "" || list != nil && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")) {
			err = misused("--%s is empty", f.Name)
		}
	})
	return err
}

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
		return misused("--%s=%s: %s", flag.Name, invalid.GetValue(), cmp.Or(can, invalid.Unwrap().Error()))
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return misused("%s", err)
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
	return misused("there is no flag %s%s", dashes, given)
}

// misplaced is the error for a flag that precedes the command and is not a common one.
func misplaced(flag string) error {
	return fmt.Errorf("%s: the command comes first, as in 'lumi check FILE'; 'lumi help' lists the commands", flag)
}

// choice is the value of a flag that is one of a few words.
type choice struct {
	value *string
	among []string
}

// choiceVar declares a flag of c whose value is one of a few words.
func choiceVar(c *cobra.Command, flags *pflag.FlagSet, value *string, name, standard, usage string, among ...string) {
	*value = standard
	flags.Var(&choice{value, among}, name, usage+": "+strings.Join(among, ", "))
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(among, cobra.ShellCompDirectiveNoFileComp))
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return errors.New("it can be " + strings.Join(c.among, " or "))
	}
	*c.value = s
	return nil
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "string" }
