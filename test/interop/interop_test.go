// Package interop checks that the .proto files and docs/protocol.md are sufficient to implement either side of the protocol
// in another language. The folder node contains a client, a provider, and a provisioner based on them alone.
package interop

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/providertest"
	_ "github.com/lumi-idl/lumi/runtime/serve" // for the same reason
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	_ "github.com/lumi-idl/lumi/test/interop/depot" // reruns this test when the plugin changes
	"github.com/lumi-idl/lumi/test/kit/node"
)

// A client written in Node makes every call of the protocol. The script checks the responses.
func TestClient(t *testing.T) {
	out := node.Run(t, scripts(t), "node", "client.mjs", providertest.Build(t, "./lumi-resource-depot"))
	var made, want []string
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("parsing the client's output: %[2]v\n%[1]s", out, err)
	}
	service := lumirpc.File_lumirpc_provider_proto.Services().ByName("ResourceProvider").Methods()
	for i := range service.Len() {
		want = append(want, string(service.Get(i).Name()))
	}
	slices.Sort(made)
	slices.Sort(want)
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("calls made by the client (-want +got):\n%s", diff)
	}
}

const (
	noteToken tokens.Type = "jot:index:Note"
	noteURN   urn.URN     = "urn:lumi:dev::app:index::jot:index:Note::a"
)

