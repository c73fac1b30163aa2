package serve

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"testing"

	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestStartedByHand(t *testing.T) {
	for role, want := range map[string]string{
		"plugin": "lumi-resource-test: this is a plugin and cannot be run by hand: an engine such as lumi starts it" +
			" and passes it a secret in LUMI_PLUGIN_SECRET; use package runtime/providertest to test it, or package" +
			" runtime/serve/plugin to call it from Go\n",
		"misregistered": "lumi-resource-test: invalid resources:\ntest:index:Thing: the provider is nil\n",
		"provisioner": "lumi-provisioner-tool: this is a plugin and cannot be run by hand: an engine such as lumi starts" +
			" it and passes it a secret in LUMI_PLUGIN_SECRET; use package runtime/providertest to test it, or package" +
			" runtime/serve/plugin to call it from Go\n",
		"misnamed provisioner": `lumi-provisioner-Tool: invalid name "Tool": must start with a lowercase letter, followed by` +
			" lowercase letters, digits, - and _\n",
		"no provisioner": "lumi-provisioner-tool: the provisioner is nil\n",
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stdout, cmd.Stderr = env(role), &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitMisuse {
			t.Errorf("%s: Run error = %v, want exit code %d", role, err, exitMisuse)
		}
		if stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%s: stdout = %q, stderr = %q, want \"\", %q", role, &stdout, &stderr, want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	const help = `lumi-resource-test is a Lumi plugin: the provider of package "test". It creates, reads, updates and
deletes resources for an engine such as lumi. Resource types: 2. Functions: 1.

The engine finds the plugin on $PATH by its name, starts it, and calls it over gRPC. When the engine exits,
so does the plugin. It cannot be run by hand: it answers only the process that passed it a secret in
LUMI_PLUGIN_SECRET. Use package runtime/providertest to test it, or package runtime/serve/plugin to call it from Go.

  --help      print this help
  --version   print the versions of the plugin and of its protocol

Set LUMI_LOG=debug in the environment to log every call.
`
	const toolHelp = `lumi-provisioner-tool is a Lumi plugin: the provisioner "tool". It changes resources with another tool on
behalf of an engine such as lumi.

The engine finds the plugin on $PATH by its name, starts it, and calls it over gRPC. When the engine exits,
so does the plugin. It cannot be run by hand: it answers only the process that passed it a secret in
LUMI_PLUGIN_SECRET. Use package runtime/providertest to test it, or package runtime/serve/plugin to call it from Go.

  --help      print this help
  --version   print the versions of the plugin and of its protocol

Set LUMI_LOG=debug in the environment to log every call.
`
	for _, test := range []struct{ role, question, want string }{
		{"plugin", "--help", help}, {"plugin", "-help", help}, {"plugin", "-h", help},
		{"plugin", "--version", "lumi-resource-test 1.2.3, protocol 1\n"},
		{"plugin", "-version", "lumi-resource-test 1.2.3, protocol 1\n"},
		{"provisioner", "--help", toolHelp}, {"provisioner", "--version", "lumi-provisioner-tool 2.0.0, protocol 1\n"},
	} {
		cmd := exec.Command(os.Args[0], test.question)
		cmd.Env = env(test.role)
		if got, err := cmd.CombinedOutput(); err != nil || string(got) != test.want {
			t.Errorf("%s %s: error %v, output\n%s\nwant\n%s", test.role, test.question, err, got, test.want)
		}
	}
	for _, args := range [][]string{{}, {"version"}, {"--verbose"}, {"--help", "me"}} {
		if answer(t.Output(), new(Plugin), args) {
			t.Errorf("answer(%q) = true, want false", args)
		}
	}
	// All other arguments are ignored.
	p := must.Get(plugin.Start(within(t), plugin.Command{Path: os.Args[0], Args: []string{"--help"}, Env: env("plugin")}))(t)
	must.Do(t, p.Close())
}

func TestModuleVersion(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		t.Skip("this binary has no module version")
	}
	if got := versionOf(new(Plugin)); got != info.Main.Version {
		t.Errorf("versionOf = %s, want %s", got, info.Main.Version)
	}
}
