package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// stateCommand has a command below it, as real ones will: a constructor for each, and a line in the one above.
func stateCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:         "state",
		Short:       "change what is known of an environment",
		Long:        "It changes the state and no resource.",
		Annotations: exits("it is done", "", elseFailed),
	}
	add(c, "Commands", stateMoveCommand(env))
	return c
}

func stateMoveCommand(env *environment) *cobra.Command {
	var how string
	c := &cobra.Command{
		Use:         "move FROM TO [REST...]",
		Short:       "give a resource another name",
		Long:        "It renames FROM to TO.",
		Annotations: exits("it is renamed", "FROM is not there", elseFailed),
		Example:     examples("Rename a resource.", "lumi state move a b"),
		ValidArgs:   []string{"alpha", "beta"},
		RunE: func(*cobra.Command, []string) error {
			if env.args[0] == "missing" {
				return errWrong
			}
			env.printf("%s to %s, %s\n", env.args[0], env.args[1], how)
			return nil
		},
	}
	choiceVar(c, c.Flags(), &how, "mode", "safe", "`HOW` to move", "safe", "forced")
	return c
}

// TestNested tests a command below another one: what it does, its help, completion, exit codes and near names.
func TestNested(t *testing.T) {
	t.Parallel()
	const stateHelp = `lumi state: change what is known of an environment.

Usage:
  lumi state COMMAND [flags] [arguments]

It changes the state and no resource.

Commands:
  move         give a resource another name

Flags:
      --json         print for programs: JSON on standard output
      --color WHEN   WHEN to use colour: auto, always, never (default "auto")
  -h, --help         say what the command does, and how

Exit codes:
  0  it is done
  2  the command was used wrongly, or the system failed
`
	const moveHelp = `lumi state move: give a resource another name.

Usage:
  lumi state move [flags] FROM TO [REST...]

It renames FROM to TO.

Flags:
      --mode HOW     HOW to move: safe, forced (default "safe")
      --json         print for programs: JSON on standard output
      --color WHEN   WHEN to use colour: auto, always, never (default "auto")
  -h, --help         say what the command does, and how

Exit codes:
  0  it is renamed
  1  FROM is not there
  2  the command was used wrongly, or the system failed

Examples:
  # Rename a resource.
  lumi state move a b
`
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"state move a b", exitOK, "a to b, safe\n", ""},
		{"state move a --mode=forced b c d", exitOK, "a to b, forced\n", ""},
		{"state --color=never move a b", exitOK, "a to b, safe\n", ""},
		{"state move missing b", exitWrong, "", ""},
		{"state move a", exitFailed, "", "lumi: state move: it takes FROM TO [REST...]; 'lumi help state move' says more\n"},
		{"state move --mdoe=safe a b", exitFailed, "", "lumi: state move: there is no flag --mdoe; did you mean --mode?\n"},
		{"state move --frobnicate a b", exitFailed, "", "lumi: state move: there is no flag --frobnicate; 'lumi help state move' says more\n"},
		{"state move --mode=odd a b", exitFailed, "", "lumi: state move: --mode=odd: it can be safe or forced; 'lumi help state move' says more\n"},
		{"state", exitFailed, "", stateHelp},
		{"state --help", exitOK, stateHelp, ""},
		{"help state", exitOK, stateHelp, ""},
		{"state move --help", exitOK, moveHelp, ""},
		{"help state move", exitOK, moveHelp, ""},
		{"state mvoe", exitFailed, "", "lumi: there is no command \"state mvoe\"; did you mean 'state move'?\n"},
		{"state mvoe --mode=safe", exitFailed, "", "lumi: there is no command \"state mvoe\"; did you mean 'state move'?\n"},
		{"state mvoe --help", exitFailed, "", "lumi: there is no command \"state mvoe\"; did you mean 'state move'?\n"},
		{"state frobnicate", exitFailed, "", "lumi: there is no command \"state frobnicate\"; 'lumi help state' lists them\n"},
		{"state --mode=safe", exitFailed, "", "lumi: --mode: the command comes first, as in 'lumi check FILE'; 'lumi help' lists the commands\n"},
		{"help state mvoe", exitFailed, "", "lumi: there is no command \"state mvoe\"; did you mean 'lumi help state move'?\n"},
		{"stat", exitFailed, "", "lumi: there is no command \"stat\"; did you mean 'state'?\n"},
		{"__complete st", exitOK, "state\tchange what is known of an environment\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete state m", exitOK, "move\tgive a resource another name\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete help state m", exitOK, "move\tgive a resource another name\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete state move al", exitOK, "alpha\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
		{"__complete state move --mode=", exitOK, "safe\nforced\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			env := newEnvironment(strings.NewReader(""), &stdout, &stderr, noEnv)
			root := newRoot(env)
			add(root, "Test", stateCommand(env))
			code := env.run(t.Context(), root, strings.Fields(test.args))
			if code != test.code || stdout.String() != test.stdout || stderr.String() != test.stderr {
				t.Errorf("exit code %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q",
					code, test.code, &stdout, test.stdout, &stderr, test.stderr)
			}
		})
	}
}
