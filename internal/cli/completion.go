package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

func newCompletionCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
		Short: "generate a shell completion script",
		Long: `SHELL is bash, fish, powershell, or zsh. The script completes commands, flags, values of flags, and
files; in a workspace also environments, modules, resources, types, deployments, and outputs.

  bash        install bash-completion, and add 'source <(lumi completion bash)' to ~/.bashrc
  fish        lumi completion fish >~/.config/fish/completions/lumi.fish
  powershell  add 'lumi completion powershell | Out-String | Invoke-Expression' to $PROFILE
  zsh         lumi completion zsh >"${fpath[1]}/_lumi", and start a new shell`,
		Annotations: console.ExitCodes("the script is printed", "", console.ElseFailed),
		Example:     console.Examples("Complete lumi's arguments in this shell, bash, from now on.", "source <(lumi completion bash)"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			var script strings.Builder
			switch root := c.Root(); args[0] {
			case "bash":
				err = root.GenBashCompletionV2(&script, true)
			case "fish":
				err = root.GenFishCompletion(&script, true)
			case "powershell":
				err = root.GenPowerShellCompletionWithDesc(&script)
			case "zsh":
				err = root.GenZshCompletion(&script)
			default:
				err = console.Misused("unknown shell %q; expected one of %s", args[0], strings.Join(c.ValidArgs, ", "))
			}
			if err != nil || !con.JSON {
				con.Printf("%s", &script)
				return err
			}
			return con.PrintJSON(struct {
				Shell  string `json:"shell"`
				Script string `json:"script"`
			}{args[0], script.String()})
		},
	}
}
