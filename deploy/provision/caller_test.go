package provision_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

const (
	disk   tokens.Type = "sim:index:Disk"
	bucket tokens.Type = "sim:index:Bucket"
	server tokens.Type = "sim:index:Server"
)

var types = []sim.Type{
	{Token: disk, Named: true},
	{Token: bucket, Named: true, Idempotent: true, Repeatable: true, Unique: true},
	{Token: server, Find: true},
}

// providers implements [provision.Providers] with in-process providers.
type providers func(t tokens.Type) lumi.ResourceProvider

func (p providers) Provider(_ context.Context, t tokens.Type, _ lumigl.Value) (lumi.ResourceProvider, string, error) {
	served := p(t)
	if served == nil {
		return nil, "", fmt.Errorf("no provider of %s", t)
	}
	return served, "1.2", nil
}

func newCloud(o sim.Options) (*sim.Cloud, *provision.Caller) {
	o.Types = types
	cloud := sim.New(o)
	return cloud, &provision.Caller{Providers: providers(func(t tokens.Type) lumi.ResourceProvider {
		if p := cloud.Provider(t); p != nil {
			return p
		}
		return nil
	})}
}

// vertex returns a vertex to refer to.
func vertex(t testing.TB, typ tokens.Type, name string) *lumigl.Vertex {
	t.Helper()
	return must.Get(lumigl.NewResource(urn.URN(fmt.Sprintf("urn:lumi:test::app:index::%s::%s", typ, name))))(t)
}

// value converts a Go value as decoded by encoding/json, which may contain LumiGL values, to LumiGL.
func value(v any) lumigl.Value {
	switch v := v.(type) {
	case lumigl.Value:
		return v
	case *lumigl.Vertex:
		return lumigl.ReferenceTo(v)
	case nil:
		return lumigl.NullValue()
	case bool:
		return lumigl.BoolOf(v)
	case int:
		return lumigl.IntOf(int64(v))
	case string:
		return lumigl.TextOf(v)
	case []any:
		var all []lumigl.Value
		for _, e := range v {
			all = append(all, value(e))
		}
		return lumigl.ListOf(all...)
	case object:
		var all lumigl.ObjectBuilder
		for key, e := range v {
			all.Set(key, value(e))
		}
		return all.Object()
	}
	panic(fmt.Sprintf("no value is a %T", v))
}

type object map[string]any

func secretOf(v any) lumigl.Value { return value(object{wire.Signature: wire.Secret, "value": v}) }

var unknown = lumigl.TextOf(wire.Unknown)

// expect compares two values. References must have identical targets.
func expect(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want lumigl.Value) {
	t.Helper()
	if !got.Equal(want) {
		t.Errorf("%s = %s, want %s", what, show(got), show(want))
	}
	in := map[*lumigl.Vertex]bool{}
	for target := range want.References() {
		in[target] = true
	}
	for target := range got.References() {
		if !in[target] {
			t.Errorf("%s: reference to %s has a different target vertex", what, target.Key())
		}
	}
}

func show(v lumigl.Value) string {
	switch v.Kind() {
	case lumigl.List:
		var parts []string
		for _, e := range v.Elements() {
			parts = append(parts, show(e))
		}
		return fmt.Sprint(parts)
	case lumigl.Object:
		parts := map[string]string{}
		for key, e := range v.Members() {
			parts[key] = show(e)
		}
		return fmt.Sprint(parts)
	case lumigl.Reference:
		target, property, _ := v.Target()
		return "→" + target.Key() + property
	}
	text, _ := v.Text()
	number, _ := v.Literal()
	b, _ := v.Bool()
	return fmt.Sprintf("%v %q%s%v", v.Kind(), text, number, b)
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	_, caller := newCloud(sim.Options{})
	all, err := caller.Describe(t.Context(), []tokens.Type{server, disk})
	fatal(t, err)
	want := []plan.Description{
		{Type: server, Replaces: []string{"name", "region", "parent"}, Outputs: []string{"arn", "etag", "key"}, Fixed: []string{"key"}, Secrets: []string{"password", "key"}, WriteOnly: []string{"password"}},
		{Type: disk, Named: true, Replaces: []string{"name", "region", "parent"}, Outputs: []string{"arn", "etag", "key"}, Fixed: []string{"key"}, Secrets: []string{"password", "key"}, WriteOnly: []string{"password"}},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("Describe() = %+v, want %+v", all, want)
	}
	if _, err := caller.Describe(t.Context(), []tokens.Type{disk, "sim:index:Desk"}); err == nil || err.Error() != "no provider of sim:index:Desk" {
		t.Error(err)
	}
	for typ, want := range map[tokens.Type]provision.Abilities{
		disk: {Version: "1.2"}, bucket: {Idempotent: true, Repeatable: true, Version: "1.2"}, server: {Find: true, Version: "1.2"},
	} {
		if got, err := caller.Abilities(t.Context(), typ); err != nil || got != want {
			t.Errorf("Abilities(%s) = %+v, %v, want %+v", typ, got, err, want)
		}
	}
}

