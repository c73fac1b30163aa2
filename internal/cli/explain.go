package cli

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/catalog"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl/codes"
)

func newExplainCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "explain error codes",
		Long: `CODE is the word in brackets after an error, or after a loss reported by 'lumi convert'. It prints
the rule, with an invalid and a valid example. Without arguments, it lists all codes.

With --json, it prints one object per code, one per line: "code", "about" ("fault" or "loss"), "group",
"text".`,
		Annotations: console.ExitCodes("all codes are explained", "", console.ElseFailed),
		Example: console.Examples(
			"What does [dangling] mean?", "lumi explain dangling",
			"Which codes are there?", "lumi explain",
		),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explanations().Codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(*cobra.Command, []string) error { return explain(con) },
	}
}

// explanations returns the catalog of all codes. An error and a loss may have the same code.
func explanations() catalog.Catalog { return append(codes.Faults(), codes.Losses()...) }

// explain prints the meaning of each given code or, without codes, a list of all codes.
func explain(con *console.Console) error {
	all := explanations()
	chosen, err := all.Select(con.Args, "lumi explain")
	switch {
	case err != nil:
		return err
	case len(con.Args) == 0:
		chosen = all
	}
	switch {
	case con.JSON:
		for _, e := range chosen {
			e.Text = e.Plain()
			if err := con.PrintJSON(e); err != nil {
				return err
			}
		}
	case len(con.Args) == 0:
		con.Printf("%s'lumi explain CODE' explains a code.\n",
			all.List(func(title string) string { return con.Out.Paint(term.Bold, title) }))
	default:
		con.Printf("%s", chosen.Explain(func(e catalog.Entry) string {
			return con.Out.Paint(term.Bold, e.Code) + " " + con.Out.Paint(term.Dim, "("+e.Group+")")
		}))
	}
	return nil
}
