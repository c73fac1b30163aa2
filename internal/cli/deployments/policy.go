package deployments

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
)

func newPolicyCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:         "policy",
		Short:       "test the policy of the workspace",
		Long:        `Lumi.policy.yaml, next to Lumi.yaml, contains rules for plans. docs/policy.md explains them.`,
		Annotations: console.ExitCodes("the command succeeded", "a case failed", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", &cobra.Command{
		Use:   "test [FILE]",
		Short: "run the test cases of the policy",
		Long: `FILE contains steps and the expected results of rules. The default is Lumi.policy.test.yaml, next to
the policy.

With --json, it prints an object with "passed" and "cases", each with "case", "line", "column",
"passed", and "failures".`,
		Annotations: console.ExitCodes("all cases passed", "a case failed", console.ElseFailed),
		Example:     console.Examples("Do the rules do what they should?", "lumi policy test"),
		RunE:        func(_ *cobra.Command, args []string) error { return testPolicy(con, args) },
	})
	return c
}

func testPolicy(con *console.Console, args []string) error {
	w, err := workspace.Find()
	if err != nil {
		return err
	}
	folder := filepath.Dir(w.File)
	p, err := workspace.ReadPolicy(w)
	if err != nil {
		return err
	} else if p == nil {
		return fmt.Errorf("no %s in %s", policy.FileName, folder)
	}
	file := filepath.Join(folder, policy.TestFileName)
	if len(args) > 0 {
		file = args[0]
	}
	in, err := document.ReadFile(con, file)
	if err != nil {
		return err
	}
	results, err := p.Test([]byte(in.Src), in.Name)
	if err != nil {
		return err
	}
	failed := 0
	for _, r := range results {
		if !r.Passed {
			failed++
		}
	}
	if con.JSON {
		err = con.PrintJSON(map[string]any{"passed": failed == 0, "cases": append([]policy.Result{}, results...)})
	} else {
		for _, r := range results {
			con.Printf("%s %s\n", map[bool]string{true: con.Out.Paint(term.Green, "ok  "), false: con.Out.Paint(term.Red, "FAIL")}[r.Passed], term.Visible(r.Case))
			for _, f := range r.Failures {
				con.Printf("     %s:%d:%d: %s\n", in.Name, r.Line, r.Column, term.Visible(f))
			}
		}
		con.Printf("%d of %s passed\n", len(results)-failed, console.Count(len(results), "case"))
	}
	if err == nil && failed > 0 {
		return console.ErrWrong
	}
	return err
}
