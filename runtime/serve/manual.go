package serve

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// answer prints what somebody asks who starts the plugin by hand. It reports whether there is such a question.
func (p *Plugin) answer(out io.Writer, name string, args []string) bool {
	if len(args) != 1 {
		return false
	}
	switch args[0] {
	case "-h", "-help", "--help":
		fmt.Fprintf(out, help, name, p.Package, len(p.Resources), lumirpc.SecretVariable)
	case "-version", "--version":
		fmt.Fprintf(out, "%s %s, protocol %d\n", name, p.version(), lumirpc.ProtocolVersion)
	default:
		return false
	}
	return true
}

const help = `%s is a plugin of Lumi: the provider of package %q. It makes, reads, changes and deletes
resources for an engine such as lumi. Types of resources: %d.

The engine finds the plugin on $PATH by its name, starts it, and calls it through gRPC; when the engine
ends, so does the plugin. It cannot be started by hand, since it answers only the process that gave it a
secret in %s. Package runtime/providertest tests it, and package runtime/serve/plugin calls it from Go.

  --help      print this
  --version   print the version of the plugin, and that of the protocol that it speaks

In the environment, LUMI_LOG=debug has the plugin log every call.
`

// version is the plugin's own version as the author gives it, or else that of the module which the binary was built of.
func (p *Plugin) version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(p.Version, info.Main.Version, "(devel)")
	}
	return cmp.Or(p.Version, "(devel)")
}
