package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func newStateImportCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "import FILE",
		Short: "add the resources of a snapshot to an environment",
		Long: `FILE is a snapshot from 'lumi state export --show-secrets', from 'lumi convert', or written by hand.
Its resources become the first version of their modules. No resource is read or changed; 'lumi plan'
then shows how the program differs.

It is refused if one of the modules exists, if a resource has no id or an unknown value, or while
deployments are queued. 'lumi import' instead writes a program that imports the resources.`,
		Annotations: console.ExitCodes("the resources were imported", "refused, or the file has errors", console.ElseFailed),
		Example: console.Examples(
			"Take over what OpenTofu manages.", "lumi convert terraform.tfstate --environment=dev --output=tofu.json && lumi state import tofu.json",
		),
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		return importFile(ctx, s, args[0])
	})
}

// importing is the import of a snapshot into an environment.
type importing struct {
	*workspace.Session
	snapshot *lumigl.Snapshot
	types    map[tokens.Type]plan.Description
	made     map[string]*graph.Resource   // created resources by URN
	modules  map[string][]*graph.Resource // resources by module, dependencies first
	provides map[string][]graph.Provided
	secrets  bool // whether the snapshot contains secrets
}

func importFile(ctx context.Context, s *workspace.Session, name string) error {
	doc, err := document.Load(s.Console, name)
	if err != nil {
		return err
	}
	snapshot, ok := doc.Document.(*lumigl.Snapshot)
	if !ok {
		return fmt.Errorf("%s is a general graph, not a snapshot", doc.Name)
	}
	if len(snapshot.Pending.Deletes)+len(snapshot.Pending.Operations) > 0 || snapshot.Field("versions").Exists() {
		s.Say("%s has pending resources or older versions, which are not imported", doc.Name)
	}
	if err := s.ConfigureProviders(ctx, snapshot); err != nil {
		return err
	}
	key, err := s.Key(ctx)
	if err != nil {
		return err
	}
	engine, end := runs.NewEngine(s, key, run.Options{})
	defer end()
	in := importing{
		Session: s, snapshot: snapshot, types: map[tokens.Type]plan.Description{}, made: map[string]*graph.Resource{},
		modules: map[string][]*graph.Resource{}, provides: map[string][]graph.Provided{},
	}
	_, in.secrets = revealed(snapshot.Field("configuration"))
	in.describe(ctx, engine)
	if err := in.make(); err != nil {
		return &job.RefusedError{Message: fmt.Sprintf("%s: %s", doc.Name, err)}
	}
	if engine.Journal.Key == nil && in.secrets {
		if engine.Journal.Key, err = s.NewKey(ctx); err != nil {
			return err
		}
	}
	var edits []environment.Edit
	for _, module := range slices.Sorted(maps.Keys(in.modules)) {
		edits = append(edits, environment.Edit{
			Module: module, Message: "imported " + console.Count(len(in.modules[module]), "resource"),
			Change: func(g *graph.Graph, number graph.Deployment) (*graph.Graph, error) {
				return in.added(g, module, number)
			},
		})
	}
	if err := engine.Edit(ctx, edits...); err != nil {
		return err
	}
	for _, edit := range edits {
		_ = s.Finish("%s: %s", edit.Module, edit.Message)
	}
	return nil
}

// describe asks plugins for descriptions of all types. If there is no plugin for a type, all of its properties count as
// inputs.
func (in *importing) describe(ctx context.Context, engine *environment.Environment) {
	missing := map[string]bool{}
	for v := range in.snapshot.Vertices() {
		pkg, _, _ := strings.Cut(string(v.Type), ":")
		_, known := in.types[v.Type]
		if known || v.Type == lumigl.ModuleType || missing[pkg] || v.Extensions.Get(workspace.Provisioned).Exists() {
			continue
		}
		parts, _ := v.URN().Parts()
		caller := &provision.Caller{Providers: engine.Providers(parts.Package), Configuration: in.snapshot.Field("configuration").Get}
		found, err := caller.Describe(ctx, []tokens.Type{v.Type})
		if err != nil {
			missing[pkg] = true
			in.Say("treating all properties of %s as inputs: %s", pkg, err)
			continue
		}
		in.types[v.Type] = found[0]
	}
}

// make creates the resources of the snapshot. It returns an error that lists all problems.
func (in *importing) make() error {
	if in.snapshot.Len() == 0 {
		return errors.New("no resources")
	}
	sorted, err := lumigl.NewIndex(in.snapshot.Base()).Sorted()
	if err != nil {
		return err
	}
	var problems []error
	for _, v := range sorted {
		parts, _ := v.URN().Parts()
		if parts.Environment != in.Environment.Name {
			return fmt.Errorf("it belongs to environment %s: use --environment=%[1]s", parts.Environment)
		}
		if v.Type != lumigl.ModuleType {
			r, err := in.resource(v)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", v.URN().Name(), err))
			}
			in.made[v.Key()], in.modules[parts.Package] = r, append(in.modules[parts.Package], r)
			continue
		}
		for name, entry := range v.Properties.Get("provides").Members() {
			p := graph.Provided{Name: name, Type: graph.Type{Form: entry.Get("type")}, Value: entry.Get("value").Retarget(detached)}
			if p.Result, err = expr.Evaluate(p.Value, in.output); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", name, err))
			}
			_, hidden := revealed(p.Result)
			in.secrets = in.secrets || hidden
			in.provides[parts.Package] = append(in.provides[parts.Package], p)
		}
	}
	return errors.Join(problems...)
}

