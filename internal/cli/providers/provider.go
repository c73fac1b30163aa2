package providers

import (
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

// newProviderCommand returns the group of commands for provider authors.
func newProviderCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "provider",
		Short: "test and describe providers",
		Long: `A provider is a plugin: an executable, written in any language, that manages the resources of one
package.`,
		Annotations: console.ExitCodes("the command succeeded", "the provider does not conform", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", newProviderTestCommand(con), newProviderDescribeCommand(con))
	return c
}

func newProviderTestCommand(con *console.Console) *cobra.Command {
	p := providerTest{con: con}
	var run string
	c := &cobra.Command{
		Use:   "test PLUGIN",
		Short: "test whether a provider conforms to the protocol",
		Long: `Start the plugin, a path or a name on $PATH, take each resource of the fixture, a LumiGL graph,
through its life cycle, and call its functions, checking the rules that every provider must follow.
It deletes what it created, even after a failure, a timeout, or an interrupt. docs/conformance.md
explains fixtures and checks.

With --json, it prints one object: "plugin", "package", "version", "types", "functions", "untested",
"passed", "resources", "failures", "log".`,
		Annotations: console.ExitCodes("all tests passed", "a test failed", "the fixture is invalid, the plugin cannot be started, or a usage or system error"),
		Example: console.Examples(
			"Test a plugin on $PATH.", "lumi provider test lumi-resource-library --fixture=library.json",
			"Test some of the resources.", `lumi provider test lumi-resource-library --fixture=library.json --run="^fiction$"`,
			"Which steps failed?", `lumi provider test lumi-resource-library --fixture=library.json --json | jq -c ".resources[].steps[] | select(.passed | not)"`,
		),
		ValidArgsFunction: completePlugins,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			switch p.run, err = regexp.Compile(run); {
			case err != nil:
				return console.Misused("--run: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			case p.file == "":
				return console.Misused("missing --fixture=FILE")
			case !workspace.IsEnvironmentName(p.environment):
				return console.Misused("--environment=%s is not a valid name", p.environment)
			case p.timeout <= 0:
				return console.Misused("--timeout must be positive")
			}
			p.name = args[0]
			return p.test(c.Context())
		},
	}
	c.Flags().StringVar(&p.file, "fixture", "", "the fixture `FILE`; - is standard input")
	c.Flags().StringVar(&run, "run", ".", "test only resources whose keys match `REGEXP`")
	c.Flags().StringVar(&p.environment, "environment", "test", "the `NAME` of the environment in URNs; a new name makes new tokens and seeds")
	c.Flags().DurationVar(&p.timeout, "timeout", 10*time.Minute, "limit the test, and the cleanup after it, to `DURATION` each")
	c.Flags().BoolVar(&p.allCalls, "all-calls", false, "after a failure, list the calls of all steps, not only of the failed ones")
	_ = c.MarkFlagFilename("fixture", "json")
	return c
}
