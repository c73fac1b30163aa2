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

func TestByHand(t *testing.T) {
	for role, want := range map[string]string{
		"plugin": "lumi-resource-test: this is a plugin, which an engine such as lumi starts; it cannot be started by" +
			" hand, since it answers only the process that gave it a secret in LUMI_PLUGIN_SECRET; package runtime/providertest" +
			" tests it, and package runtime/serve/plugin calls it from Go\n",
		"misregistered": "lumi-resource-test: the resources are registered wrongly:\ntest:index:Thing: the provider is nil\n",
		"provisioner": "lumi-provisioner-tool: this is a plugin, which an engine such as lumi starts; it cannot be started by" +
			" hand, since it answers only the process that gave it a secret in LUMI_PLUGIN_SECRET; package" +
			" runtime/providertest tests it, and package runtime/serve/plugin calls it from Go\n",
		"misnamed provisioner": `lumi-provisioner-Tool: invalid name "Tool": it must start with a lower-case letter, followed by` +
			" lower-case letters, digits, - and _\n",
		"no provisioner": "lumi-provisioner-tool: the provisioner is nil\n",
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stdout, cmd.Stderr = env(role), &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitMisuse {
			t.Errorf("%s: got %v", role, err)
		}
		if stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%s: got %q and %q", role, &stdout, &stderr)
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	const help = `lumi-resource-test is a plugin of Lumi: the provider of package "test". It makes, reads, changes and deletes
resources for an engine such as lumi. Types of resources: 2.

The engine finds the plugin on $PATH by its name, starts it, and calls it through gRPC; when the engine
ends, so does the plugin. It cannot be started by hand, since it answers only the process that gave it a
secret in LUMI_PLUGIN_SECRET. Package runtime/providertest tests it, and package runtime/serve/plugin calls it from Go.

  --help      print this
  --version   print the version of the plugin, and that of the protocol that it speaks

In the environment, LUMI_LOG=debug has the plugin log every call.
`
	const toolHelp = `lumi-provisioner-tool is a plugin of Lumi: the provisioner "tool". It has another tool change resources for
an engine such as lumi.

The engine finds the plugin on $PATH by its name, starts it, and calls it through gRPC; when the engine
ends, so does the plugin. It cannot be started by hand, since it answers only the process that gave it a
secret in LUMI_PLUGIN_SECRET. Package runtime/providertest tests it, and package runtime/serve/plugin calls it from Go.

  --help      print this
  --version   print the version of the plugin, and that of the protocol that it speaks

In the environment, LUMI_LOG=debug has the plugin log every call.
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
			t.Errorf("%s %s: got %v and\n%s", test.role, test.question, err, got)
		}
	}
	for _, args := range [][]string{{}, {"version"}, {"--verbose"}, {"--help", "me"}} {
		if answer(t.Output(), new(Plugin), args) {
			t.Errorf("%q is answered", args)
		}
	}
	// An engine that gives arguments, whatever they are, finds a plugin all the same.
	p := must.Get(plugin.Start(within(t), plugin.Command{Path: os.Args[0], Args: []string{"--help"}, Env: env("plugin")}))(t)
	must.Do(t, p.Close())
}

func TestModuleVersion(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		t.Skip("this binary has no module version")
	}
	if got := versionOf(new(Plugin)); got != info.Main.Version {
		t.Errorf("got %s, and the module has %s", got, info.Main.Version)
	}
}
