package pulumiserve

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps/lumischema"
	local "github.com/lumi-idl/lumi/examples/local/provider"
	locals "github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args        string
		code        int
		out, stderr string
	}{
		{"", exitMisuse, "", "pulumi-resource-acme_traps: this is a plugin and cannot be run by hand: Pulumi starts it and passes it the" +
			" address of its engine; try --help\n"},
		{"--help", exitStopped, "pulumi plugin install resource acme_traps 1.0.0 --file pulumi-resource-acme_traps\n", ""},
	} {
		var out, stderr strings.Builder
		expect.Equal(t, test.code, run(traps.NewCloud().Plugin(), lumischema.JSON, strings.Fields(test.args), &out, &stderr))
		expect.Equal(t, test.stderr, stderr.String())
		if !strings.Contains(out.String(), test.out) {
			t.Errorf("%s: got %s, want it to contain %s", test.args, out.String(), test.out)
		}
	}
	var stderr strings.Builder
	expect.Equal(t, exitMisuse, run(serve.Plugin{Package: "net"}, lumischema.JSON, []string{"127.0.0.1:1"}, io.Discard, &stderr))
	expect.Equal(t, "pulumi-resource-net: the schema describes package acme/traps, but the plugin serves package net\n", stderr.String())
}

// The engine refuses versions that are not semantic, such as the hash of a commit.
func TestVersion(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3-4-g0a1b2c3": "1.2.3-4-g0a1b2c3", "0a1b2c3": "", "(devel)": "", "": ""} {
		p := traps.NewCloud().Plugin()
		p.Version = version
		s := must.Get(New(p, lumischema.JSON))(t)
		expect.Equal(t, want, must.Get(s.GetPluginInfo(t.Context(), &emptypb.Empty{}))(t).GetVersion())
	}
}

func TestInfo(t *testing.T) {
	p := start(t, traps.NewCloud().Plugin(), lumischema.JSON)
	hello := must.Get(p.Handshake(t.Context(), &pulumirpc.ProviderHandshakeRequest{EngineAddress: p.engine.address}))(t)
	expect.Equal(t, []bool{true, true, true, false}, []bool{
		hello.GetAcceptSecrets(), hello.GetAcceptResources(), hello.GetAcceptOutputs(), hello.GetAcceptsByteString(),
	})
	expect.Equal(t, "1.2.3", must.Get(p.GetPluginInfo(t.Context(), &emptypb.Empty{}))(t).GetVersion())
	var schema struct {
		Name, Version string
		Resources     map[string]any
	}
	resp := must.Get(p.GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{}))(t)
	must.Do(t, json.Unmarshal([]byte(resp.GetSchema()), &schema))
	expect.Equal(t, "acme_traps 1.2.3", schema.Name+" "+schema.Version)
	if schema.Resources["acme_traps:index:Box"] == nil {
		t.Error("the schema has no box")
	}
}

func TestConfigure(t *testing.T) {
	c := traps.NewCloud()
	p := start(t, c.Plugin(), lumischema.JSON)
	_, err := p.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: object(t, `{"retries": "x"}`)})
	expect.Equal(t, "InvalidArgument region: is required, but missing\nretries: expected a whole number, found a string \"x\"",
		status.Code(err).String()+" "+status.Convert(err).Message())
	args := object(t, `{"region": "north", "retries": "3", "zones": {"$sig": "$secret", "value": "[\"1\"]"}, "key": "7",
		"labels": "{\"a\": \"1\"}", "version": "1.2.3", "pluginDownloadURL": "http://a", "__internal": {}}`)
	resp := must.Get(p.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: args}))(t)
	same(t, `{"$sig": "$secret", "value": "7"}`, resp.GetInputs().GetFields()["key"].GetStructValue())
	resp2 := must.Get(p.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: resp.GetInputs()}))(t)
	expect.Equal(t, true, resp2.GetSupportsPreview() && resp2.GetAcceptSecrets() && resp2.GetAcceptResources() && resp2.GetAcceptOutputs())
	expect.Equal(t, traps.Config{Region: "north", Retries: new(3), Zones: []string{"1"}, Key: new("7"), Labels: map[string]any{"a": "1"}}, c.Config())

	diff := must.Get(p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{OldInputs: args, News: object(t, `{
		"region": "south", "retries": "3", "zones": "[\"1\"]", "labels": "{\"a\":\"1\"}", "version": "1.2.4"}`)}))(t)
	expect.Equal(t, map[string]string{"region": "UPDATE", "key": "DELETE"}, kinds(diff))
	expect.Equal(t, 0, len(diff.GetReplaces()))
}

// TestUnconfigured previews with a configuration that depends on a resource.
func TestUnconfigured(t *testing.T) {
	p := start(t, traps.NewCloud().Plugin(), lumischema.JSON)
	p.configure(`{"region": "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"}`)
	inputs := p.check(boxURN, `{"code": "a"}`, nil)
	same(t, `{"code": "a"}`, without(inputs, seedName))
	resp := must.Get(p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: boxURN, News: object(t, `{"code": true}`)}))(t)
	expect.Equal(t, "expected a string, found a boolean true", resp.GetFailures()[0].GetReason())
	planned := must.Get(p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: boxURN, Properties: inputs, Preview: true}))(t).GetProperties()
	expect.Equal(t, "$unknown", strings.NewReplacer("04da6b54-80e4-46f7-96ec-b56ff0331ba9", "$unknown").Replace(
		planned.GetFields()["serial"].GetStringValue()))
	expect.Equal(t, "DIFF_UNKNOWN", p.diff("b", planned, inputs).GetChanges().String())
	update := &pulumirpc.UpdateRequest{Urn: boxURN, Id: "b", Olds: planned, News: inputs, Preview: true}
	expect.Equal(t, planned.AsMap(), must.Get(p.Update(t.Context(), update))(t).GetProperties().AsMap())
	_, err := p.Read(t.Context(), &pulumirpc.ReadRequest{Urn: boxURN, Id: "b"})
	const unconfigured = "the provider's configuration depends on changes that are not deployed yet: deploy them first"
	expect.Equal(t, unconfigured, status.Convert(err).Message())
	_, err = p.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "acme_traps:index:FindLid"})
	expect.Equal(t, unconfigured, status.Convert(err).Message())
	p.configure(`{"region": "north"}`)
	p.made(`{}`)
}

