package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

func newVersionCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "print lumi's version",
		Long:              `Print the version of lumi, the Go version that built it, and the platform.`,
		Annotations:       console.ExitCodes("the version is printed", "", console.ElseFailed),
		Example:           console.Examples("Which lumi is this?", "lumi version"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return printVersion(con) },
	}
}

func printVersion(con *console.Console) error {
	if !con.JSON {
		con.Printf("%s\n", console.VersionLine("lumi", con.Version))
		return nil
	}
	return con.PrintJSON(struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Arch    string `json:"arch"`
	}{console.Version(con.Version), runtime.Version(), runtime.GOOS, runtime.GOARCH})
}
