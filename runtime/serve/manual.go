package serve

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// answer handles --help and --version. It returns false if args is anything else.
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

const help = `%s is a Lumi plugin: the %s

The engine finds the plugin on $PATH by its name, starts it, and calls it over gRPC. When the engine exits,
so does the plugin. It cannot be run by hand: it answers only the process that passed it a secret in
%s. Use package runtime/providertest to test it, or package runtime/serve/plugin to call it from Go.

  --help      print this help
  --version   print the versions of the plugin and of its protocol

Set LUMI_LOG=debug in the environment to log every call.
`

// versionOf returns the version set by the author, the version of the main module, or "(devel)", in this order.
func versionOf(s service) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(s.ownVersion(), info.Main.Version, "(devel)")
	}
	return cmp.Or(s.ownVersion(), "(devel)")
}
