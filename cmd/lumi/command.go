package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// command is one of those that lumi has. Each stands in a file of its own.
type command struct {
	name string
	// args is how the usage line shows the arguments, such as "[FILE...]".
	args string
	// short says in a line what the command does; it begins with a verb and has no full stop.
	short string
	// long is all that somebody needs to know who has never used it.
	long string
	// exits say what the exit codes mean.
	exits exits
	// examples are lines for a shell that work.
	examples []example
	// least and most are how many arguments there may be. There is no upper bound if most is negative.
	least, most int
	// setup declares the flags, and returns what runs the command once they are read. An error that is errWrong leads to
	// the exit code 1, any other to 2.
	setup func(*pflag.FlagSet) func(context.Context, *environment) error
	// complete lists what the last of some arguments may become. If it is nil, it is the name of a file.
	complete func(args []string) []string
	// hidden is for commands that only programs call.
	hidden bool
}

// exits say what the exit codes of a command mean: 0, 1, which not every command has, and 2.
type exits struct{ fine, wrong, failed string }

// byCode are the meanings by their codes.
func (e exits) byCode() map[int]string {
	m := map[int]string{exitOK: e.fine, exitFailed: e.failed}
	if e.wrong != "" {
		m[exitWrong] = e.wrong
	}
	return m
}

// What 2 means: to commands for which a file with faults is an answer, 1, and to those whose 1 says something else.
const (
	elseFailed   = "the command was used wrongly, or the system failed"
	faultsFailed = "a file has faults, the command was used wrongly, or the system failed"
)

// example is a line of a shell, with what it does.
type example struct{ does, line string }

// commands is the table of all commands, in the order of the help.
func commands() []*command {
	return []*command{
		checkCommand(), fmtCommand(), showCommand(), repairCommand(),
		diffCommand(),
		convertCommand(),
		graphCommand(), queryCommand(),
		explainCommand(), versionCommand(), helpCommand(), completionCommand(), completeCommand(),
	}
}

// find returns the command of a name, or nil.
func find(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	return nil
}

// names are those of the commands that people call.
func names() []string {
	var all []string
	for _, c := range commands() {
		if !c.hidden {
			all = append(all, c.name)
		}
	}
	return all
}

// common are the flags that every command has.
type common struct {
	help  bool
	json  bool
	color string
}

// flagSet declares a command's flags and the common ones.
func (c *command) flagSet() (*pflag.FlagSet, *common, func(context.Context, *environment) error) {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.SortFlags = false
	var shared common
	run := c.setup(flags)
	flags.BoolVar(&shared.json, "json", false, "print for programs: JSON on standard output")
	choiceVar(flags, &shared.color, "color", "auto", "`WHEN` to use colour", "auto", "always", "never")
	flags.BoolVarP(&shared.help, "help", "h", false, "say what the command does, and how")
	return flags, &shared, run
}

// dispatch runs the command that the arguments name.
func dispatch(ctx context.Context, args []string, env *environment) error {
	if len(args) == 0 {
		_, _ = io.WriteString(env.stderr, overview())
		return errFailed
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "--help":
		name = "help"
	case "--version":
		name = "version"
	}
	c := find(name)
	switch {
	case c != nil:
		return c.execute(ctx, rest, env)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("%s: the command comes first, as in 'lumi check FILE'; 'lumi help' lists the commands", name)
	}
	if near := suggest.Name(name, names()); near != "" {
		return fmt.Errorf("there is no command %q; did you mean '%s'?", name, near)
	}
	return fmt.Errorf("there is no command %q; 'lumi help' lists them", name)
}

func (c *command) execute(ctx context.Context, args []string, env *environment) error {
	flags, shared, run := c.flagSet()
	if c.hidden {
		env.args = args
		return run(ctx, env)
	}
	if err := flags.Parse(args); err != nil {
		return c.flagError(flags, err)
	}
	if shared.help {
		_, err := io.WriteString(env.stdout, c.manual())
		return err
	}
	env.args, env.json = flags.Args(), shared.json
	switch shared.color {
	case "always":
		env.out.Color, env.err.Color = true, true
	case "never":
		env.out.Color, env.err.Color = false, false
	}
	n := len(env.args)
	switch {
	case slices.Contains(env.args, ""):
		return c.misused("an argument is empty")
	case n < c.least:
		return c.misused("it takes %s", c.args)
	case c.most >= 0 && n > c.most:
		return c.misused("unexpected argument %q", env.args[c.most])
	}
	return run(ctx, env)
}

// misused is the error for a wrong use of the command.
func (c *command) misused(format string, args ...any) error {
	return fmt.Errorf("%s: %s; 'lumi help %s' says more", c.name, fmt.Sprintf(format, args...), c.name)
}

// flagError adds to an error of package pflag what was probably meant.
func (c *command) flagError(flags *pflag.FlagSet, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		can := "it can be true or false"
		switch value := flag.Value.(type) {
		case *choice:
			can = "it can be " + strings.Join(value.among, " or ")
		default:
			if value.Type() != "bool" {
				can = "it is a whole number"
			}
		}
		return c.misused("--%s=%s: %s", flag.Name, invalid.GetValue(), can)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return c.misused("%s", err)
	}
	var all []string
	flags.VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	given := unknown.GetSpecifiedName()
	if near := suggest.Name(given, all); near != "" && len(given) > 1 {
		return fmt.Errorf("%s: there is no flag --%s; did you mean --%s?", c.name, given, near)
	}
	dashes := "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	return c.misused("there is no flag %s%s", dashes, given)
}

// choice is the value of a flag that is one of a few words.
type choice struct {
	value *string
	among []string
}

// choiceVar declares a flag whose value is one of a few words.
func choiceVar(flags *pflag.FlagSet, value *string, name, standard, usage string, among ...string) {
	*value = standard
	flags.Var(&choice{value, among}, name, usage+": "+strings.Join(among, ", "))
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.among, s) {
		return errors.New("not one of the words")
	}
	*c.value = s
	return nil
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "string" }