func TestCallerLifecycle(t *testing.T) {
	t.Parallel()
	cloud, caller := newCloud(sim.Options{})
	t.Run("in process", func(t *testing.T) { live(t, cloud, caller) })
	cloud, _ = newCloud(sim.Options{})
	t.Run("socket", func(t *testing.T) { live(t, cloud, overSocket(t, cloud)) })
}

// overSocket returns a caller that calls a cloud's providers with the plugin protocol.
func overSocket(t *testing.T, cloud *sim.Cloud) *provision.Caller {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(t, err)
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { served <- serve.Serve(ctx, simPlugin(cloud), listener, slog.New(slog.DiscardHandler)) }()
	p, err := plugin.Connect(t.Context(), func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}, nil)
	fatal(t, err)
	t.Cleanup(func() {
		stop()
		if err := errors.Join(p.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return &provision.Caller{Providers: providers(func(typ tokens.Type) lumi.ResourceProvider {
		r, err := p.Resource(typ)
		fatal(t, err)
		return r
	})}
}

func simPlugin(cloud *sim.Cloud) serve.Plugin {
	p := serve.Plugin{Package: "sim", Version: "1.2", Resources: map[tokens.Type]lumi.ResourceProvider{}}
	for _, typ := range types {
		p.Resources[typ.Token] = cloud.Provider(typ.Token)
	}
	return p
}

func live(t *testing.T, cloud *sim.Cloud, caller *provision.Caller) {
	t.Parallel()
	ctx := t.Context()
	base, web := vertex(t, disk, "base"), vertex(t, server, "#1")
	baseID, baseOutputs, err := caller.Create(ctx, provision.CreateRequest{
		Desired: plan.Desired{URN: base.URN(), Properties: value(object{"name": "base", "size": 1})}, Token: "t1",
	})
	fatal(t, err)
	references := map[urn.URN]plan.Reference{base.URN(): {ID: baseID, Properties: baseOutputs}}
	inputs := value(object{
		"size": 1, "password": secretOf("hunter2"), "on": []any{base}, "at": baseOutputs.Get("arn"), "mode": []any{base.Key() + "!"}, "region": unknown,
	})
	want := plan.Desired{URN: web.URN(), Properties: inputs, References: references}
	checked, err := caller.Check(ctx, plan.CheckRequest{Desired: want, Seed: []byte("seed")})
	fatal(t, err)
	name := checked.Get("name")
	if text, _ := name.Text(); !strings.HasPrefix(text, "server-") {
		t.Errorf(`default name = %s, want prefix "server-"`, show(name))
	}
	expect(t, "Check", checked, inputs.With("name", name))
	again, err := caller.Check(ctx, plan.CheckRequest{Desired: want, Seed: []byte("another"), Old: checked.With("region", value("oslo"))})
	fatal(t, err)
	expect(t, "Check of the same", again, checked)

	want.Properties = checked
	if text, err := caller.Name(ctx, want); err != nil || lumigl.TextOf(text).Equal(name) == false {
		t.Errorf("Name() = %q, %v, want %s", text, err, show(name))
	}
	want.Properties = checked.With("region", value("oslo"))
	create := provision.CreateRequest{Desired: want, Token: "t2"}
	if _, err := caller.Find(ctx, create); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Find before Create: error %v, want lumi.ErrNotFound", err)
	}
	id, outputs, err := caller.Create(ctx, create)
	fatal(t, err)
	if found, err := caller.Find(ctx, create); found != id || err != nil {
		t.Errorf("Find after Create = %q, %v, want %q", found, err, id)
	}
	expect(t, "Create", outputs, value(object{"arn": id + ".arn", "etag": id + ".etag.1", "key": secretOf(id + ".key")}))
	if got := cloud.Resources()[1].Inputs; !reflect.DeepEqual(got["on"], []any{baseID}) || got["password"] != "hunter2" {
		t.Errorf("inputs of the created resource = %v, want the ID of the base and the plain password", got)
	}

	stored := want.Properties
	for key, v := range outputs.Members() {
		stored = stored.With(key, v)
	}
	existing := plan.Existing{URN: web.URN(), ID: id, Properties: stored, References: references}
	readInputs, readOutputs, err := caller.Get(ctx, existing)
	fatal(t, err)
	expect(t, "inputs read", readInputs, want.Properties.With("password", lumigl.Value{}))
	expect(t, "outputs read", readOutputs, outputs)

	change := plan.InspectChangeRequest{Desired: want, ID: id, Old: stored}
	change.Properties = want.Properties.With("size", value(2)).With("region", unknown)
	d, err := caller.InspectChange(ctx, change)
	fatal(t, err)
	if want := (plan.Difference{Changes: []plan.Change{{Path: "region", Unknown: true, Replaces: true}, {Path: "size"}}}); !reflect.DeepEqual(d, want) {
		t.Errorf("InspectChange() = %+v, want %+v", d, want)
	}
	change.Properties = want.Properties.With("region", value("lisbon"))
	if _, err := caller.Update(ctx, provision.UpdateRequest{InspectChangeRequest: change, Token: "u"}); !errors.As(err, new(*lumi.ReplaceError)) {
		t.Errorf("Update of the region: error %v, want a *lumi.ReplaceError", err)
	}
	change.Properties = want.Properties.With("size", value(2))
	outputs, err = caller.Update(ctx, provision.UpdateRequest{InspectChangeRequest: change, Token: "u"})
	fatal(t, err)
	expect(t, "Update", outputs.Get("etag"), value(id+".etag.2"))

	for range 2 { // Delete is idempotent.
		fatal(t, caller.Delete(ctx, provision.DeleteRequest{Existing: existing, Token: "d"}))
	}
	if _, _, err := caller.Get(ctx, existing); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Get after Delete: error %v, want lumi.ErrNotFound", err)
	}
	for _, call := range cloud.Calls() {
		if want := map[sim.Op]string{sim.Update: "u", sim.Delete: "d"}[call.Op]; want != "" && call.Token != want {
			t.Errorf("%s has token %q, want %q", call.Op, call.Token, want)
		}
	}
	if left := cloud.Resources(); len(left) != 1 || len(cloud.Violations()) > 0 {
		t.Errorf("cloud has resources %v and violations %v, want 1 resource and none", left, cloud.Violations())
	}
}

