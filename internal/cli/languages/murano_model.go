package languages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
)

func newMuranoModelCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "model MODULE",
		Short: "print the saved object model of a module",
		Long: `Print the object model as the last deployment left it, with the values of outputs. The next
deployment starts from it. Secrets are masked, and unknown values are null.

With --json, it prints one line.`,
		Args:        cobra.ExactArgs(1),
		Annotations: console.ExitCodes("the model is printed", "the module has none", console.ElseFailed),
		Example: console.Examples(
			"What did the deployment compute?", "lumi murano model shop",
			"Read one value.", "lumi murano model shop --json | jq -r .applications[0].url",
		),
		ValidArgsFunction: workspace.CompleteModules,
	}, printModel)
}

func printModel(ctx context.Context, s *workspace.Session, args []string) error {
	g, err := environment.New(run.Options{Store: s.Store, Environment: s.Environment.Name}).Graph(ctx) // without a key, secrets are unknown
	if err != nil {
		return err
	}
	newest := g.Newest(args[0])
	switch {
	case newest == nil:
		return &job.RefusedError{Message: fmt.Sprintf("%s has no module %s; %s", s.Environment.Name, args[0], suggest.Instead(args[0], g.Modules()))}
	case newest.Provided(graph.ModelName) == nil:
		return &job.RefusedError{Message: fmt.Sprintf("module %s has no object model: it was deployed from a program", args[0])}
	}
	saved := newest.Provided(graph.ModelName).Result.Get("saved").Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		switch {
		case part.IsSecret():
			return lumigl.TextOf(document.Masked), true
		case part.IsUnknown() || part.IsExpression():
			return lumigl.NullValue(), true
		}
		return part, false
	})
	text := display.AppendJSON(nil, saved, lumigl.DefaultTag)
	if s.JSON {
		return s.PrintJSON(json.RawMessage(text))
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	s.Printf("%s\n", indented.String())
	return nil
}
