package main

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// version is set by 'make dist'. A binary that 'go install' built knows its version from its build information.
var version string

func versionCommand() *command {
	return &command{
		name: "version", most: 0,
		short:    "print lumi's version",
		long:     `It prints the version of lumi, that of Go which built it, and the system that it is for.`,
		exits:    exits{"the version is printed", "", elseFailed},
		examples: []example{{"Which lumi is this?", "lumi version"}},
		complete: func([]string) []string { return nil },
		setup: func(*pflag.FlagSet) func(context.Context, *environment) error {
			return func(_ context.Context, env *environment) error {
				v := version
				if info, ok := debug.ReadBuildInfo(); ok && v == "" && info.Main.Version != "(devel)" {
					v = info.Main.Version
				}
				v = cmp.Or(v, "devel")
				if env.json {
					return env.printJSON(struct {
						Version string `json:"version"`
						Go      string `json:"go"`
						OS      string `json:"os"`
						Arch    string `json:"arch"`
					}{v, runtime.Version(), runtime.GOOS, runtime.GOARCH})
				}
				env.printf("lumi %s %s %s/%s\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return nil
			}
		},
	}
}
