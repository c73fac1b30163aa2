package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// shells are the scripts that teach a shell to complete lumi's arguments. They ask lumi itself what there is; where it
// has nothing to say, the shell offers files.
var shells = map[string]string{
	"bash": `# Completion of lumi for bash.
_lumi() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$(printf %q "$word")")
    done < <(lumi __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [ "${#COMPREPLY[@]}" = 1 ] && [ "${COMPREPLY[0]: -1}" = "=" ]; then
        compopt -o nospace
    fi
}
complete -o default -F _lumi lumi
`,
	"zsh": `#compdef lumi
# Completion of lumi for zsh.
_lumi() {
    local -a found
    found=("${(@f)$(lumi __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$found" ]]; then
        compadd -S '' -- ${(M)found:#*=}
        compadd -- ${found:#*=}
    else
        _files
    fi
}
if [ "$funcstack[1]" = "_lumi" ]; then
    _lumi
else
    compdef _lumi lumi
fi
`,
	"fish": `# Completion of lumi for fish.
function __lumi_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (lumi __complete $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c lumi -f -a '(__lumi_complete)'
`,
}

func shellNames() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand() *command {
	c := &command{
		name: "completion", args: "SHELL", least: 1, most: 1,
		short: "print a script that teaches a shell to complete lumi's arguments",
		long: `SHELL is bash, zsh or fish. The script completes commands, flags, the words that flags take, and files.

  bash   put 'source <(lumi completion bash)' into ~/.bashrc
  zsh    lumi completion zsh >"${fpath[1]}/_lumi", and start a new shell
  fish   lumi completion fish >~/.config/fish/completions/lumi.fish`,
		exits:    exits{"the script is printed", "", elseFailed},
		examples: []example{{"Complete lumi's arguments in this shell, bash, from now on.", "source <(lumi completion bash)"}},
		complete: func([]string) []string { return shellNames() },
	}
	c.setup = func(*pflag.FlagSet) func(context.Context, *environment) error {
		return func(_ context.Context, env *environment) error {
			shell := env.args[0]
			script, ok := shells[shell]
			if !ok {
				return c.misused("there is no completion for %q, only for %s", shell, strings.Join(shellNames(), ", "))
			}
			if env.json {
				return env.printJSON(struct {
					Shell  string `json:"shell"`
					Script string `json:"script"`
				}{shell, script})
			}
			env.printf("%s", script)
			return nil
		}
	}
	return c
}

// completeCommand is what the scripts call: it prints what the last of its arguments may become, one a line.
func completeCommand() *command {
	return &command{
		name: "__complete", hidden: true, most: -1,
		setup: func(*pflag.FlagSet) func(context.Context, *environment) error {
			return func(_ context.Context, env *environment) error {
				for _, word := range candidates(env.args) {
					env.printf("%s\n", word)
				}
				return nil
			}
		},
	}
}

// candidates lists what the last of some arguments may become.
func candidates(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	word := args[len(args)-1]
	if len(args) == 1 {
		return startingWith(append(names(), "--help", "--version"), word)
	}
	c := find(args[0])
	if c == nil || c.hidden {
		return nil
	}
	flags, _, _ := c.flagSet()
	before := args[1 : len(args)-1]
	// Bash breaks words at equals signs.
	if n := len(before); word == "=" && n > 0 {
		return values(flags, before[n-1]+"=", false)
	} else if n > 1 && before[n-1] == "=" {
		return values(flags, before[n-2]+"="+word, false)
	}
	afterDashes := slices.Contains(before, "--")
	if n := len(before); n > 0 && !afterDashes && strings.HasPrefix(before[n-1], "--") && !strings.HasPrefix(word, "-") {
		if f := flags.Lookup(before[n-1][2:]); f != nil && f.NoOptDefVal == "" {
			return values(flags, before[n-1]+"="+word, false)
		}
	}
	if strings.HasPrefix(word, "-") && word != "-" && !afterDashes {
		if strings.Contains(word, "=") {
			return values(flags, word, true)
		}
		return startingWith(flagNames(flags), word)
	}
	if c.complete == nil {
		return nil
	}
	return startingWith(c.complete(slices.DeleteFunc(slices.Clone(before), func(s string) bool {
		return strings.HasPrefix(s, "-") && s != "-"
	})), word)
}

// flagNames are a command's flags as they are written, with an equals sign where a value follows.
func flagNames(flags *pflag.FlagSet) []string {
	var all []string
	flags.VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.NoOptDefVal == "" {
			name += "="
		}
		all = append(all, name)
	})
	return all
}

// values lists what may stand behind the equals sign of a flag.
func values(flags *pflag.FlagSet, word string, whole bool) []string {
	name, start, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	f := flags.Lookup(name)
	if f == nil {
		return nil
	}
	value, ok := f.Value.(*choice)
	if !ok {
		return nil
	}
	found := startingWith(value.among, start)
	if whole {
		for i := range found {
			found[i] = "--" + name + "=" + found[i]
		}
	}
	return found
}

func startingWith(words []string, start string) []string {
	var found []string
	for _, w := range words {
		if strings.HasPrefix(w, start) {
			found = append(found, w)
		}
	}
	return found
}
