package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// helpWidth is the line width of help texts.
const helpWidth = 100

func newHelpCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:         "help [COMMAND...]",
		Short:       "explain lumi, or one of its commands",
		Long:        `Without arguments, it lists the commands. 'lumi help exit-codes' lists the exit codes.`,
		Annotations: console.ExitCodes("the help is printed", "", console.ElseFailed),
		Example:     console.Examples("What does 'lumi check' do?", "lumi help check"),
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				names = append(names, cobra.CompletionWithDesc(exitCodesTopic, "list the exit codes"))
			}
			if above, rest, _ := c.Root().Find(args); len(rest) == 0 {
				for _, sub := range above.Commands() {
					if !sub.Hidden {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Equal(args, []string{exitCodesTopic}) {
				return printExitCodes(con, c.Root().Annotations)
			}
			asked, rest, _ := c.Root().Find(args)
			if len(rest) > 0 && !asked.HasSubCommands() {
				return console.Misused("unexpected argument %q", rest[0])
			}
			return help(con, asked, rest, "lumi help ")
		},
	}
}

// exitCodesTopic is the name of the help topic that lists the exit codes of all commands.
const exitCodesTopic = "exit-codes"

func printExitCodes(con *console.Console, codes map[string]string) error {
	if con.JSON {
		return con.PrintJSON(codes)
	}
	con.Printf("%s", strings.TrimPrefix(exitCodes(codes, func(string, string) bool { return true }), "\n"))
	return nil
}

// help prints the manual of c. If rest names a subcommand, that command does not exist, and help returns an error.
// Prefix is the start of the suggestion in the error.
func help(con *console.Console, c *cobra.Command, rest []string, prefix string) error {
	switch {
	case c.HasSubCommands() && len(rest) > 0:
		return noCommand(c, rest[0], prefix)
	case !con.JSON:
		con.Printf("%s", manual(c))
		return nil
	}
	for _, leaf := range leaves(c) {
		if err := con.PrintJSON(describe(leaf)); err != nil {
			return err
		}
	}
	return nil
}

// leaves returns c, or all commands below it if it groups subcommands.
func leaves(c *cobra.Command) []*cobra.Command {
	if !c.HasSubCommands() {
		return []*cobra.Command{c}
	}
	var all []*cobra.Command
	for _, sub := range c.Commands() {
		all = append(all, leaves(sub)...)
	}
	return all
}

// usage returns the usage line of a command.
func usage(c *cobra.Command) string {
	if c.HasSubCommands() {
		return c.CommandPath() + " COMMAND [flags] [arguments]"
	}
	_, arguments, _ := strings.Cut(c.Use, " ")
	return strings.TrimSpace(c.CommandPath() + " [flags] " + arguments)
}

// manual returns the text of 'lumi help COMMAND'.
func manual(c *cobra.Command) string {
	c.InitDefaultHelpFlag() // merges the common flags into the flags of the command
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.\n\nUsage: %s\n\n%s\n", c.CommandPath(), c.Short, usage(c), c.Long)
	for _, group := range c.Groups() {
		fmt.Fprintf(&b, "\n%s\n", group.Title)
		for _, sub := range c.Commands() {
			if sub.GroupID == group.ID && sub.Name() != "help" {
				fmt.Fprintf(&b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", c.Flags().FlagUsagesWrapped(helpWidth))
	if c.HasParent() {
		b.WriteString(exitCodes(c.Annotations, func(code, meaning string) bool { return code != "0" && meaning != console.ElseFailed }))
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s", c.Example)
	}
	return b.String()
}

// exitCodes formats the exit codes accepted by own.
func exitCodes(codes map[string]string, own func(code, meaning string) bool) string {
	var b strings.Builder
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if own(code, codes[code]) {
			fmt.Fprintf(&b, "  %s  %s\n", code, codes[code])
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nExit codes:\n" + b.String()
}

// description is the JSON form of the help for a command.
type description struct {
	Command  string            `json:"command"`
	Usage    string            `json:"usage"`
	Short    string            `json:"short"`
	Long     string            `json:"long"`
	Flags    []flagDescription `json:"flags"`
	Exits    map[string]string `json:"exitCodes"`
	Examples []string          `json:"examples"`
}

type flagDescription struct {
	Name      string   `json:"name"`
	Shorthand string   `json:"shorthand,omitempty"`
	Default   string   `json:"default"`
	Usage     string   `json:"usage"`
	Among     []string `json:"among,omitempty"`
}

func describe(c *cobra.Command) description {
	c.InitDefaultHelpFlag() // merges the common flags into the flags of the command
	d := description{Command: name(c), Usage: usage(c), Short: c.Short, Long: c.Long, Exits: c.Annotations}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		described := flagDescription{Name: f.Name, Shorthand: f.Shorthand, Default: f.DefValue, Usage: strings.ReplaceAll(f.Usage, "`", "")}
		if value, ok := f.Value.(*console.Choice); ok {
			described.Among = value.Among
		}
		d.Flags = append(d.Flags, described)
	})
	for line := range strings.Lines(c.Example) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			d.Examples = append(d.Examples, line)
		}
	}
	return d
}
