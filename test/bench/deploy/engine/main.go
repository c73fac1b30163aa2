// Command engine deploys many resources with a no-op provider, for the benchmark in the parent folder. With the argument
// "plugin", it runs as the plugin; otherwise, it runs as the engine.
//
//	engine STORE RESOURCES CHAIN
//
// STORE is a file, or the URL of a database in PostgreSQL. CHAIN is the length of the chains of references between resources; 1 makes all resources independent.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

const token tokens.Type = "bench:index:Null"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "plugin" {
		resource := lumi.NewNamedProvider(token, func() *null { return new(null) }, nulls{})
		serve.Main(serve.Plugin{Package: "bench", Resources: map[tokens.Type]lumi.ResourceProvider{token: &resource}})
		return
	}
	if err := deploy(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// deploy deploys a generated program, as specified by the command-line arguments.
func deploy(ctx context.Context, args []string) (err error) {
	if len(args) != 3 {
		return errors.New("usage: engine STORE RESOURCES CHAIN")
	}
	resources, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	chain, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	var s store.Store
	if postgres.IsURL(args[0]) {
		s, err = postgres.Open(ctx, args[0], postgres.Options{})
	} else {
		s, err = sqlite.Open(ctx, args[0], sqlite.Options{})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	pool := provision.NewPool(provision.PoolOptions{Command: func(string) (plugin.Command, error) {
		return plugin.Command{Path: os.Args[0], Args: []string{"plugin"}}, nil
	}})
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := environment.Add(ctx, s, store.Environment{Name: "prod", Lineage: "bench"}); err != nil {
		return err
	}
	engine := environment.New(run.Options{Store: s, Environment: "prod", Key: secret.NewKey(), Providers: func(string) provision.Providers { return pool }})
	desired, err := program(resources, chain)
	if err != nil {
		return err
	}
	planned, err := engine.Plan(ctx, run.Request{Desired: desired})
	if err != nil {
		return err
	}
	queued, err := engine.Queue(ctx, planned...)
	if err != nil {
		return err
	}
	d, err := engine.Run(ctx, queued[0].ID)
	if err != nil {
		return err
	}
	if d.State != store.Done {
		return fmt.Errorf("%s: %s", d.State, d.Message)
	}
	return nil
}

// program returns a program whose resources have five properties each and form chains of the given length.
func program(resources, chain int) (*lumigl.Snapshot, error) {
	s := &lumigl.Snapshot{Package: "bench"}
	var last *lumigl.Vertex
	for i := range resources {
		name := fmt.Sprintf("null-%06d", i)
		v, err := s.Add(urn.URN("urn:lumi:prod::bench:index::" + string(token) + "::" + name))
		if err != nil {
			return nil, err
		}
		source := lumigl.TextOf("none")
		if i%chain != 0 {
			source = lumigl.PropertyOf(last, "key")
		}
		v.Properties = lumigl.ObjectOf(
			lumigl.Member{Key: "name", Value: lumigl.TextOf(name)},
			lumigl.Member{Key: "zone", Value: lumigl.TextOf("us-west-2a")},
			lumigl.Member{Key: "owner", Value: lumigl.TextOf("storage")},
			lumigl.Member{Key: "tags", Value: lumigl.ObjectOf(lumigl.Member{Key: "env", Value: lumigl.TextOf("prod")})},
			lumigl.Member{Key: "source", Value: source},
		)
		last = v
	}
	return s, s.Check()
}

// null is a resource type with no counterpart in any cloud.
type null struct {
	Name, Zone, Owner, Source string
	Tags                      map[string]string
	Key                       string
}

// Lumi implements [lumi.Object].
func (n *null) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &n.Name, lumi.String, lumi.Replaces)
	lumi.Required(p, "zone", &n.Zone, lumi.String, lumi.Replaces)
	lumi.Required(p, "owner", &n.Owner, lumi.String)
	lumi.Required(p, "source", &n.Source, lumi.String)
	lumi.Nilable(p, "tags", &n.Tags, lumi.Map(lumi.String))
	lumi.Required(p, "key", &n.Key, lumi.String, lumi.Out)
}

// nulls implements the operations of null as no-ops.
type nulls struct{}

func (nulls) Check(context.Context, *lumi.State[*null]) error { return nil }

func (nulls) Create(_ context.Context, want *lumi.State[*null]) (lumi.ID, error) {
	want.Properties.Key = "key-of-" + want.Properties.Name
	return lumi.ID("id-of-" + want.Properties.Name), nil
}

func (nulls) Get(context.Context, lumi.ID, *lumi.State[*null]) (*null, error) {
	return nil, lumi.ErrNotFound
}

func (nulls) Update(context.Context, *lumi.State[*null], *lumi.State[*null], *lumi.Diff) error {
	return nil
}

func (nulls) Delete(context.Context, *lumi.State[*null]) error { return nil }
