package opentofu

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/adapter/opentofu/tfserve"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/bench/machine"
	"github.com/lumi-idl/lumi/test/bench/machine/lumischema"
)

const typeName = "bench_server"

// ops is the author of the provider, with a Check that has nothing to do, as in the framework's provider.
type ops struct{ machine.ServerProviderOps }

func (ops) Check(context.Context, *lumi.State[*machine.Properties]) error { return nil }

func newLumi(tb testing.TB) tfprotov6.ProviderServer {
	s, err := tfserve.New(serve.Plugin{Package: "bench", Resources: map[tokens.Type]lumi.ResourceProvider{
		machine.Server: machine.NewServerProvider(ops{}),
	}}, lumischema.JSON)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// newFramework returns the same provider on terraform-plugin-framework.
func newFramework() tfprotov6.ProviderServer {
	return providerserver.NewProtocol6(frameworkProvider{})()
}

type frameworkProvider struct{}

func (frameworkProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "bench"
}
func (frameworkProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (frameworkProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (frameworkProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }
func (frameworkProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return frameworkServer{} }}
}

type frameworkServer struct{}

func (frameworkServer) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = typeName
}

func (frameworkServer) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	required, replaces := schema.StringAttribute{Required: true}, []planmodifier.String{stringplanmodifier.RequiresReplace()}
	optional := schema.StringAttribute{Optional: true, Computed: true}
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"name": schema.StringAttribute{Required: true, PlanModifiers: replaces}, "image": schema.StringAttribute{Required: true, PlanModifiers: replaces},
		"zone": required, "owner": required, "kernel": optional, "user": optional,
		"cores": schema.NumberAttribute{Required: true}, "memory": schema.NumberAttribute{Required: true},
		"swap":   schema.NumberAttribute{Optional: true, Computed: true},
		"public": schema.BoolAttribute{Required: true}, "monitored": schema.BoolAttribute{Required: true},
		"spot": schema.BoolAttribute{Optional: true, Computed: true},
		"disks": schema.ListNestedAttribute{Optional: true, Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"device": required, "size": schema.NumberAttribute{Required: true}, "fast": schema.BoolAttribute{Optional: true, Computed: true},
		}}},
		"tags":      schema.MapAttribute{Optional: true, Computed: true, ElementType: types.StringType},
		"addresses": schema.ListAttribute{Optional: true, Computed: true, ElementType: types.StringType},
	}}
}

func (frameworkServer) Create(context.Context, resource.CreateRequest, *resource.CreateResponse) {}
func (frameworkServer) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (frameworkServer) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (frameworkServer) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// server returns a server in OpenTofu. id is nil in a configuration.
func server(typ tftypes.Type, id any, owner string) tftypes.Value {
	text := func(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }
	number := func(n float64) tftypes.Value { return tftypes.NewValue(tftypes.Number, n) }
	truth := func(b bool) tftypes.Value { return tftypes.NewValue(tftypes.Bool, b) }
	attributes := typ.(tftypes.Object).AttributeTypes
	disk := func(device string, size float64) tftypes.Value {
		return tftypes.NewValue(attributes["disks"].(tftypes.List).ElementType, map[string]tftypes.Value{
			"device": text(device), "size": number(size), "fast": truth(true),
		})
	}
	return tftypes.NewValue(typ, map[string]tftypes.Value{
		"id": tftypes.NewValue(tftypes.String, id), "name": text("web"), "image": text("debian"), "zone": text("b"), "owner": text(owner),
		"kernel": text("6.1"), "user": text("root"), "cores": number(4), "memory": number(16), "swap": number(2),
		"public": truth(true), "monitored": truth(false), "spot": truth(true),
		"disks": tftypes.NewValue(attributes["disks"], []tftypes.Value{disk("sda", 100), disk("sdb", 500), disk("sdc", 1)}),
		"tags": tftypes.NewValue(attributes["tags"], map[string]tftypes.Value{
			"team": text("web"), "cost": text("low"), "stage": text("test"),
		}),
		"addresses": tftypes.NewValue(attributes["addresses"], []tftypes.Value{text("10.0.0.1"), text("10.0.0.2")}),
	})
}

// typeOf returns the type of servers.
func typeOf(tb testing.TB, s tfprotov6.ProviderServer) tftypes.Type {
	resp, err := s.GetProviderSchema(tb.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil || len(resp.Diagnostics) > 0 {
		tb.Fatal(err, resp.Diagnostics)
	}
	return resp.ResourceSchemas[typeName].ValueType()
}

// requests are plans of a creation, of no change, and of an update.
func requests(tb testing.TB, typ tftypes.Type) map[string]*tfprotov6.PlanResourceChangeRequest {
	encoded := func(v tftypes.Value) *tfprotov6.DynamicValue {
		d, err := tfprotov6.NewDynamicValue(typ, v)
		if err != nil {
			tb.Fatal(err)
		}
		return &d
	}
	request := func(prior, config, proposed tftypes.Value) *tfprotov6.PlanResourceChangeRequest {
		return &tfprotov6.PlanResourceChangeRequest{
			TypeName: typeName, PriorState: encoded(prior), Config: encoded(config), ProposedNewState: encoded(proposed), PriorPrivate: []byte("{}"),
		}
	}
	config := server(typ, nil, "me")
	return map[string]*tfprotov6.PlanResourceChangeRequest{
		"create": request(tftypes.NewValue(typ, nil), config, server(typ, tftypes.UnknownValue, "me")),
		"same":   request(server(typ, "i-1", "me"), config, server(typ, "i-1", "me")),
		"update": request(server(typ, "i-1", "you"), config, server(typ, "i-1", "me")),
	}
}

func servers(tb testing.TB) map[string]tfprotov6.ProviderServer {
	return map[string]tfprotov6.ProviderServer{"lumi": newLumi(tb), "framework": newFramework()}
}

// Both providers have the same type and make the same plans.
func TestImplementationsAgree(t *testing.T) {
	plans := map[string]map[string]tftypes.Value{}
	for impl, s := range servers(t) {
		typ := typeOf(t, s)
		for name, req := range requests(t, typ) {
			resp, err := s.PlanResourceChange(t.Context(), req)
			if err != nil || len(resp.Diagnostics) > 0 {
				t.Fatal(impl, name, err, resp.Diagnostics)
			}
			planned, err := resp.PlannedState.Unmarshal(typ)
			if err != nil {
				t.Fatal(err)
			}
			if plans[name] == nil {
				plans[name] = map[string]tftypes.Value{}
			}
			plans[name][impl] = planned
		}
	}
	for name, p := range plans {
		if !p["lumi"].Equal(p["framework"]) {
			t.Errorf("%s: lumi plans %v\nthe framework %v", name, p["lumi"], p["framework"])
		}
	}
}

// BenchmarkPlan measures PlanResourceChange, called directly.
func BenchmarkPlan(b *testing.B) {
	for _, impl := range []string{"lumi", "framework"} {
		s := servers(b)[impl]
		all := requests(b, typeOf(b, s))
		for _, name := range []string{"create", "same", "update"} {
			req := all[name]
			b.Run(name+"/impl="+impl, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if resp, err := s.PlanResourceChange(b.Context(), req); err != nil || len(resp.Diagnostics) > 0 {
						b.Fatal(err, resp.Diagnostics)
					}
				}
			})
		}
	}
}
