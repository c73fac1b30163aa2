package files

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

func newCheckCommand(con *console.Console) *cobra.Command {
	var quiet bool
	var most int
	c := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "report all errors in LumiGL files",
		Long: `Parse graphs and snapshots strictly and report each error with its position and, if there is
only one way to fix it, the fix. The word in brackets is the code; 'lumi explain CODE' explains it.
Without files, it reads standard input.

With --json, it prints one object per error, one per line: "file", "code", "line", "column", "offset",
"end", "pointer", "message" and, where they apply, "notes", "nearest", "circle", "fix".`,
		Annotations: console.ExitCodes("no file has errors", "a file has errors", console.ElseFailed),
		Example: console.Examples(
			"Check two files.", "lumi check prod.json graph.json",
			"Check what a program prints.", "cat prod.json | lumi check -",
			"All errors of a file, as JSON.", "lumi check --json --max-faults=1000 broken.json",
		),
		ValidArgsFunction: document.CompleteFiles,
		RunE: func(*cobra.Command, []string) error {
			if most < 1 {
				return console.Misused("--max-faults=%d: must be at least 1", most)
			}
			files, err := document.Inputs(con)
			if err != nil {
				return err
			}
			return checkAll(con, files, most, quiet)
		},
	}
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "do not report files without errors")
	c.Flags().IntVar(&most, "max-faults", 100, "report at most `N` errors per file")
	return c
}

func checkAll(con *console.Console, files []string, most int, quiet bool) error {
	wrong, faults := 0, 0
	err := document.Each(con, files, func(file string) error {
		in, err := document.Read(con, file)
		if err != nil {
			return err
		}
		doc, err := lumigl.Parser{MaxFaults: most}.Parse(in.Src)
		var invalid *lumigl.InvalidError
		switch {
		case errors.As(err, &invalid):
			wrong++
			faults += len(invalid.Faults)
			return document.Refuse(con, in, err)
		case err == nil && !con.JSON && !quiet:
			con.Printf("%s: ok, %s\n", term.Visible(in.Name), display.Summary(doc))
		}
		return err
	})
	if wrong > 0 && !con.JSON {
		con.Separate()
		con.Say("%s in %s", console.Count(faults, "error"), console.Count(wrong, "file"))
	}
	return err
}
