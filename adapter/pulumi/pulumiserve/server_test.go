package pulumiserve

import (
	"bufio"
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps/lumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// names are short names in the JSON of tests.
var names = []string{
	"$sig", wire.Signature, "$secret", wire.Secret, "$asset", wire.Asset, "$archive", wire.Archive,
	"$unknown", wire.Unknown, "$output", outputSignature, "$resource", resourceSignature,
}

// object returns properties in JSON with short names.
func object(t *testing.T, json string) *structpb.Struct {
	t.Helper()
	s := &structpb.Struct{}
	must.Do(t, protojson.Unmarshal([]byte(strings.NewReplacer(names...).Replace(json)), s))
	return s
}

// same compares properties with JSON with short names.
func same(t *testing.T, want string, got *structpb.Struct) {
	t.Helper()
	expect.Equal(t, object(t, want).AsMap(), got.AsMap())
}

// fakeEngine collects the events of a plugin.
type fakeEngine struct {
	pulumirpc.UnimplementedEngineServer
	*grpc.Server
	address string

	mu  sync.Mutex
	log []string
}

func (e *fakeEngine) Log(_ context.Context, r *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = append(e.log, strings.TrimSpace(r.GetSeverity().String()+" "+r.GetUrn()+" "+r.GetMessage()))
	return &emptypb.Empty{}, nil
}

func (e *fakeEngine) events() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log
}

func newEngine(t *testing.T) *fakeEngine {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	e := &fakeEngine{Server: grpc.NewServer(), address: listener.Addr().String()}
	pulumirpc.RegisterEngineServer(e.Server, e)
	go func() { _ = e.Serve(listener) }()
	t.Cleanup(e.Stop)
	return e
}

// plugin is a running plugin.
type plugin struct {
	pulumirpc.ResourceProviderClient
	t      *testing.T
	engine *fakeEngine
	stderr *strings.Builder
}

// launch runs a plugin with command-line arguments and connects to it over a real socket.
func launch(
	t *testing.T, p serve.Plugin, schema string, stderr io.Writer, args ...string,
) (pulumirpc.ResourceProviderClient, <-chan int) {
	read, write := io.Pipe()
	exit := make(chan int, 1)
	go func() { exit <- run(p, schema, args, write, stderr) }()
	port := must.Get(bufio.NewReader(read).ReadString('\n'))(t)
	number := must.Get(strconv.Atoi(strings.TrimSpace(port)))(t)
	conn := must.Get(grpc.NewClient("127.0.0.1:"+strconv.Itoa(number), grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	t.Cleanup(func() { must.Do(t, conn.Close()) })
	return pulumirpc.NewResourceProviderClient(conn), exit
}

// start runs a plugin, which must end with its engine at the end of the test.
func start(t *testing.T, p serve.Plugin, schema string) *plugin {
	e, stderr := newEngine(t), new(strings.Builder)
	client, exit := launch(t, p, schema, stderr, "-v=9", e.address)
	t.Cleanup(func() {
		e.Stop()
		select {
		case code := <-exit:
			expect.Equal(t, exitStopped, code)
		case <-time.After(20 * time.Second):
			t.Error("the plugin did not end with its engine")
		}
	})
	return &plugin{client, t, e, stderr}
}

// startTraps runs the plugin of a cloud, configured.
func startTraps(t *testing.T, c *traps.Cloud) *plugin {
	p := start(t, c.Plugin(), lumischema.JSON)
	p.configure(`{"region": "north", "key": {"$sig": "$secret", "value": "hush-hush"}}`)
	return p
}

func (p *plugin) configure(args string) {
	p.t.Helper()
	must.Get(p.Configure(p.t.Context(), &pulumirpc.ConfigureRequest{Args: object(p.t, args)}))(p.t)
}

const (
	boxURN = "urn:pulumi:prod::Shop::acme_traps:index:Box::b"
	lidURN = "urn:pulumi:prod::Shop::my:app:Site$acme_traps:index:Lid::cover"
)

func (p *plugin) check(urn, news string, olds *structpb.Struct) *structpb.Struct {
	p.t.Helper()
	req := &pulumirpc.CheckRequest{Urn: urn, News: object(p.t, news), Olds: olds, RandomSeed: []byte(p.t.Name())}
	resp := must.Get(p.Check(p.t.Context(), req))(p.t)
	expect.Equal(p.t, 0, len(resp.GetFailures()), resp.GetFailures())
	return resp.GetInputs()
}

func (p *plugin) create(urn string, inputs *structpb.Struct) *pulumirpc.CreateResponse {
	p.t.Helper()
	return must.Get(p.Create(p.t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: inputs}))(p.t)
}

// made checks and creates a box.
func (p *plugin) made(news string) (inputs, outputs *structpb.Struct, id string) {
	p.t.Helper()
	inputs = p.check(boxURN, news, nil)
	resp := p.create(boxURN, inputs)
	return inputs, resp.GetProperties(), resp.GetId()
}

func (p *plugin) diff(id string, olds, news *structpb.Struct) *pulumirpc.DiffResponse {
	p.t.Helper()
	req := &pulumirpc.DiffRequest{Urn: boxURN, Id: id, Olds: elided(olds), News: elided(news)}
	return must.Get(p.Diff(p.t.Context(), req))(p.t)
}

// elided returns properties as the engine sends stored ones: with only the hashes of assets and archives.
func elided(s *structpb.Struct) *structpb.Struct {
	fields := map[string]*structpb.Value{}
	for name, v := range s.GetFields() {
		if of := v.GetStructValue().GetFields(); of[wire.Signature] != nil && of["hash"] != nil {
			v = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				wire.Signature: of[wire.Signature], "hash": of["hash"],
			}})
		}
		fields[name] = v
	}
	return &structpb.Struct{Fields: fields}
}

// without returns properties without some of them.
func without(s *structpb.Struct, names ...string) *structpb.Struct {
	fields := map[string]*structpb.Value{}
	for name, v := range s.GetFields() {
		fields[name] = v
	}
	for _, name := range names {
		delete(fields, name)
	}
	return &structpb.Struct{Fields: fields}
}
