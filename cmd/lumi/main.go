// Command lumi deploys programs and manages state, LumiGL files, and providers.
//
//	lumi COMMAND [flags] [arguments]
//
// See 'lumi help' and docs/lumi.md.
package main

import (
	"os"

	"github.com/lumi-idl/lumi/internal/cli"
)

// version is set by 'make dist'. Binaries built by 'go install' use their build information.
var version string

func main() { os.Exit(cli.Main(version)) }
