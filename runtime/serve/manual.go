package serve

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// answer prints what somebody asks who starts a plugin by hand. It reports whether there is such a question.
func answer(out io.Writer, s service, args []string) bool {
	if len(args) != 1 {
		return false
	}
	switch args[0] {
	case "-h", "-help", "--help":
		fmt.Fprintf(out, help, s.executable(), s.about(), lumirpc.SecretVariable)
	case "-version", "--version":
		fmt.Fprintf(out, "%s %s, protocol %d\n", s.executable(), versionOf(s), lumirpc.ProtocolVersion)
	default:
		return false
	}
	return true
}

const help = `%s is a plugin of Lumi: the %s

The engine finds the plugin on $PATH by its name, starts it, and calls it through gRPC; when the engine
ends, so does the plugin. It cannot be started by hand, since it answers only the process that gave it a
secret in %s. Package runtime/providertest tests it, and package runtime/serve/plugin calls it from Go.

  --help      print this
  --version   print the version of the plugin, and that of the protocol that it speaks

In the environment, LUMI_LOG=debug has the plugin log every call.
`

// versionOf returns the version that the author gave the plugin, or else that of the module that the binary was built from.
func versionOf(s service) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(s.ownVersion(), info.Main.Version, "(devel)")
	}
	return cmp.Or(s.ownVersion(), "(devel)")
}
