// Command lumi-resource-local is the provider of package local. It manages files and commands on the machine where it runs
// and needs no configuration. Relative paths start from the program's folder, in which the engine starts it.
package main

import (
	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/runtime/serve"
)

// version is set by 'make dist'.
var version string

func main() {
	serve.Main(serve.Plugin{Package: "local", Version: version, Resources: local.Resources()})
}