// An engine can use a provider written in Node.
func TestProvider(t *testing.T) {
	ctx := t.Context()
	p, err := plugin.Start(ctx, plugin.Command{
		Path: filepath.Join(scripts(t), "provider.mjs"), Log: t.Output(), Events: func(lumi.Event) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.Package != "jot" || p.Version != "0.1.0" || p.Configurable || !slices.Equal(p.Types, []tokens.Type{noteToken}) {
		t.Errorf("plugin.Start = %+v, want package jot, version 0.1.0, type %s, and no configuration", p, noteToken)
	}
	notes, err := p.Resource(noteToken)
	if err != nil {
		t.Fatal(err)
	}
	want := bag(t, map[string]any{"name": "a", "text": "hello"})
	described, err := notes.Describe(ctx)
	got(t, err, described, &lumi.Description{Type: noteToken, Named: true, IdempotentCreate: true, Properties: []lumi.Property{
		{Name: "name", Kind: lumi.KindString, Flags: lumi.Replaces, Required: true},
		{Name: "text", Kind: lumi.KindString, Required: true},
		{Name: "length", Kind: lumi.KindNumber, Flags: lumi.Out, Required: true},
	}})
	checked, err := notes.Check(ctx, &lumi.CheckRequest{URN: noteURN, Properties: want, Seed: lumi.Seed("seed")})
	got(t, err, checked, &lumi.CheckResponse{Properties: want})
	_, err = notes.Check(ctx, &lumi.CheckRequest{URN: noteURN, Properties: bag(t, map[string]any{"name": "a", "txt": 1})})
	got(t, nil, err, error(&lumi.InvalidError{Faults: []lumi.Fault{
		{Path: "text", Message: "is required, but missing"}, {Path: "txt", Message: "no such property"},
	}}))
	name, err := notes.Name(ctx, &lumi.NameRequest{URN: noteURN, Properties: want})
	got(t, err, name, &lumi.NameResponse{Name: "a"})
	created, err := notes.Create(ctx, &lumi.CreateRequest{URN: noteURN, Properties: want, Token: "t"})
	got(t, err, created, &lumi.CreateResponse{ID: "a", Properties: bag(t, map[string]any{"length": 5})})
	if _, err := notes.Find(ctx, &lumi.FindRequest{URN: noteURN, Properties: want, Token: "t"}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Find error = %v, want %v", err, errors.ErrUnsupported)
	}
	counting, err := p.Function("jot:index:CountNotes")
	if err != nil {
		t.Fatal(err)
	}
	count, err := counting.Call(ctx, &lumi.CallRequest{Arguments: bag(t, map[string]any{"minimum": 5})})
	got(t, err, count, &lumi.CallResponse{Results: bag(t, map[string]any{"notes": 1})})
	_, err = counting.Call(ctx, &lumi.CallRequest{Arguments: bag(t, map[string]any{"minimum": "5"})})
	got(t, nil, err, error(&lumi.InvalidError{Faults: []lumi.Fault{{Path: "minimum", Message: "is not a number"}}}))
	whole := bag(t, map[string]any{"name": "a", "text": "hello", "length": 5})
	read, err := notes.Get(ctx, &lumi.GetRequest{ID: "a", Purpose: lumi.Import})
	got(t, err, read, &lumi.GetResponse{Properties: whole})

	update := lumi.UpdateRequest{URN: noteURN, ID: "a", Old: whole, New: bag(t, map[string]any{"name": "a", "text": "hi"})}
	inspected, err := notes.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: noteURN, ID: "a", Old: whole, New: update.New,
	})
	got(t, err, inspected, &lumi.InspectChangeResponse{Properties: update.New, Changes: []lumi.Change{{
		Kind: lumi.Modified, Path: "text", Old: structpb.NewStringValue("hello"), New: structpb.NewStringValue("hi"),
	}}})
	const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
	unsure := bag(t, map[string]any{"name": "a", "text": map[string]any{
		"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": unknown,
	}})
	inspected, err = notes.InspectChange(ctx, &lumi.InspectChangeRequest{URN: noteURN, ID: "a", Old: whole, New: unsure})
	got(t, err, inspected, &lumi.InspectChangeResponse{Properties: unsure, Changes: []lumi.Change{{
		Kind: lumi.Modified, Path: "text", Unknown: true, Secret: true,
	}}})
	_, err = notes.Create(ctx, &lumi.CreateRequest{URN: noteURN, Properties: unsure})
	got(t, nil, err, error(&lumi.InvalidError{Faults: []lumi.Fault{{Path: "text", Message: "is not known yet"}}}))
	updated, err := notes.Update(ctx, &update)
	got(t, err, updated, &lumi.UpdateResponse{Properties: bag(t, map[string]any{"length": 2})})
	update.New = bag(t, map[string]any{"name": "b", "text": "hi"})
	_, err = notes.Update(ctx, &update)
	got(t, nil, err, error(&lumi.ReplaceError{Paths: []lumi.Path{"name"}}))
	_, err = notes.Delete(ctx, &lumi.DeleteRequest{URN: noteURN, ID: "a", Properties: whole})
	got(t, err, nil, nil)
	if _, err := notes.Get(ctx, &lumi.GetRequest{ID: "a", Purpose: lumi.Import}); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Get error = %v, want %v", err, lumi.ErrNotFound)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// The provider accepts only calls with the secret from its environment.
func TestProviderSecret(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(scripts(t), "provider.mjs"))
	cmd.Env = append(os.Environ(), lumirpc.SecretVariable+"=right")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]codes.Code{"": codes.Unauthenticated, "wrong": codes.Unauthenticated, "right": codes.OK} {
		ctx := t.Context()
		if secret != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, lumirpc.SecretHeader, secret)
		}
		_, err := lumirpc.NewResourceProviderClient(conn).Handshake(ctx, &lumirpc.HandshakeRequest{ProtocolVersion: 1})
		if got := status.Code(err); got != want {
			t.Errorf("Handshake with secret %q = %v, want %v", secret, got, want)
		}
	}
	if err := errors.Join(conn.Close(), stdin.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

func bag(t *testing.T, properties map[string]any) lumi.Bag {
	t.Helper()
	s, err := structpb.NewStruct(properties)
	if err != nil {
		t.Fatal(err)
	}
	return lumi.BagOf(s)
}

// got fails the test if err is not nil or got differs from want.
func got(t *testing.T, err error, got, want any) {
	t.Helper()
	bags := cmp.Transformer("struct", lumi.Bag.Struct)
	if diff := cmp.Diff(want, got, bags, protocmp.Transform(), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("call returned error %v, response (-want +got):\n%s", err, diff)
	}
}

// scripts returns the folder of the Node scripts. It calls Stat for each script and .proto file, so that go test does not
// reuse a cached result after a change.
func scripts(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@grpc")); err != nil {
		t.Fatalf("gRPC for Node not found: run 'npm ci' in %s", dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../runtime/lumirpc/provider.proto", "../../runtime/lumirpc/provisioner.proto") {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
