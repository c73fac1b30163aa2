package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// name returns the full name of a command without the prefix "lumi ".
func name(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "lumi ") }

// noCommand returns the error for an unknown subcommand of c. Prefix is the start of the suggestion.
func noCommand(c *cobra.Command, given, prefix string) error {
	path := strings.TrimPrefix(c.CommandPath()+" ", "lumi ")
	if text := answer(path + given); text != "" {
		return fmt.Errorf("unknown command %q; %s", path+given, text)
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	near := suggest.All(given, len(given), slices.Values(names))
	for i, name := range near {
		near[i] = "'" + prefix + path + name + "'"
	}
	if len(near) > 0 {
		return fmt.Errorf("unknown command %q; did you mean %s?", path+given, strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown command %q; '%s' lists the commands", path+given, strings.TrimSpace("lumi help "+path))
}

// misplaced returns the error for a flag that precedes the command but is not a common flag.
func misplaced(flag string) error {
	return fmt.Errorf("%s: the command must come first, as in 'lumi check FILE'; 'lumi help' lists the commands", flag)
}

// flagError adds suggestions to an error from package pflag, or returns it unchanged.
func flagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		flag := invalid.GetFlag()
		can := map[string]string{"bool": "must be true or false", "int": "must be an integer"}[flag.Value.Type()]
		return console.Misused("--%s: invalid value %q: %s", flag.Name, invalid.GetValue(), cmp.Or(can, invalid.Unwrap().Error()))
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return console.Misused("%s", err)
	}
	given, dashes := unknown.GetSpecifiedName(), "--"
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		dashes = "-"
		if len(short) > 1 && answer("--"+short) != "" { // OpenTofu flags have a single dash
			given = short
		}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := suggest.Name(given, names)
	switch {
	case c.HasSubCommands() && c.Flags().NArg() > 0: // the flag follows an unknown command
		return noCommand(c, c.Flags().Arg(0), "")
	case c.HasSubCommands():
		return misplaced(dashes + given)
	case c.GroupID == deploymentsGroup && answer("--"+given) != "":
		return fmt.Errorf("%s: unknown flag %s%s; %s", name(c), dashes, given, answer("--"+given))
	case near != "" && len(given) > 1:
		return fmt.Errorf("%s: unknown flag --%s; did you mean --%s?", name(c), given, near)
	}
	return console.Misused("unknown flag %s%s", dashes, given)
}

// deploymentsGroup is the heading of the deployment commands in the help.
const deploymentsGroup = "Deployments"