func TestInvoke(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	p.create(lidURN, p.check(lidURN, `{"color": "red"}`, nil))
	invoke := func(tok, args string) (*pulumirpc.InvokeResponse, error) {
		return p.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: tok, Args: object(t, args)})
	}
	resp := must.Get(invoke("acme_traps:index:FindLid", `{"color": "red"}`))(t)
	same(t, `{"lid": "lid-cover", "key": {"$sig": "$secret", "value": "hush-hush"}}`, resp.GetReturn())
	resp = must.Get(invoke("acme_traps:index:FindLid", `{"color": "pink"}`))(t)
	expect.Equal(t, `color: expected "red" or "blue", found a string "pink"`,
		resp.GetFailures()[0].GetProperty()+": "+resp.GetFailures()[0].GetReason())
	_, err := invoke("acme_traps:index:FindLid", `{"color": "blue"}`)
	expect.Equal(t, "no blue lid: no such resource", status.Convert(err).Message())
	_, err = invoke("acme_traps:index:FindLit", `{}`)
	expect.Equal(t, `package acme/traps has no function acme/traps:index:FindLit; did you mean acme/traps:index:FindLid?`,
		status.Convert(err).Message())
}

func TestURN(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	for urn, want := range map[string]string{
		"urn:pulumi:prod::Shop::acme_traps:index:Bux::b": `package acme/traps has no resource acme/traps:index:Bux; did you mean` +
			` acme/traps:index:Box?`,
		"urn:pulumi:a b::Shop::acme_traps:index:Box::b": `"urn:lumi:a b::pulumi:Shop::acme/traps:index:Box::b": the environment must be a` +
			` word without colons or spaces`,
		"nonsense": `package acme/traps has no resource acme/traps:`,
	} {
		_, err := p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn})
		expect.Equal(t, want, status.Convert(err).Message())
	}
	expect.Equal(t, "urn:lumi:prod::pulumi:Shop/my/app/Site::acme/traps:index:Lid::cover", string(must.Get(parseURN(lidURN).lumi(traps.Lid))(t)))
}

func TestEvents(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	p.check(boxURN, `{"password": "weak-password"}`, nil)
	expect.Equal(t, []string{"WARNING " + boxURN + " the password is (secret)"}, p.engine.events())
	slog.Info("the key is hush-hush")
	if log := p.stderr.String(); !strings.Contains(log, `msg="the key is (secret)"`) {
		t.Errorf("got log %q, want a masked key", log)
	}
}

// TestAttach attaches an engine to a plugin that was started by hand, and terminates the plugin.
func TestAttach(t *testing.T) {
	e := newEngine(t)
	c, exit := launch(t, traps.NewCloud().Plugin(), lumischema.JSON, io.Discard, "--attach")
	p := &plugin{c, t, e, nil}
	must.Get(p.Attach(t.Context(), &pulumirpc.PluginAttach{Address: e.address}))(t)
	p.configure(`{"region": "north"}`)
	p.check(boxURN, `{"password": "weak-password"}`, nil)
	expect.Equal(t, 1, len(e.events()))
	must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	expect.Equal(t, exitStopped, <-exit)
}

// TestInterrupt interrupts a plugin, as the engine does in the end.
func TestInterrupt(t *testing.T) {
	_, exit := launch(t, traps.NewCloud().Plugin(), lumischema.JSON, io.Discard, newEngine(t).address)
	must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	select {
	case code := <-exit:
		expect.Equal(t, exitStopped, code)
	case <-time.After(4 * time.Second):
		t.Fatal("the plugin still runs after 4 seconds")
	}
}

// TestLocal deploys a file and a random number.
func TestLocal(t *testing.T) {
	t.Chdir(t.TempDir())
	p := start(t, serve.Plugin{Package: "local", Resources: local.Resources(), Functions: local.Functions()}, locals.JSON)
	p.configure(`{"version": "1.0.0"}`)
	const fileURN, idURN = "urn:pulumi:dev::p::local:index:File::f", "urn:pulumi:dev::p::local:index:RandomID::r"
	file := p.create(fileURN, p.check(fileURN, `{"path": "a", "source": {"$sig": "$asset", "text": "x", "hash": "?"}}`, nil))
	expect.Equal(t, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", file.GetProperties().GetFields()["checksum"].GetStringValue())
	inputs := p.check(idURN, `{}`, nil)
	id := p.create(idURN, inputs)
	update := &pulumirpc.UpdateRequest{Urn: idURN, Id: id.GetId(), Olds: id.GetProperties(), News: inputs, Preview: true}
	expect.Equal(t, id.GetProperties().AsMap(), must.Get(p.Update(t.Context(), update))(t).GetProperties().AsMap())
	resp := must.Get(p.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "local:index:ReadFile", Args: object(t, `{"path": "a"}`)}))(t)
	expect.Equal(t, "x", resp.GetReturn().GetFields()["content"].GetStringValue())
}