func TestGetImport(t *testing.T) {
	t.Parallel()
	_, caller := newCloud(sim.Options{})
	a := vertex(t, disk, "a")
	id, outputs, err := caller.Create(t.Context(), provision.CreateRequest{
		Desired: plan.Desired{URN: a.URN(), Properties: value(object{"name": "a", "size": 1, "password": "x"})}, Token: "t",
	})
	fatal(t, err)
	inputs, read, err := caller.Get(t.Context(), plan.Existing{URN: a.URN(), ID: id})
	fatal(t, err)
	expect(t, "inputs", inputs, value(object{"name": "a", "size": 1}))
	expect(t, "outputs", read, outputs)
}

// Get resolves references by ID to the resources in the request, and then to those in the graph.
func TestGetByID(t *testing.T) {
	t.Parallel()
	known, own, other := vertex(t, disk, "known"), vertex(t, disk, "own"), urn.URN("urn:lumi:test::infra:index::sim:index:Disk::other")
	g := &graph.Graph{Environment: "test"}
	for module, resources := range map[string][]*graph.Resource{
		"app":   {{URN: own.URN(), ID: "2"}, {URN: vertex(t, disk, "looked-up").URN(), ID: "3", Options: value(object{"read": "3"})}},
		"infra": {{URN: other, ID: "2"}, {URN: other + "3", ID: "3"}, {URN: "urn:lumi:test::infra:index::sim:index:Bucket::other", ID: "4"}},
	} {
		g = must.Get(g.Deploy(graph.Update{Version: graph.NewVersion(graph.VersionID{Module: module, Deployment: 1}, resources)}))(t).Graph
	}
	byID := func(id string) string { return string(urn.ByID(disk, id)) }
	f := &fake{
		description: lumi.Description{Properties: []lumi.Property{
			{Name: "s", Kind: lumi.KindString}, {Name: "out", Kind: lumi.KindCapability, Flags: lumi.Out},
		}},
		bag: fakeBag(t, map[string]any{
			"x": []any{byID("1"), byID("2"), byID("3"), byID("4"), byID("1") + "!"}, "s": byID("1"), "out": byID("1"),
		}),
	}
	old := value(object{"x": known})
	r := plan.Existing{URN: vertex(t, disk, "a").URN(), ID: "a", Properties: old, References: map[urn.URN]plan.Reference{known.URN(): {ID: "1"}}}
	inputs, _, err := f.caller().Get(t.Context(), r)
	fatal(t, err)
	expect(t, "without a graph", inputs.Get("x"), value([]any{known, byID("2"), byID("3"), byID("4"), byID("1") + "!"}))
	r.Graph = g
	inputs, outputs, err := f.caller().Get(t.Context(), r)
	fatal(t, err)
	expect(t, "inputs", inputs, value(object{
		"x": []any{known, own.Key(), string(other + "3"), byID("4"), byID("1") + "!"}, "s": byID("1"),
	}))
	expect(t, "outputs", outputs, value(object{"out": known.Key()}))
}

