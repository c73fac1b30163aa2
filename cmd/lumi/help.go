package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// helpWidth is how wide the help is.
const helpWidth = 100

func helpCommand() *command {
	return &command{
		name: "help", args: "[COMMAND]", most: 1,
		short: "explain lumi, or one of its commands",
		long: `Without an argument, help lists the commands. With the name of one it prints all there is to know
of it: what it does, its flags, and examples that work.`,
		exits:    exits{"the help is printed", "", elseFailed},
		examples: []example{{"What does 'lumi check' do?", "lumi help check"}},
		complete: func([]string) []string { return names() },
		setup: func(*pflag.FlagSet) func(context.Context, *environment) error {
			return func(_ context.Context, env *environment) error { return help(env) }
		},
	}
}

func help(env *environment) error {
	asked := commands()
	text := overview()
	if len(env.args) > 0 {
		c := find(env.args[0])
		if c == nil || c.hidden {
			if near := suggest.Name(env.args[0], names()); near != "" {
				return fmt.Errorf("there is no command %q; did you mean 'lumi help %s'?", env.args[0], near)
			}
			return fmt.Errorf("there is no command %q; 'lumi help' lists them", env.args[0])
		}
		asked, text = []*command{c}, c.manual()
	}
	if !env.json {
		env.printf("%s", text)
		return nil
	}
	for _, c := range asked {
		if !c.hidden {
			if err := env.printJSON(c.describe()); err != nil {
				return err
			}
		}
	}
	return nil
}

// overview is what 'lumi help' prints.
func overview() string {
	var b strings.Builder
	b.WriteString(`lumi works on LumiGL files: the graphs that programs evaluate to, and the snapshots of environments
that deployments leave.

Usage:
  lumi COMMAND [flags] [arguments]

Commands:
`)
	longest := 0
	for _, name := range names() {
		longest = max(longest, len(name))
	}
	for _, c := range commands() {
		if !c.hidden {
			fmt.Fprintf(&b, "  %-*s  %s\n", longest, c.name, c.short)
		}
	}
	b.WriteString(`
Files are read as they are given; - is standard input. Every command has --json, for programs, and
--help.

Exit codes: 0 all is well; 1 it is not: a file has faults, two files differ, nothing was found; 2 the
command could not do its work. 'lumi help COMMAND' says which code is what, and more.
`)
	return b.String()
}

// manual is what 'lumi help COMMAND' prints.
func (c *command) manual() string {
	flags, _, _ := c.flagSet()
	var b strings.Builder
	fmt.Fprintf(&b, "lumi %s: %s.\n\nUsage:\n  lumi %s [flags]", c.name, c.short, c.name)
	if c.args != "" {
		b.WriteString(" " + c.args)
	}
	fmt.Fprintf(&b, "\n\n%s\n\nFlags:\n%s\nExit codes:\n", c.long, flags.FlagUsagesWrapped(helpWidth))
	meanings := c.exits.byCode()
	for _, code := range slices.Sorted(maps.Keys(meanings)) {
		fmt.Fprintf(&b, "  %d  %s\n", code, meanings[code])
	}
	b.WriteString("\nExamples:\n")
	for i, e := range c.examples {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "  # %s\n  %s\n", e.does, e.line)
	}
	return b.String()
}

// description is a command for programs.
type description struct {
	Command  string            `json:"command"`
	Usage    string            `json:"usage"`
	Short    string            `json:"short"`
	Long     string            `json:"long"`
	Flags    []flagDescription `json:"flags"`
	Exits    map[int]string    `json:"exitCodes"`
	Examples []string          `json:"examples"`
}

type flagDescription struct {
	Name      string   `json:"name"`
	Shorthand string   `json:"shorthand,omitempty"`
	Default   string   `json:"default"`
	Usage     string   `json:"usage"`
	Among     []string `json:"among,omitempty"`
}

func (c *command) describe() description {
	flags, _, _ := c.flagSet()
	d := description{Command: c.name, Usage: strings.TrimSpace("lumi " + c.name + " [flags] " + c.args), Short: c.short, Long: c.long, Exits: c.exits.byCode()}
	flags.VisitAll(func(f *pflag.Flag) {
		described := flagDescription{Name: f.Name, Shorthand: f.Shorthand, Default: f.DefValue, Usage: strings.ReplaceAll(f.Usage, "`", "")}
		if value, ok := f.Value.(*choice); ok {
			described.Among = value.among
		}
		d.Flags = append(d.Flags, described)
	})
	for _, e := range c.examples {
		d.Examples = append(d.Examples, e.line)
	}
	return d
}
