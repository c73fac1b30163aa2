package wire

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/bench/machine"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const serverURN = "urn:lumi:dev::app:index::bench:index:Server::web"

// serverBag returns a bag with all properties of a server.
func serverBag(tb testing.TB) *structpb.Struct {
	tb.Helper()
	s := &structpb.Struct{}
	must.Do(tb, protojson.Unmarshal([]byte(`{
		"name": "web", "image": "debian", "zone": "b", "owner": "me", "kernel": "6.1", "user": "root",
		"cores": 4, "memory": 16, "swap": 2, "public": true, "monitored": false, "spot": true,
		"disks": [
			{"device": "sda", "size": 100, "fast": true}, {"device": "sdb", "size": 500}, {"device": "sdc", "size": 1}
		],
		"tags": {"team": "web", "cost": "low", "stage": "test"}, "addresses": ["10.0.0.1", "10.0.0.2"]
	}`), s))
	return s
}

// method is a call and its two baselines.
type method struct {
	name string
	// plugin calls the plugin. bytes and messages call the bare server: bytes transfers the same number of plain bytes,
	// and messages the same messages.
	plugin, bytes, messages func() error
}

func BenchmarkCalls(b *testing.B) {
	for _, m := range methods(b) {
		for _, mode := range []struct {
			name       string
			goroutines int
		}{{"sequential", 1}, {"parallel", 32}} {
			b.Run(m.name+"/"+mode.name, func(b *testing.B) { m.compare(b, mode.goroutines) })
		}
	}
}

// compare alternates between the three forms, a batch at a time, so that other load on the machine affects them equally.
func (m *method) compare(b *testing.B, goroutines int) {
	const turn = 320
	forms := []func() error{m.plugin, m.bytes, m.messages}
	took := make([]time.Duration, len(forms))
	calls := 0
	for round := 0; b.Loop(); round++ {
		for i := range forms {
			form := (round + i) % len(forms)
			took[form] += repeat(b, forms[form], goroutines, turn)
		}
		calls += turn
	}
	b.ReportMetric(0, "ns/op") // the sum of all three forms is meaningless
	b.ReportMetric(float64(calls)/took[0].Seconds(), "calls/s")
	b.ReportMetric(float64(calls)/took[1].Seconds(), "echoes/s")
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "echoes/call")
	b.ReportMetric(took[0].Seconds()/took[2].Seconds(), "message-echoes/call")
}

// repeat makes calls from concurrent goroutines and returns the elapsed time.
func repeat(b *testing.B, call func() error, goroutines, calls int) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for range goroutines {
		wg.Go(func() {
			for range calls / goroutines {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// All three forms of each call succeed and return a response of the expected size.
func TestMethods(t *testing.T) {
	for _, m := range methods(t) {
		for name, call := range map[string]func() error{"plugin": m.plugin, "bytes": m.bytes, "messages": m.messages} {
			if err := call(); err != nil {
				t.Errorf("%s call of %s: %v", name, m.name, err)
			}
		}
	}
}

// methods starts the plugin and the bare server and returns the measured methods.
func methods(tb testing.TB) []*method {
	tb.Helper()
	servers := startPlugin(tb)
	conn := startEcho(tb)
	client, ctx, bag := lumirpc.NewResourceProviderClient(conn), tb.Context(), serverBag(tb)

	given := lumi.BagOf(bag)
	created := &lumirpc.CreateResponse{Id: serverID, Properties: &structpb.Struct{}}
	checked := &lumirpc.CheckResponse{Properties: bag}
	return []*method{
		{
			name: "Create",
			plugin: func() error {
				resp, err := servers.Create(ctx, &lumi.CreateRequest{URN: serverURN, Properties: given})
				return expect(err, func() bool { return resp.ID == serverID && len(resp.Properties.Object().Fields()) == 0 })
			},
			bytes: echo(tb, conn, createRequest(bag), created),
			messages: func() error {
				resp, err := client.Create(ctx, createRequest(bag))
				return expect(err, func() bool { return proto.Size(resp) == proto.Size(created) })
			},
		},
		{
			name: "Check",
			plugin: func() error {
				resp, err := servers.Check(ctx, &lumi.CheckRequest{URN: serverURN, Properties: given})
				return expect(err, func() bool { return len(resp.Properties.Object().Fields()) == len(bag.Fields) })
			},
			bytes: echo(tb, conn, checkRequest(bag), checked),
			messages: func() error {
				resp, err := client.Check(ctx, checkRequest(bag))
				return expect(err, func() bool { return len(resp.GetProperties().GetFields()) == len(bag.Fields) })
			},
		},
	}
}

func createRequest(bag *structpb.Struct) *lumirpc.CreateRequest {
	return &lumirpc.CreateRequest{Type: string(machine.Server), Urn: serverURN, Properties: bag}
}

func checkRequest(bag *structpb.Struct) *lumirpc.CheckRequest {
	return &lumirpc.CheckRequest{Type: string(machine.Server), Urn: serverURN, Properties: bag}
}

// echo returns a call that sends the encoded req as plain bytes and receives as many bytes as the encoded resp has.
func echo(tb testing.TB, conn *grpc.ClientConn, req, resp proto.Message) func() error {
	tb.Helper()
	sent := must.Get(proto.Marshal(req))(tb)
	size := proto.Size(resp)
	ctx := metadata.AppendToOutgoingContext(tb.Context(), sizeHeader, strconv.Itoa(size))
	return func() error {
		got := &wrapperspb.BytesValue{}
		err := conn.Invoke(ctx, echoMethod, &wrapperspb.BytesValue{Value: sent}, got)
		return expect(err, func() bool { return len(got.Value) == size })
	}
}

// expect returns err, or errWrong if err is nil and right returns false.
func expect(err error, right func() bool) error {
	if err == nil && !right() {
		return errWrong
	}
	return err
}

func startPlugin(tb testing.TB) lumi.ResourceProvider {
	tb.Helper()
	p := must.Get(plugin.Start(context.Background(), plugin.Command{
		Path: os.Args[0], Env: append(os.Environ(), roleVariable+"=plugin"),
	}))(tb)
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return must.Get(p.Resource(machine.Server))(tb)
}

// startEcho starts the bare server and connects to it.
func startEcho(tb testing.TB) *grpc.ClientConn {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=echo")
	cmd.Stderr = os.Stderr
	stdin := must.Get(cmd.StdinPipe())(tb)
	stdout := must.Get(cmd.StdoutPipe())(tb)
	must.Do(tb, cmd.Start())
	tb.Cleanup(func() {
		_ = stdin.Close() // stops the process
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
	})
	port := must.Get(bufio.NewReader(stdout).ReadString('\n'))(tb)
	conn := must.Get(grpc.NewClient(net.JoinHostPort("127.0.0.1", strings.TrimSpace(port)),
		grpc.WithTransportCredentials(insecure.NewCredentials())))(tb)
	tb.Cleanup(func() { conn.Close() })
	return conn
}
