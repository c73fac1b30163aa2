package deployments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/adopt"
	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/runs"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// importCommand is an invocation of 'lumi import'.
type importCommand struct {
	*workspace.Session
	flags               workspace.Flags
	module, from, types string
	mapped              map[tokens.Type]string // the positions of types in the file types
}

func newImportCommand(con *console.Console) *cobra.Command {
	i := importCommand{}
	c := &cobra.Command{
		Use:   "import [TYPE] [NAME] [ID]",
		Short: "write a program that imports existing resources",
		Long: `Read the resource of the type with the ID that its provider gave it, and print TypeScript that
imports it: NAME is its name in the program; omit it if the provider names resources of the type.
Nothing is changed or stored: add the text to the program, and 'lumi deploy' imports the resource.
'lumi state import' instead adds a snapshot to the state, without a program.

The text sets only what it must. Secrets become configuration, and are never printed. With --from, it
imports all resources of a snapshot from 'lumi convert'; --types maps their types to those of
providers, such as {"aws:index:S3Bucket": "aws:s3:Bucket"}.

With --json, it prints one object. docs/import.md explains the output.`,
		Annotations: map[string]string{
			"0": "the program is printed", "1": "a resource cannot be imported, or a file has errors", "2": console.ElseFailed, "3": "a key is needed",
		},
		Example: console.Examples(
			"Import a directory.", "lumi import local:index:Directory site",
			"Take over what OpenTofu manages.", "lumi convert -o tofu.json terraform.tfstate && lumi import --from=tofu.json --types=types.yaml",
		),
		ValidArgsFunction: workspace.CompleteTypes,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case (i.from == "") != (i.types == ""):
				return console.Misused("--from and --types require each other")
			case i.from != "" && len(args) > 0:
				return console.Misused("--from cannot be combined with TYPE")
			case i.from == "" && len(args) < 2:
				return console.Misused("missing arguments; expected TYPE NAME ID, or TYPE ID if the provider names the resource")
			}
			return workspace.WithEnvironment(c.Context(), con, i.flags.Environment, workspace.Pretend, func(s *workspace.Session) error {
				i.Session = s
				return i.run(c.Context(), args)
			})
		},
	}
	i.flags.Add(c)
	c.Flags().StringVar(&i.module, "module", "", "the `NAME` of the module; required if Lumi.yaml has several")
	_ = c.RegisterFlagCompletionFunc("module", workspace.CompleteModules)
	c.Flags().StringVar(&i.from, "from", "", "import the resources of the snapshot `FILE`")
	c.Flags().StringVar(&i.types, "types", "", "the `FILE` that maps the types of --from")
	_ = c.MarkFlagFilename("from", "json")
	_ = c.MarkFlagFilename("types", "yaml", "yml")
	return c
}

func (i *importCommand) run(ctx context.Context, args []string) error {
	all := i.Modules()
	switch {
	case i.module == "" && len(all) > 1:
		return console.Misused("--module is required: %s has %s", i.Workspace.File, strings.Join(all, ", "))
	case all[0] == "":
		return fmt.Errorf(`%s has no modules: add "package: NAME"`, i.Workspace.File)
	case i.module == "":
		i.module = all[0]
	case !slices.Contains(all, i.module):
		return console.Misused("%s has no module %s; %s", i.Workspace.File, i.module, suggest.Instead(i.module, all))
	}
	resources, err := i.resources(args)
	if err != nil {
		return err
	}
	key, err := i.KeyIfAny(ctx, "importing")
	if err != nil {
		return err
	}
	engine, end := runs.NewEngine(i.Session, key, run.Options{})
	defer end()
	configuration, err := i.configuration(ctx, engine, resources)
	if err != nil {
		return err
	}
	ctx, release := i.Interruptible(ctx)
	defer release()
	var done atomic.Int32
	i.Doing("reading resources")
	read, err := adopt.Read(ctx, adopt.Request{
		Environment: i.Environment.Name, Module: i.module, Resources: resources,
		Provider: &provision.Caller{Providers: engine.Providers(i.module), Configuration: configuration.Get},
		Describe: func(ctx context.Context, t tokens.Type) (*lumi.Description, error) {
			arguments := len(args)
			if t != resources[0].Type { // of a look-up
				arguments = 0
			}
			return i.describe(ctx, engine, configuration, t, arguments)
		},
		Progress: func() { i.Doing("reading resources: %d of %d", done.Add(1), len(resources)) },
	})
	if err != nil {
		return err
	}
	return i.print(adopt.Write(read, i.specifier), read)
}

// configuration returns the configuration of the providers, which the program and Lumi.yaml contain.
func (i *importCommand) configuration(ctx context.Context, engine *environment.Environment, resources []*adopt.Resource) (all lumigl.Value, err error) {
	desired := &lumigl.Snapshot{}
	if i.Workspace.Modules[i.module] != "" || i.Workspace.Models[i.module].File != "" {
		if desired, err = desiredState(ctx, i.Session, engine, i.module, nil); err != nil {
			return all, err
		}
	}
	using := &lumigl.Snapshot{}
	using.Fields = desired.Fields
	for n, one := range resources { // only packages with resources are configured
		u, err := urn.Format(urn.Parts{Environment: i.Environment.Name, Package: i.module, Module: "index", Type: one.Type, Name: fmt.Sprint("#", n)})
		if err == nil {
			_, err = using.Add(u)
		}
		if err != nil {
			return all, err
		}
	}
	err = i.ConfigureProviders(ctx, using)
	return using.Field("configuration"), err
}

// describe returns the description of a type. It returns an error if the number of arguments does not fit, unless it is 0.
func (i *importCommand) describe(
	ctx context.Context, engine *environment.Environment, configuration lumigl.Value, t tokens.Type, arguments int,
) (*lumi.Description, error) {
	p, _, err := engine.Providers(i.module).Provider(ctx, t, configuration.Get(t.Package()))
	if err != nil {
		err = provision.Mask(err, configuration)
		if _, ok := errors.AsType[*plan.ConfigurationError](err); !ok && i.mapped[t] != "" {
			err = &plan.Error{Faults: []plan.Fault{{Source: i.mapped[t], Message: err.Error()}}}
		}
		return nil, err
	}
	d, err := p.Describe(ctx)
	switch {
	case err != nil:
		return nil, err
	case d.Function:
		return nil, &plan.Error{Faults: []plan.Fault{{Source: i.mapped[t], Message: fmt.Sprintf("%s is a function, not a resource type: call it", t)}}}
	case d.Named && arguments == 2:
		return nil, console.Misused("missing NAME: programs name resources of the type %s", t)
	case !d.Named && arguments == 3:
		return nil, console.Misused("unexpected NAME: the provider names resources of the type %s", t)
	}
	return d, nil
}
