package tfserve

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var plugin = serve.Plugin{Package: "local", Resources: local.Resources(), Functions: local.Functions()}

// engine makes the calls of an engine for one resource type.
type engine struct {
	t    *testing.T
	s    *Server
	typ  *resourceType
	name string
}

func newEngine(t *testing.T, name string) *engine {
	t.Helper()
	s := must.Get(New(plugin, lumischema.JSON, Address("acme/local")))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return &engine{t, s, must.Get(s.resource(name))(t), name}
}

// object returns a value of the type with all other attributes null.
func (e *engine) object(attributes map[string]any) tftypes.Value {
	values := map[string]tftypes.Value{}
	for name, typ := range e.typ.typ.(tftypes.Object).AttributeTypes {
		values[name] = tftypes.NewValue(typ, attributes[name])
	}
	return tftypes.NewValue(e.typ.typ, values)
}

func (e *engine) encoded(v tftypes.Value) *tfprotov6.DynamicValue {
	e.t.Helper()
	return must.Get(e.typ.dynamicValue(v))(e.t)
}

func (e *engine) decoded(v *tfprotov6.DynamicValue, diags []*tfprotov6.Diagnostic) tftypes.Value {
	e.t.Helper()
	for _, d := range diags {
		e.t.Fatalf("%s: %s %s", d.Attribute, d.Summary, d.Detail)
	}
	return must.Get(e.typ.value(v))(e.t)
}

// apply plans and applies a configuration, which is null for a deletion.
func (e *engine) apply(prior, config tftypes.Value) tftypes.Value {
	e.t.Helper()
	plan := must.Get(e.s.PlanResourceChange(e.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(prior), Config: e.encoded(config), ProposedNewState: e.encoded(config),
	}))(e.t)
	planned := e.decoded(plan.PlannedState, plan.Diagnostics)
	resp := must.Get(e.s.ApplyResourceChange(e.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: e.name, PriorState: e.encoded(prior), Config: e.encoded(config), PlannedState: e.encoded(planned),
		PlannedPrivate: plan.PlannedPrivate,
	}))(e.t)
	return e.decoded(resp.NewState, resp.Diagnostics)
}

func (e *engine) read(state tftypes.Value) tftypes.Value {
	e.t.Helper()
	resp := must.Get(e.s.ReadResource(e.t.Context(), &tfprotov6.ReadResourceRequest{TypeName: e.name, CurrentState: e.encoded(state)}))(e.t)
	return e.decoded(resp.NewState, resp.Diagnostics)
}

func valueOf(v tftypes.Value, name string) any {
	attributes, _ := native(v).(map[string]tftypes.Value)
	return native(attributes[name])
}

func TestTypesOfServer(t *testing.T) {
	s := newEngine(t, "local_file").s
	metadata := must.Get(s.GetMetadata(t.Context(), nil))(t)
	got := must.Get(s.GetProviderSchema(t.Context(), nil))(t)
	if len(got.Diagnostics) > 0 || len(got.Provider.Block.Attributes) > 0 || *metadata.ServerCapabilities != *got.ServerCapabilities {
		t.Errorf("%v %v %v", got.Diagnostics, got.Provider.Block, metadata.ServerCapabilities)
	}
	var all []string
	for _, r := range metadata.Resources {
		all = append(all, r.TypeName)
		if typ := must.Get(s.resource(r.TypeName))(t).typ; !typ.Equal(got.ResourceSchemas[r.TypeName].ValueType()) {
			t.Errorf("values of %s have the type %v, but its schema has %v", r.TypeName, typ, got.ResourceSchemas[r.TypeName].ValueType())
		}
	}
	if names := strings.Join(all, " "); names != "local_command local_directory local_file local_random_id local_random_string local_unpacked" {
		t.Error(names)
	}
	_, err := s.resource("local_fil")
	wantError(t, err, "the provider has no resource type local_fil; did you mean local_file?")
}

