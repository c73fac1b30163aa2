package bridge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var plugin = serve.Plugin{Package: "local", Resources: local.Resources(), Functions: local.Functions()}

func TestTypes(t *testing.T) {
	p := must.Get(bridge.New(plugin, lumischema.JSON))(t)
	if r := must.Get(p.Resource(local.File))(t); r.Schema.Name != "File" || len(r.Schema.Properties) == 0 {
		t.Errorf("the schema of %s is %+v", r.Token, r.Schema)
	}
	if f := must.Get(p.Function(local.ReadFile))(t); f.Schema.Name != "ReadFile" {
		t.Errorf("the schema of %s is %+v", f.Token, f.Schema)
	}
	_, err := p.Resource("local:index:Fill")
	wantError(t, err, "package local has no resource local:index:Fill; did you mean local:index:File?")
	_, err = p.Function(local.File)
	wantError(t, err, "package local has no function local:index:File; did you mean local:index:ReadFile?")
	_, err = bridge.New(serve.Plugin{Package: "other", Resources: local.Resources()}, lumischema.JSON)
	wantError(t, err, "the schema describes package local, but the plugin serves package other")
}

// References returns what exists, remembers it until it is forgotten, and leaves out files within assets.
func TestReferences(t *testing.T) {
	p := must.Get(bridge.New(plugin, lumischema.JSON))(t)
	file, missing := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	must.Do(t, os.WriteFile(file, []byte("one"), 0o600))
	inText := urn.ByID(local.File, file+"x")
	asset := structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		wire.Signature: structpb.NewStringValue(wire.Asset), "text": structpb.NewStringValue(string(inText)),
	}})
	foreign := urn.ByID("acme/net:core:VPC", "vpc-1")
	bag := lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{
		"files": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
			structpb.NewStringValue(string(urn.ByID(local.File, file))), structpb.NewStringValue(string(urn.ByID(local.File, missing))),
		}}),
		"other": structpb.NewStringValue(string(foreign)), "asset": asset,
	}})
	content := func() any {
		t.Helper()
		refs := must.Get(p.References(t.Context(), bag))(t)
		if len(refs) != 3 || refs[foreign].ID != "vpc-1" || !refs[urn.ByID(local.File, missing)].Properties.IsZero() {
			t.Errorf("References = %v", refs)
		}
		return refs[urn.ByID(local.File, file)].Properties.Get("content")
	}
	if got := content(); got != "one" {
		t.Errorf("content = %v, want one", got)
	}
	must.Do(t, os.WriteFile(file, []byte("two"), 0o600))
	if got := content(); got != "one" {
		t.Errorf("content = %v, want the cached one", got)
	}
	p.Forget(local.File, lumi.ID(file))
	if got := content(); got != "two" {
		t.Errorf("content = %v after Forget, want two", got)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	p.Forget(local.File, lumi.ID(missing))
	_, err := p.References(canceled, bag)
	wantError(t, err, fmt.Sprintf("cannot read local:index:File %q, to which the resource refers: context canceled", missing))
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
