package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(env *console) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "print lumi's version",
		Long:              `It prints the version of lumi, that of Go which built it, and the system that it is for.`,
		Annotations:       exitCodes("the version is printed", "", elseFailed),
		Example:           examples("Which lumi is this?", "lumi version"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return printVersion(env) },
	}
}

func printVersion(env *console) error {
	v := env.version
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
