package main

import (
	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/catalog"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl/codes"
)

func newExplainCommand(env *console) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "explain the codes of errors and losses",
		Long: `CODE is what stands in brackets behind a fault, which a file has, or behind a loss, which 'lumi convert'
names. It prints the rule, with an example that breaks it and one that does not. Where a fault and a
loss have the same code, it prints both. Without an argument it lists all codes.

With --json, each is an object on a line of its own, with "code", "about", which is "fault" or "loss",
"group" and "text".`,
		Annotations: exitCodes("all codes are explained", "", elseFailed),
		Example: examples(
			"What does [dangling] mean?", "lumi explain dangling",
			"Which codes are there?", "lumi explain",
		),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explanations().Codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(*cobra.Command, []string) error { return explain(env) },
	}
}

// explanations returns the catalogue of all codes. A fault and a loss may have the same code.
func explanations() catalog.Catalog { return append(codes.Faults(), codes.Losses()...) }

// explain prints what some codes mean, or lists all of them.
func explain(env *console) error {
	all := explanations()
	chosen, err := all.Select(env.args, "lumi explain")
	switch {
	case err != nil:
		return err
	case len(env.args) == 0:
		chosen = all
	}
	switch {
	case env.json:
		for _, e := range chosen {
			e.Text = e.Plain()
			if err := env.printJSON(e); err != nil {
				return err
			}
		}
	case len(env.args) == 0:
		env.printf("%s'lumi explain CODE' says what a code means.\n",
			all.List(func(title string) string { return env.out.Paint(term.Bold, title) }))
	default:
		env.printf("%s", chosen.Explain(func(e catalog.Entry) string {
			return env.out.Paint(term.Bold, e.Code) + " " + env.out.Paint(term.Dim, "("+e.Group+")")
		}))
	}
	return nil
}
