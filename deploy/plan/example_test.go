package plan_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/plan/show"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Module network provides the address of a zone, which module shop uses.
const (
	network = `{
  "package": "network",
  "resources": {
    "urn:lumi:prod::network:index::dns:index:Zone::main": {
      "type": "dns:index:Zone", "properties": {"domain": "example.com"}
    },
    "urn:lumi:prod::network:index::lumi:index:Module::network": {
      "type": "lumi:index:Module",
      "properties": {"provides": {"zone": {"type": "string", "value": {
        "#ref": "urn:lumi:prod::network:index::dns:index:Zone::main", "property": "address"
      }}}}
    }
  }
}`
	shop = `{
  "package": "shop",
  "resources": {
    "urn:lumi:prod::network:index::lumi:index:Module::network": {
      "type": "lumi:index:Module", "properties": {"uses": {"zone": {"type": "string"}}}
    },
    "urn:lumi:prod::shop:index::dns:index:Record::www": {
      "type": "dns:index:Record", "properties": {"zone": {
        "#ref": "urn:lumi:prod::network:index::lumi:index:Module::network", "property": "provides.zone"
      }}
    }
  }
}`
)

// dns is a provider that accepts any properties.
type dns struct{}

func (dns) Describe(_ context.Context, types []tokens.Type) (all []plan.Description, err error) {
	for _, t := range types {
		all = append(all, plan.Description{Type: t, Outputs: []string{"address"}})
	}
	return all, nil
}

func (dns) Check(_ context.Context, r plan.CheckRequest) (lumigl.Value, error) {
	return r.Properties, nil
}

func (dns) Name(_ context.Context, r plan.Desired) (string, error) { return r.URN.Name(), nil }

func (dns) Get(context.Context, plan.Existing) (inputs, outputs lumigl.Value, err error) {
	return inputs, outputs, nil
}

func (dns) Call(context.Context, plan.Desired) (results lumigl.Value, err error) { return results, nil }

func (dns) InspectChange(context.Context, plan.InspectChangeRequest) (plan.Difference, error) {
	return plan.Difference{}, nil
}

// Example plans and deploys two modules.
func Example() {
	environment := &graph.Graph{Environment: "prod"}
	for i, program := range []string{network, shop} {
		desired, err := lumigl.ParseSnapshot(program)
		if err != nil {
			log.Fatal(err)
		}
		p, err := plan.Make(context.Background(), plan.Request{
			Graph: environment, Deployment: graph.Deployment(i + 1), Desired: desired, Provider: dns{},
			Provisioner: func(tokens.Type) string { return "dns" },
		})
		if err != nil {
			log.Fatal(err) // A *plan.Error lists all problems of the program.
		}
		if err := show.WriteText(os.Stdout, p, show.Options{}); err != nil {
			log.Fatal(err)
		}
		if environment, err = execute(environment, p); err != nil {
			log.Fatal(err)
		}
		fmt.Println()
	}
	// Output:
	// Plan for network in prod, deployment 1
	//
	// + create main dns:index:Zone
	//   + domain: "example.com"
	//
	// ~ provides
	//   + zone: ref dns:index:Zone::main, property "address"
	//
	// 1 to create
	// Digest: 79b3ec361d9c3c9ba115e667f6e1b703
	//
	// Plan for shop in prod, deployment 2
	//
	// + create www dns:index:Record
	//   + zone: "main.example.com"
	//
	// shop uses network.zone of network::1
	//
	// 1 to create
	// Digest: e8d13102589bb596041c3d5240d5921b
}

// execute runs a plan that only creates resources. It returns the resulting graph.
func execute(before *graph.Graph, p *plan.Plan) (*graph.Graph, error) {
	planned := p.Transition.Graph.Newest(p.Module)
	made := map[urn.URN]*graph.Resource{}
	outputs := before.Resolve(planned.Uses, func(v *lumigl.Vertex) *graph.Resource { return made[v.URN()] })
	var resources []*graph.Resource
	for _, task := range p.Tasks { // in order; the steps of a task may run in parallel
		for _, step := range task.Steps {
			again, err := p.Again(context.Background(), step, false)
			if err != nil {
				return nil, err
			}
			r := again.New // a real executor passes r.Checked to the provider
			r.ID = "id-" + r.URN.Name()
			r.Outputs = lumigl.ObjectOf(lumigl.Member{Key: "address", Value: lumigl.TextOf(r.URN.Name() + ".example.com")})
			p.Record(step, again)
			made[r.URN] = r
			resources = append(resources, r)
		}
	}
	version := graph.NewVersion(planned.VersionID, resources)
	version.Uses, version.Configuration = planned.Uses, planned.Configuration
	for _, provided := range planned.Provides {
		var err error
		if provided.Result, err = expr.Evaluate(provided.Value, outputs); err != nil {
			return nil, err
		}
		version.Provides = append(version.Provides, provided)
	}
	t, err := before.Deploy(graph.Update{Version: version})
	if err != nil {
		return nil, err
	}
	return t.Graph, nil
}