func TestInspectChangeDeleteFirst(t *testing.T) {
	t.Parallel()
	_, caller := newCloud(sim.Options{})
	d, err := caller.InspectChange(t.Context(), plan.InspectChangeRequest{
		Desired: plan.Desired{URN: vertex(t, bucket, "a").URN(), Properties: value(object{"name": "b"})},
		ID:      "x", Old: value(object{"name": "a"}),
	})
	if want := (plan.Difference{Changes: []plan.Change{{Path: "name", Replaces: true}}, DeleteFirst: true}); err != nil || !reflect.DeepEqual(d, want) {
		t.Errorf("InspectChange() = %+v, %v, want %+v", d, err, want)
	}
}

func TestPartialError(t *testing.T) {
	t.Parallel()
	cloud, caller := newCloud(sim.Options{RetryAfter: time.Second})
	a, b := vertex(t, disk, "a"), vertex(t, disk, "b")
	cloud.Script(sim.At{Resource: "b", Op: sim.Create, Attempt: 1}, sim.Fault{When: sim.After, How: sim.Throttled})
	cloud.Script(sim.At{Resource: "b", Op: sim.Update, Attempt: 1}, sim.Fault{When: sim.After, How: sim.Lost})
	aID, _, err := caller.Create(t.Context(), provision.CreateRequest{
		Desired: plan.Desired{URN: a.URN(), Properties: value(object{"name": "a"})}, Token: "t1",
	})
	fatal(t, err)
	want := plan.Desired{
		URN: b.URN(), Properties: value(object{"name": "b", "on": []any{a}, "password": secretOf("hunter2")}),
		References: map[urn.URN]plan.Reference{a.URN(): {ID: aID}},
	}
	_, _, err = caller.Create(t.Context(), provision.CreateRequest{Desired: want, Token: "t2"})
	var partial *provision.PartialError
	if !errors.As(err, &partial) {
		t.Fatalf("Create error = %T %v, want a *PartialError", err, err)
	}
	if id := string(cloud.Resources()[1].ID); partial.ID != id || partial.Error() != "simulated fault: throttled after" {
		t.Errorf("Create error has ID %q and message %q, want ID %s and the simulated fault", partial.ID, partial.Error(), id)
	}
	expect(t, "inputs", partial.Inputs, want.Properties)
	expect(t, "outputs", partial.Outputs.Get("arn"), value(partial.ID+".arn"))
	if retry := new(lumi.RetryError); !errors.As(err, &retry) || retry.After != time.Second {
		t.Errorf("Create error %v does not wrap a *lumi.RetryError with its delay", err)
	}
	want.Properties = want.Properties.With("size", value(2))
	_, err = caller.Update(t.Context(), provision.UpdateRequest{
		InspectChangeRequest: plan.InspectChangeRequest{Desired: want, ID: partial.ID, Old: partial.Inputs},
	})
	if !errors.As(err, new(*lumi.UncertainError)) || errors.As(err, new(*provision.PartialError)) {
		t.Errorf("Update error = %T %v, want a *lumi.UncertainError", err, err)
	}
}

