// Command lumi-resource-local is the provider of package local. It manages files and commands on the local machine and
// requires no configuration. Relative paths are relative to its working directory, which the engine sets to the program's
// folder.
package main

import (
	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/runtime/serve"
)

// version is set with -ldflags by 'make dist'.
var version string

func main() {
	serve.Main(serve.Plugin{Package: "local", Version: version, Resources: local.Resources(), Functions: local.Functions()})
}