// output returns a property of a created resource. Known is false if the resource has not been created.
func (in *importing) output(to *lumigl.Vertex, property string) (v lumigl.Value, known bool) {
	if r := in.made[to.Key()]; r != nil {
		return r.Output(property)
	}
	return v, false
}

// detached returns a vertex with the URN of v that belongs to no document.
func detached(v *lumigl.Vertex) *lumigl.Vertex {
	u, err := lumigl.NewResource(v.URN())
	if err != nil {
		return v
	}
	return u
}

// resource returns the resource described by a vertex.
func (in *importing) resource(v *lumigl.Vertex) (*graph.Resource, error) {
	properties, err := expr.Evaluate(v.Properties.Retarget(detached), in.output)
	switch {
	case err != nil:
		return nil, err
	case v.ID == "":
		return nil, errors.New("missing id")
	case !expr.IsKnown(properties):
		return nil, errors.New("contains unknown values; export the state again with --show-secrets")
	}
	t := in.types[v.Type]
	by, isProvisioned := v.Extensions.Get(workspace.Provisioned).Get("name").Text()
	for _, name := range v.Extensions.Get(workspace.Provisioned).Get("metadata").Elements() {
		if text, ok := name.Text(); ok {
			t.Outputs = append(slices.Clip(t.Outputs), text)
		}
	}
	properties, _ = plan.WrapSecrets(properties, t.Secrets)
	_, hidden := revealed(properties)
	in.secrets = in.secrets || hidden
	var inputs, outputs lumigl.ObjectBuilder
	for name, value := range properties.Members() {
		switch {
		case slices.Contains(t.Outputs, name):
			outputs.Set(name, value)
		case value.Kind() != lumigl.Null:
			inputs.Set(name, value)
		}
	}
	r := &graph.Resource{
		URN: v.URN(), ID: v.ID, Inputs: inputs.Object(), Checked: inputs.Object(), Outputs: outputs.Object(),
		Options: v.Options.Retarget(detached), Source: v.Source, Seed: []byte(rand.Text()), Dependencies: in.dependencies(v),
	}
	if isProvisioned {
		r.Provisioner, r.Metadata = by, r.Outputs
	}
	r.Referents = graph.ReferentsOf(r.Checked, func(u urn.URN) string {
		if to := in.made[string(u)]; to != nil {
			return to.ID
		}
		return ""
	})
	return r, nil
}

// noted is the extension that lists the dependencies of an exported resource. It is needed because an export replaces
// most references in properties with values.
const noted = "lumi-dependencies"

// noteDependencies adds the extension noted to the resources of a version in a snapshot.
func noteDependencies(s *lumigl.Snapshot, v *graph.Version) {
	for r := range v.Resources() {
		var all []lumigl.Value
		for _, u := range r.Dependencies {
			all = append(all, lumigl.TextOf(string(u)))
		}
		if vertex := s.Vertex(string(r.URN)); all != nil {
			vertex.Extensions = vertex.Extensions.With(noted, lumigl.ListOf(all...))
		}
	}
}

// dependencies returns the noted and actual dependencies of a resource within its module.
func (in *importing) dependencies(v *lumigl.Vertex) (all []urn.URN) {
	own, _ := v.URN().Parts()
	for to := range v.References() {
		if parts, _ := to.URN().Parts(); parts.Package == own.Package && to.Type != lumigl.ModuleType {
			all = append(all, to.URN())
		}
	}
	for _, one := range v.Extensions.Get(noted).Elements() {
		if text, _ := one.Text(); in.snapshot.Vertex(text) != nil {
			all = append(all, urn.URN(text))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// added returns a copy of g with the first version of a module. It returns an error if the module already exists.
func (in *importing) added(g *graph.Graph, module string, number graph.Deployment) (*graph.Graph, error) {
	if slices.Contains(g.Modules(), module) {
		return nil, &graph.RefusedError{Problems: []string{
			fmt.Sprintf(`module %s already exists in %s: forget its resources first, or use the option "import"`, module, g.Environment)}}
	}
	var resources []*graph.Resource
	for _, made := range in.modules[module] {
		r := *made
		r.Deployment = number
		resources = append(resources, &r)
	}
	v := graph.NewVersion(graph.VersionID{Module: module, Deployment: number}, graph.InOrder(resources))
	v.Provides, v.Configuration = in.provides[module], in.snapshot.Field("configuration")
	slices.SortFunc(v.Provides, func(a, b graph.Provided) int { return strings.Compare(a.Name, b.Name) })
	t, err := g.Deploy(graph.Update{Version: v})
	if err != nil {
		return nil, err
	}
	return t.Graph, nil
}