func TestInvalidError(t *testing.T) {
	t.Parallel()
	_, caller := newCloud(sim.Options{})
	a := vertex(t, disk, "a")
	huge, _ := lumigl.NumberOf("1e999")
	expression := object{wire.Signature: wire.Expression, "interpolate": []any{"a"}}
	for _, test := range []struct {
		properties lumigl.Value
		want       string
	}{
		{value(object{"name": "a", "sice": 1}), "sice: no such property; did you mean \"size\"?"},
		{value(object{"name": "a", "size": []any{huge}}), "size[0]: expected a number, found Infinity"},
		{value(object{"name": "a", "mode": lumigl.PropertyOf(a, "arn")}), "mode: must be known here, but is not known yet"},
		{value(object{"name": "a", "mode": []any{expression}}), "mode[0]: must be known here, but is not known yet"},
		{value(object{"name": "a", "on": []any{(*lumigl.Vertex)(nil)}}), `on[0]: expected a resource, found a string ""`},
		{lumigl.Value{}, "name: is required, but missing"},
	} {
		_, _, err := caller.Create(t.Context(), provision.CreateRequest{Desired: plan.Desired{URN: a.URN(), Properties: test.properties}})
		var invalid *lumi.InvalidError
		if !errors.As(err, &invalid) || err.Error() != test.want {
			t.Errorf("Create(%s) error = %T %v, want %s", show(test.properties), err, err, test.want)
		}
	}
}

// fake is a provider whose methods return its fields.
type fake struct {
	lumi.ResourceProvider
	description lumi.Description
	bag         lumi.Bag
	err         error
	name        string
	echo        bool
	sent        *lumi.CheckRequest
}

func (f *fake) Describe(context.Context) (*lumi.Description, error) { return &f.description, nil }

func (f *fake) Get(context.Context, *lumi.GetRequest) (*lumi.GetResponse, error) {
	return &lumi.GetResponse{Properties: f.bag}, f.err
}

func (f *fake) Check(_ context.Context, r *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	if f.sent = r; f.echo {
		return &lumi.CheckResponse{Properties: r.Properties}, nil
	}
	return &lumi.CheckResponse{Properties: f.bag}, f.err
}

func (f *fake) Name(context.Context, *lumi.NameRequest) (*lumi.NameResponse, error) {
	return &lumi.NameResponse{Name: f.name}, f.err
}

func (f *fake) Create(context.Context, *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	return &lumi.CreateResponse{ID: "f-1", Properties: f.bag}, f.err
}

func (f *fake) InspectChange(_ context.Context, r *lumi.InspectChangeRequest) (*lumi.InspectChangeResponse, error) {
	return &lumi.InspectChangeResponse{Properties: f.bag}, f.err
}

func (f *fake) Delete(context.Context, *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	return nil, f.err
}

func (f *fake) caller() *provision.Caller {
	return &provision.Caller{Providers: providers(func(tokens.Type) lumi.ResourceProvider { return f })}
}

func fakeBag(t testing.TB, fields map[string]any) lumi.Bag {
	t.Helper()
	s, err := structpb.NewStruct(fields)
	fatal(t, err)
	return lumi.BagOf(s)
}

