// Command lumi deploys programs, and works with the state of environments, LumiGL files and providers.
//
//	lumi COMMAND [flags] [arguments]
//
// Its manual is 'lumi help' and docs/lumi.md.
package main

import (
	"os"

	"github.com/lumi-idl/lumi/internal/cli"
)

// version is set by 'make dist'. A binary that 'go install' built knows its version from its build information.
var version string

func main() { os.Exit(cli.Main(version)) }
