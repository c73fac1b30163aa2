package tfserve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
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