func TestReferences(t *testing.T) {
	t.Parallel()
	a, b, oldA := vertex(t, disk, "a"), vertex(t, disk, "b"), vertex(t, disk, "a")
	ka, kb := a.Key(), b.Key()
	asset := map[string]any{wire.Signature: wire.Asset, "text": ka}
	for _, test := range []struct {
		about           string
		properties, old object
		returned        map[string]any
		want            object
	}{
		{"the same", object{"x": a}, nil, map[string]any{"x": ka}, object{"x": a}},
		{"another place", object{"x": a}, nil, map[string]any{"y": map[string]any{"z": []any{ka}}}, object{"y": object{"z": []any{a}}}},
		{"a part of a text", object{"x": a}, nil, map[string]any{"y": ka + "!"}, object{"y": ka + "!"}},
		{"not in the request", object{"x": a}, nil, map[string]any{"x": kb}, object{"x": kb}},
		{"text", object{"x": ka}, nil, map[string]any{"x": ka}, object{"x": ka}},
		{"string", object{"x": a}, nil, map[string]any{"s": ka, "x": ka}, object{"s": ka, "x": a}},
		{"output", object{"x": a}, nil, map[string]any{"out": ka, "x": ka}, object{"x": a}},
		{"file", object{"x": a}, nil, map[string]any{"y": asset, "x": ka}, object{"x": a, "y": object{wire.Signature: wire.Asset, "text": ka}}},
		{"secret", object{"x": a}, nil, map[string]any{"y": map[string]any{wire.Signature: wire.Secret, "value": ka}}, object{"y": secretOf(a)}},
		{"of the old properties", object{}, object{"x": oldA}, map[string]any{"x": ka}, object{"x": oldA}},
		{"of both", object{"x": a}, object{"x": oldA}, map[string]any{"x": ka, "y": ka}, object{"x": a, "y": a}},
		{"null", object{"x": nil}, nil, map[string]any{"x": nil, "y": map[string]any{"z": nil}}, object{"y": object{"z": nil}}},
		{"key", object{"x": a}, nil, map[string]any{"y": map[string]any{ka: 1}}, object{"y": object{ka: 1}}},
	} {
		f := &fake{bag: fakeBag(t, test.returned), description: lumi.Description{Properties: []lumi.Property{
			{Name: "s", Kind: lumi.KindString}, {Name: "out", Kind: lumi.KindCapability, Flags: lumi.Out}, {Name: "x", Kind: lumi.KindCapability},
		}}}
		r := plan.CheckRequest{Desired: plan.Desired{URN: b.URN(), Properties: value(test.properties)}}
		if test.old != nil {
			r.Old = value(test.old)
		}
		got, err := f.caller().Check(t.Context(), r)
		fatal(t, err)
		expect(t, test.about, got, value(test.want))
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	vertices := []*lumigl.Vertex{vertex(t, disk, "a"), vertex(t, disk, "b"), vertex(t, server, "c")}
	leaf := rapid.OneOf(
		rapid.Just(lumigl.NullValue()), rapid.Map(rapid.Bool(), lumigl.BoolOf), rapid.Map(rapid.String(), lumigl.TextOf),
		rapid.Just(unknown), rapid.Map(rapid.SampledFrom(vertices), lumigl.ReferenceTo),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), lumigl.IntOf),
		rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), func(f float64) lumigl.Value {
			v, _ := lumigl.FloatOf(f)
			return v
		}),
		rapid.Map(rapid.String(), func(s string) lumigl.Value { return value(object{wire.Signature: wire.Asset, "text": s}) }),
	)
	var deep func(depth int) *rapid.Generator[lumigl.Value]
	members := func(v *rapid.Generator[lumigl.Value]) *rapid.Generator[lumigl.Value] {
		return rapid.Map(rapid.MapOfN(rapid.String(), v, 0, 4), func(all map[string]lumigl.Value) lumigl.Value {
			var o lumigl.ObjectBuilder
			for _, key := range slices.Sorted(maps.Keys(all)) {
				o.Set(key, all[key])
			}
			return o.Object()
		})
	}
	deep = func(depth int) *rapid.Generator[lumigl.Value] {
		if depth == 0 {
			return leaf
		}
		inner := deep(depth - 1)
		return rapid.OneOf(inner, members(inner), rapid.Map(inner, func(v lumigl.Value) lumigl.Value { return secretOf(v) }),
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(all []lumigl.Value) lumigl.Value { return lumigl.ListOf(all...) }))
	}
	caller := (&fake{echo: true}).caller()
	rapid.Check(t, func(rt *rapid.T) {
		sent := members(deep(3)).Draw(rt, "properties")
		got := must.Get(caller.Check(t.Context(), plan.CheckRequest{Desired: plan.Desired{URN: vertices[0].URN(), Properties: sent}}))(rt)
		expect(rt, "properties", got, sent.Map(func(_ int, _ string, part lumigl.Value) (lumigl.Value, bool) {
			return lumigl.Value{}, part.Kind() == lumigl.Null
		}))
	})
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		"9007199254740993": "9007199254740992", "1152921504606846976": "1152921504606847000", "0.10": "0.1", "-0": "-0",
		"3.14159265358979323846": "3.141592653589793", "1e999": "",
	} {
		number, _ := lumigl.NumberOf(literal)
		got, err := (&fake{echo: true}).caller().Check(t.Context(), plan.CheckRequest{
			Desired: plan.Desired{URN: vertex(t, disk, "a").URN(), Properties: value(object{"n": number})},
		})
		if text, _ := got.Get("n").Literal(); err != nil || text != want {
			t.Errorf("Check(%s) = %s, %v, want %s", literal, text, err, want)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	f := &fake{}
	a, gone := vertex(t, disk, "a"), vertex(t, disk, "gone")
	_, err := f.caller().Check(t.Context(), plan.CheckRequest{
		Desired: plan.Desired{
			URN: a.URN(), Properties: value(object{"x": a, "y": gone, "n": nil, "m": object{"n": nil}, "u": unknown}),
			References: map[urn.URN]plan.Reference{a.URN(): {ID: "a-1", Properties: value(object{"s": secretOf(gone)})}},
		},
		Seed: []byte("seed"),
	})
	fatal(t, err)
	want := &lumi.CheckRequest{
		URN: a.URN(), Seed: lumi.Seed("seed"),
		Properties: fakeBag(t, map[string]any{"x": a.Key(), "y": gone.Key(), "m": map[string]any{"n": nil}, "u": wire.Unknown}),
		References: lumi.References{a.URN(): {ID: "a-1", Properties: fakeBag(t, map[string]any{
			"s": map[string]any{wire.Signature: wire.Secret, "value": gone.Key()},
		})}},
	}
	if diff := cmp.Diff(want, f.sent); diff != "" {
		t.Errorf("sent request (-want +got):\n%s", diff)
	}
}

func TestInspectChangeIgnored(t *testing.T) {
	t.Parallel()
	a, b := vertex(t, disk, "a"), vertex(t, disk, "b")
	r := plan.InspectChangeRequest{
		Desired: plan.Desired{URN: a.URN(), Properties: value(object{"x": a, "y": 1, "z": nil})}, ID: "i", Old: value(object{"x": b, "y": 1}),
	}
	f := &fake{bag: fakeBag(t, map[string]any{"x": a.Key(), "y": 1})}
	d, err := f.caller().InspectChange(t.Context(), r)
	fatal(t, err)
	expect(t, "nothing ignored", d.Properties, lumigl.Value{})
	f.bag = fakeBag(t, map[string]any{"x": b.Key(), "y": 1})
	d, err = f.caller().InspectChange(t.Context(), r)
	fatal(t, err)
	expect(t, "x ignored", d.Properties, value(object{"x": b, "y": 1}))
}

func TestDeleteNonexistent(t *testing.T) {
	t.Parallel()
	f := &fake{err: &plugin.Error{Code: codes.NotFound, Message: "gone"}}
	nothing := provision.DeleteRequest{Existing: plan.Existing{URN: vertex(t, disk, "a").URN(), ID: "x"}}
	fatal(t, f.caller().Delete(t.Context(), nothing))
	f.err = lumi.Uncertain(f.err)
	if err := f.caller().Delete(t.Context(), nothing); !as[*lumi.UncertainError](err) {
		t.Errorf("Delete with an uncertain outcome: error %v, want a *lumi.UncertainError", err)
	}
}

func TestSecretsMasked(t *testing.T) {
	t.Parallel()
	sentinel := errors.New("at hunter2")
	custom := &outage{"hunter2"}
	for _, test := range []struct {
		err  error
		want string
		is   func(error) bool
	}{
		{&lumi.InvalidError{Faults: []lumi.Fault{{Path: "a.hunter2", Message: "bad hunter2"}, {Path: "b", Message: "fine"}}},
			"a[…]: bad (secret)\nb: fine", as[*lumi.InvalidError]},
		{&lumi.OutputError{Faults: []lumi.Fault{{Path: "b", Message: "hunter2"}}},
			"the provider returned an invalid result: b: (secret)", as[*lumi.OutputError]},
		{&lumi.ReplaceError{Paths: []lumi.Path{`b["hunter2"]`}}, `changing b["(secret)"] requires a replacement, not an update`, as[*lumi.ReplaceError]},
		{&lumi.RetryError{Err: fmt.Errorf("wait: %w", sentinel)}, "wait: at (secret)", func(err error) bool {
			return as[*lumi.RetryError](err) && errors.Is(err, sentinel)
		}},
		{lumi.Uncertain(errors.New("lost declared and configured and referred")), "lost (secret) and (secret) and (secret)", as[*lumi.UncertainError]},
		{&plugin.Error{Code: codes.NotFound, Message: "no hunter2"}, "no (secret)", func(err error) bool { return errors.Is(err, lumi.ErrNotFound) }},
		{errors.Join(sentinel, lumi.Faultf("a", "hunter2")), "at (secret)\na: (secret)", as[lumi.Fault]},
		{custom, "net (secret) is down", as[*outage]},
		{&lumi.PartialError{ID: "f-1", Err: fmt.Errorf("half: %w", sentinel)}, "half: at (secret)", as[*provision.PartialError]},
		{fmt.Errorf("around: %w", &lumi.PartialError{ID: "f-1"}), "partially completed", as[*provision.PartialError]},
		{errors.New("nothing"), "nothing", func(err error) bool { return err.Error() == "nothing" }},
	} {
		f := &fake{err: test.err, description: lumi.Description{Properties: []lumi.Property{{Name: "c", Flags: lumi.Secret}}}}
		u := vertex(t, disk, "a").URN()
		_, _, err := f.caller().With(func(pkg string) lumigl.Value {
			return value(object{"token": secretOf("configured")})
		}).Create(t.Context(), provision.CreateRequest{Desired: plan.Desired{
			URN: u, Properties: value(object{"a": secretOf([]any{"hunter2"}), "c": "declared"}),
			References: map[urn.URN]plan.Reference{u: {ID: "x", Properties: value(object{"s": secretOf("referred")})}},
		}})
		if err == nil || err.Error() != test.want || !test.is(err) {
			t.Errorf("Create with provider error %T: error %T %v, want %s", test.err, err, err, test.want)
		}
	}
}

// A name that contains a secret causes an error, since names are displayed and stored in plain text.
func TestNameSecret(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain":      "",
		"my-hunter2": "the provider derives the resource's name from a secret: use a value that is not secret",
	} {
		f := &fake{name: name}
		got, err := f.caller().Name(t.Context(), plan.Desired{
			URN: vertex(t, disk, "#1").URN(), Properties: value(object{"path": secretOf("hunter2")}),
		})
		if want == "" && (err != nil || got != name) || want != "" && (got != "" || err == nil || err.Error() != want) {
			t.Errorf("Name() for %q = %q, %v, want error %q", name, got, err, want)
		}
	}
}

// outage is an error type unknown to package lumi.
type outage struct{ host string }

func (n *outage) Error() string { return "net " + n.host + " is down" }

func as[T error](err error) bool {
	var e T
	return errors.As(err, &e)
}
