package state

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// outputs is an invocation of 'lumi output'.
type outputs struct {
	*workspace.Session
	pending, types, showSecrets bool
}

func newOutputCommand(con *console.Console) *cobra.Command {
	o := outputs{}
	c := workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "output [MODULE] [NAME]",
		Short: "print the outputs of modules",
		Long: `Print the values that programs export with lumi.provide; with NAME, only that value, for
scripts. Secrets require --show-secrets and the key of the environment. With --pending, values that
depend on queued deployments or on secrets are (known after apply).

With --json, it prints one object per module, one per line: "module", "deployment", and "values", an
object by name. Each value has a "type" and "value", "secret": true, or "unknown": true.`,
		Annotations: map[string]string{"0": "the values are printed", "2": console.ElseFailed, "3": "a key is needed"},
		Example: console.Examples(
			"What do the modules provide?", "lumi output",
			"The values of one module.", "lumi output site",
			"What will it provide after its queued deployment?", "lumi output site --pending",
			"The types of the values, for programs that use them.", "lumi output --types",
			"All values with their types, for a program.", "lumi output --json --show-secrets",
		),
		ValidArgsFunction: workspace.CompleteOutputs,
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		o.Session = s
		return o.run(ctx, args)
	})
	c.Flags().BoolVar(&o.pending, "pending", false, "print the values that the queued deployments would produce")
	c.Flags().BoolVar(&o.types, "types", false, "print the types instead of the values")
	c.Flags().BoolVar(&o.showSecrets, "show-secrets", false, "also print secret values")
	return c
}

func (o *outputs) run(ctx context.Context, args []string) error {
	all, err := o.versions(ctx)
	if err != nil {
		return err
	}
	modules := slices.Sorted(maps.Keys(all))
	switch {
	case len(args) > 0 && all[args[0]] == nil:
		return fmt.Errorf("%s has no module %s; %s", o.Environment.Name, args[0], suggest.Instead(args[0], modules))
	case len(args) == 2:
		return o.one(all[args[0]], args[1])
	case len(args) == 1:
		modules = args
	case len(modules) == 0 && !o.JSON:
		o.Say("no modules are deployed in %s", o.Environment.Name)
	}
	for i, module := range modules {
		if o.JSON {
			if err := o.printModule(all[module], all[module].Outputs()); err != nil {
				return err
			}
			continue
		}
		if len(modules) > 1 {
			o.Printf("%s%s\n", strings.Repeat("\n", min(i, 1)), o.Out.Paint(term.Bold, module))
		}
		o.list(all[module].Outputs())
	}
	return nil
}

// versions returns the module versions whose outputs are printed, by module.
func (o *outputs) versions(ctx context.Context) (map[string]*graph.Version, error) {
	options := run.Options{Store: o.Store, Environment: o.Environment.Name}
	if o.showSecrets {
		var err error
		if options.Key, err = o.Key(ctx); err != nil {
			return nil, err
		}
	}
	engine := environment.New(options)
	g, err := engine.Graph(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]*graph.Version{}
	for _, name := range g.Modules() {
		if v := g.Newest(name); v != nil {
			all[name] = v
		}
	}
	if o.pending {
		err = forecast(ctx, engine, g, all)
	}
	return all, err
}

// jsonOutput is the JSON form of an output. Value is omitted for unknown values and hidden secrets.
type jsonOutput struct {
	Type    string          `json:"type"`
	Value   json.RawMessage `json:"value,omitempty"`
	Secret  bool            `json:"secret,omitempty"`
	Unknown bool            `json:"unknown,omitempty"`
}

func (o *outputs) value(p graph.Provided) jsonOutput {
	content, isSecret := revealed(p.Result)
	v := jsonOutput{Type: p.Type.String(), Secret: isSecret}
	switch {
	case o.types || isSecret && !o.showSecrets:
	case !content.Exists() || !expr.IsKnown(content):
		v.Unknown = true
	default:
		v.Value = display.AppendJSON(nil, content, lumigl.DefaultTag)
	}
	return v
}

// revealed returns a value with each secret replaced by its content, and reports whether there are any secrets.
func revealed(v lumigl.Value) (content lumigl.Value, hasSecrets bool) {
	content = v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		content, isSecret := part.Secret()
		if isSecret {
			hasSecrets = true
			content, _ = revealed(content)
		}
		return content, isSecret
	})
	return content, hasSecrets
}

// one prints a single output.
func (o *outputs) one(version *graph.Version, name string) error {
	p := version.Provided(name)
	if p == nil {
		return fmt.Errorf("module %s has no output %s; %s", version.Module, name, suggest.Instead(name, workspace.NamesOf(version)))
	}
	v := o.value(*p)
	text := string(v.Value)
	switch {
	case o.JSON:
		return o.printModule(version, []graph.Provided{*p})
	case o.types:
		text = v.Type
	case v.Unknown:
		return fmt.Errorf("output %s of %s is not known until deployment %d is done", name, version.Module, version.Deployment)
	case v.Value == nil:
		return fmt.Errorf("output %s of %s is a secret: use --show-secrets to print it", name, version.Module)
	case text[0] == '"':
		_ = json.Unmarshal(v.Value, &text)
	}
	if o.Out.Terminal {
		text = term.Visible(text)
	}
	o.Printf("%s\n", text)
	return nil
}

// list prints outputs, one per line.
func (o *outputs) list(all []graph.Provided) {
	width := 0
	for _, p := range all {
		width = max(width, term.Width(display.KeyText(p.Name)))
	}
	for _, p := range all {
		v := o.value(p)
		text := string(v.Value)
		switch {
		case o.types:
			text = term.Visible(v.Type)
		case v.Unknown:
			text = o.Out.Paint(term.Dim, "(known after apply)")
		case v.Value == nil:
			text = o.Out.Paint(term.Dim, document.Masked)
		}
		o.Printf("%s%s  %s\n", display.KeyText(p.Name), strings.Repeat(" ", width-term.Width(display.KeyText(p.Name))), text)
	}
}

// printModule prints the outputs of a version as a line of JSON.
func (o *outputs) printModule(v *graph.Version, all []graph.Provided) error {
	values := map[string]jsonOutput{}
	for _, p := range all {
		values[p.Name] = o.value(p)
	}
	return o.PrintJSON(struct {
		Module     string                `json:"module"`
		Deployment graph.Deployment      `json:"deployment"`
		Values     map[string]jsonOutput `json:"values"`
	}{v.Module, v.Deployment, values})
}
