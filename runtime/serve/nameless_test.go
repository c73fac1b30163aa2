package serve

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// nameless is a plugin, implemented without this package, that omits ids and counts events that it does not send.
type nameless struct{ foreign }

func (*nameless) Create(_ context.Context, req *lumirpc.CreateRequest) (*lumirpc.CreateResponse, error) {
	if req.GetToken() == "fail" {
		return &lumirpc.CreateResponse{Failure: &spb.Status{Code: int32(codes.Unknown), Message: "no room"}}, nil
	}
	return &lumirpc.CreateResponse{}, nil
}

// Configure returns a trailer with a larger number of events than it sends.
func (*nameless) Configure(ctx context.Context, _ *lumirpc.ConfigureRequest) (*lumirpc.ConfigureResponse, error) {
	return &lumirpc.ConfigureResponse{}, grpc.SetTrailer(ctx, metadata.Pairs(lumirpc.EventsTrailer, "1000"))
}

func (*nameless) Events(_ *lumirpc.EventsRequest, stream grpc.ServerStreamingServer[lumirpc.Event]) error {
	for range 3 {
		if err := stream.Send(&lumirpc.Event{Message: "working"}); err != nil {
			return err
		}
	}
	<-stream.Context().Done()
	return nil
}

func (*nameless) Find(context.Context, *lumirpc.FindRequest) (*lumirpc.FindResponse, error) {
	return &lumirpc.FindResponse{}, nil
}

// A response without an id is an error.
func TestMissingIDs(t *testing.T) { synctest.Test(t, testMissingIDs) }

func testMissingIDs(t *testing.T) {
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	lumirpc.RegisterResourceProviderServer(server, &nameless{foreign{version: lumirpc.ProtocolVersion}})
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	var got recorder
	p, err := plugin.Connect(within(t), func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }, got.sink)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	things, err := p.Resource(thingToken)
	if err != nil {
		t.Fatal(err)
	}
	const nothing = "the plugin returned neither an id nor an error"
	for token, want := range map[string]string{"": nothing, "fail": "no room"} {
		_, err := things.Create(within(t), &lumi.CreateRequest{URN: thingURN, Token: token})
		if !isUncertain(err) || err.Error() != want || errors.As(err, new(*lumi.PartialError)) {
			t.Errorf("Create error = %T %v, want an uncertain %s", err, err, want)
		}
	}
	begun := time.Now()
	if err := p.Configure(context.Background(), lumi.Bag{}); err != nil || len(got.all()) != 3 {
		t.Errorf("Configure = %v with %d events, want nil with 3", err, len(got.all()))
	}
	if took := time.Since(begun); took != 5*time.Second {
		t.Errorf("Configure waited %v for missing events, want 5s", took)
	}
	if _, err := things.Find(within(t), &lumi.FindRequest{URN: thingURN}); err == nil || err.Error() != nothing {
		t.Errorf("Find error = %v, want %s", err, nothing)
	}
}

// An error that would exceed the metadata limit is truncated.
func TestLongRefusal(t *testing.T) {
	err := refuse(codes.Unimplemented, "%q is not served", strings.Repeat("x\x00", 1<<20)).Err()
	if text := status.Convert(err).Message(); len(text) > maxMessage || !strings.HasPrefix(text, `"x\x00x`) {
		t.Errorf("error message has %d bytes, want at most %d", len(text), maxMessage)
	}
}
