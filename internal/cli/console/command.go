package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AddCommands adds subcommands to parent, under a heading in its help.
func AddCommands(parent *cobra.Command, heading string, children ...*cobra.Command) {
	parent.AddGroup(&cobra.Group{ID: heading, Title: heading + ":"})
	for _, c := range children {
		c.GroupID, c.Args, c.Flags().SortFlags = heading, checkUse, false
		parent.AddCommand(c)
	}
}

// These are the meanings of exit code 2. FaultsFailed is for commands that report invalid files, ElseFailed for all
// other commands.
const (
	ElseFailed   = "usage or system error"
	FaultsFailed = "a file has errors, or a usage or system error"
)

// ExitCodes returns the meanings of a command's exit codes, for use as its annotations. If wrong is empty, the command
// never exits with code 1.
func ExitCodes(fine, wrong, failed string) map[string]string {
	codes := map[string]string{"0": fine, "1": wrong, "2": failed}
	if wrong == "" {
		delete(codes, "1")
	}
	return codes
}

// Examples formats the examples of a command. Its arguments are pairs of a description and a shell command.
func Examples(pairs ...string) string {
	var b strings.Builder
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\n  # %s\n  %s\n", pair[0], pair[1])
	}
	return b.String()[1:]
}

// UsageError reports an invalid invocation of a command. The command's name is added when the error is printed.
type UsageError string

func (m UsageError) Error() string { return string(m) }

// Misused returns a [UsageError] with a formatted message.
func Misused(format string, args ...any) error { return UsageError(fmt.Sprintf(format, args...)) }

// checkUse checks arguments against the command's usage line, in which brackets mark optional arguments and an ellipsis
// marks repeated ones. It rejects empty flag values, and empty arguments unless the command takes an EXPRESSION.
func checkUse(c *cobra.Command, args []string) (err error) {
	_, usage, _ := strings.Cut(c.Use, " ")
	most := len(strings.Fields(usage))
	least := most - strings.Count(usage, "[")
	switch {
	case slices.Contains(args, "") && !strings.Contains(usage, "EXPRESSION"):
		return Misused("an argument is empty")
	case len(args) < least:
		return Misused("missing arguments; expected %s", usage)
	case len(args) > most && !strings.Contains(usage, "..."):
		return Misused("unexpected argument %q", args[most])
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		list, _ := f.Value.(pflag.SliceValue)
		if f.Value.Type() == "string" && f.Value.String() == "" || list != nil && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")) {
			err = Misused("--%s is empty", f.Name)
		}
	})
	return err
}

// Choice is a flag whose value must be in a fixed set.
type Choice struct {
	value *string
	Among []string
}

// ChoiceVar declares a flag of c that accepts only the values in among. The default is standard.
func ChoiceVar(c *cobra.Command, flags *pflag.FlagSet, value *string, name, standard, usage string, among ...string) {
	*value = standard
	flags.Var(&Choice{value, among}, name, usage+": "+strings.Join(among, ", "))
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(among, cobra.ShellCompDirectiveNoFileComp))
}

// Set implements [pflag.Value].
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Among, s) {
		return errors.New("must be one of " + strings.Join(c.Among, ", "))
	}
	*c.value = s
	return nil
}

func (c *Choice) String() string { return *c.value }

// Type implements [pflag.Value].
func (c *Choice) Type() string { return "string" }