// A plugin may serve only some types of its schema.
func TestServedTypes(t *testing.T) {
	only := serve.Plugin{Package: "local", Resources: map[tokens.Type]lumi.ResourceProvider{local.File: local.Resources()[local.File]}}
	s := must.Get(New(only, lumischema.JSON))(t)
	defer s.Close()
	got := must.Get(s.GetProviderSchema(t.Context(), nil))(t)
	if len(got.Diagnostics) > 0 || len(got.ResourceSchemas) != 1 || got.ResourceSchemas["local_file"] == nil || len(s.names.list()) != 1 {
		t.Errorf("%v %v %v", got.Diagnostics, got.ResourceSchemas, s.names.list())
	}
}

func TestLocalName(t *testing.T) {
	for want, options := range map[string][]Option{
		"local_file": nil, "disk_file": {Address("example.com/acme/disk")}, "d_file": {LocalName("d"), Address("acme/disk")},
	} {
		s := must.Get(New(plugin, lumischema.JSON, options...))(t)
		if _, err := s.resource(want); err != nil {
			t.Error(err)
		}
		must.Do(t, s.Close())
	}
}

func TestCollisions(t *testing.T) {
	text := strings.Replace(lumischema.JSON, `"name":"Directory"`, `"name":"FILE"`, 1)
	text = strings.Replace(text, "local:index:Directory", "local:index:FILE", 1)
	resources := local.Resources()
	resources["local:index:FILE"] = struct{ lumi.ResourceProvider }{}
	_, err := New(serve.Plugin{Package: "local", Resources: resources}, text)
	wantError(t, err, "local:index:FILE and local:index:File would both be local_file in OpenTofu")

	text = strings.Replace(lumischema.JSON, `{"field":"Content","name":"content"`, `{"field":"PATH","name":"content"`, 1)
	s := must.Get(New(plugin, text))(t)
	defer s.Close()
	const want = "File: Path and PATH would both be path in OpenTofu"
	_, err = s.resource("local_file")
	wantError(t, err, want)
	resp := must.Get(s.GetProviderSchema(t.Context(), nil))(t)
	if len(resp.Diagnostics) != 1 || resp.Diagnostics[0].Summary != want {
		t.Errorf("%+v", resp.Diagnostics)
	}
}

// Engines ignore errors of optional calls only if they have the code Unimplemented.
func TestUnsupported(t *testing.T) {
	calls := reflect.ValueOf(unsupported{})
	for i := range calls.NumMethod() {
		method := calls.Method(i)
		results := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.Zero(method.Type().In(1))})
		if err, _ := results[1].Interface().(error); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s returns %v", calls.Type().Method(i).Name, err)
		}
	}
	if calls.NumMethod() == 0 {
		t.Error("no methods")
	}
}

func TestLife(t *testing.T) {
	e := newEngine(t, "local_file")
	file := filepath.Join(t.TempDir(), "a")
	null := tftypes.NewValue(e.typ.typ, nil)
	created := e.apply(null, e.object(map[string]any{"path": file, "content": "one"}))
	if got := string(must.Get(os.ReadFile(file))(t)); got != "one" {
		t.Errorf("content = %q", got)
	}
	if id := idOf(created); string(id) != file {
		t.Errorf("id = %q", id)
	}
	if read := e.read(created); !read.Equal(created) {
		t.Errorf("read %v\nwant %v", read, created)
	}
	updated := e.apply(created, e.object(map[string]any{"path": file, "content": "two"}))
	if got := valueOf(updated, "content"); got != "two" {
		t.Errorf("content = %v", got)
	}
	must.Do(t, os.WriteFile(file, []byte("three"), 0o600))
	if read := e.read(updated); read.Equal(updated) {
		t.Errorf("read %v despite a change", read)
	}
	if gone := e.apply(updated, null); !gone.IsNull() {
		t.Errorf("after the deletion: %v", gone)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file exists: %v", err)
	}
	if read := e.read(updated); !read.IsNull() {
		t.Errorf("read %v, want null", read)
	}
}
