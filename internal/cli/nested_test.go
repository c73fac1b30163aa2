package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

func shelfCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:         "shelf",
		Short:       "change what is on the shelf",
		Long:        "It changes no resource.",
		Annotations: console.ExitCodes("it is done", "", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", shelfMoveCommand(con))
	return c
}

func shelfMoveCommand(con *console.Console) *cobra.Command {
	var how string
	c := &cobra.Command{
		Use:         "move FROM TO [REST...]",
		Short:       "give a resource another name",
		Long:        "It renames FROM to TO.",
		Annotations: console.ExitCodes("it is renamed", "FROM is not there", console.ElseFailed),
		Example:     console.Examples("Rename a resource.", "lumi shelf move a b"),
		ValidArgs:   []string{"alpha", "beta"},
		RunE: func(*cobra.Command, []string) error {
			if con.Args[0] == "missing" {
				return console.ErrWrong
			}
			con.Printf("%s to %s, %s\n", con.Args[0], con.Args[1], how)
			return nil
		},
	}
	console.ChoiceVar(c, c.Flags(), &how, "mode", "safe", "`HOW` to move", "safe", "forced")
	return c
}

func TestNestedCommands(t *testing.T) {
	t.Parallel()
	const shelfHelp = `lumi shelf: change what is on the shelf.

Usage: lumi shelf COMMAND [flags] [arguments]

It changes no resource.

Commands:
  move         give a resource another name

Flags:
      --json         print JSON
      --color WHEN   WHEN to use color: auto, always, never (default "auto")
  -h, --help         show this help
`
	const moveHelp = `lumi shelf move: give a resource another name.

Usage: lumi shelf move [flags] FROM TO [REST...]

It renames FROM to TO.

Flags:
      --mode HOW     HOW to move: safe, forced (default "safe")
      --json         print JSON
      --color WHEN   WHEN to use color: auto, always, never (default "auto")
  -h, --help         show this help

Exit codes:
  1  FROM is not there

Examples:
  # Rename a resource.
  lumi shelf move a b
`
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"shelf move a b", console.ExitOK, "a to b, safe\n", ""},
		{"shelf move a --mode=forced b c d", console.ExitOK, "a to b, forced\n", ""},
		{"shelf --color=never move a b", console.ExitOK, "a to b, safe\n", ""},
		{"shelf move missing b", console.ExitWrong, "", ""},
		{"shelf move a", console.ExitFailed, "", "lumi: shelf move: missing arguments; expected FROM TO [REST...]; see 'lumi help shelf move'\n"},
		{"shelf move --mdoe=safe a b", console.ExitFailed, "", "lumi: shelf move: unknown flag --mdoe; did you mean --mode?\n"},
		{"shelf move --frobnicate a b", console.ExitFailed, "", "lumi: shelf move: unknown flag --frobnicate; see 'lumi help shelf move'\n"},
		{"shelf move --mode=odd a b", console.ExitFailed, "", "lumi: shelf move: --mode: invalid value \"odd\": must be one of safe, forced; see 'lumi help shelf move'\n"},
		{"shelf", console.ExitFailed, "", shelfHelp},
		{"shelf --help", console.ExitOK, shelfHelp, ""},
		{"help shelf", console.ExitOK, shelfHelp, ""},
		{"shelf move --help", console.ExitOK, moveHelp, ""},
		{"help shelf move", console.ExitOK, moveHelp, ""},
		{"shelf mvoe", console.ExitFailed, "", "lumi: unknown command \"shelf mvoe\"; did you mean 'shelf move'?\n"},
		{"shelf mvoe --mode=safe", console.ExitFailed, "", "lumi: unknown command \"shelf mvoe\"; did you mean 'shelf move'?\n"},
		{"shelf mvoe --help", console.ExitFailed, "", "lumi: unknown command \"shelf mvoe\"; did you mean 'shelf move'?\n"},
		{"shelf frobnicate", console.ExitFailed, "", "lumi: unknown command \"shelf frobnicate\"; 'lumi help shelf' lists the commands\n"},
		{"shelf --mode=safe", console.ExitFailed, "", "lumi: --mode: the command must come first, as in 'lumi check FILE'; 'lumi help' lists the commands\n"},
		{"help shelf mvoe", console.ExitFailed, "", "lumi: unknown command \"shelf mvoe\"; did you mean 'lumi help shelf move'?\n"},
		{"statu", console.ExitFailed, "", "lumi: unknown command \"statu\"; did you mean 'status' or 'state'?\n"},
		{"shel", console.ExitFailed, "", "lumi: unknown command \"shel\"; did you mean 'shelf'?\n"},
		{"__complete she", console.ExitOK, "shelf\tchange what is on the shelf\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete shelf m", console.ExitOK, "move\tgive a resource another name\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete help shelf m", console.ExitOK, "move\tgive a resource another name\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete shelf move al", console.ExitOK, "alpha\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete shelf move --mode=", console.ExitOK, "safe\nforced\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			con := console.New(strings.NewReader(""), &stdout, &stderr, noEnv)
			root := newRoot(con)
			console.AddCommands(root, "Test", shelfCommand(con))
			code := runCommand(t.Context(), con, root, strings.Fields(test.args))
			if code != test.code || stdout.String() != test.stdout || stderr.String() != test.stderr {
				t.Errorf("exit code = %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q",
					code, test.code, &stdout, test.stdout, &stderr, test.stderr)
			}
		})
	}
}
