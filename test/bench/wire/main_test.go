package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/bench/machine"
)

// roleVariable selects the role of a child process, which runs the test binary.
const roleVariable = "LUMI_BENCH_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "plugin":
		serve.Main(serve.Plugin{Package: "bench", Resources: map[tokens.Type]lumi.ResourceProvider{
			machine.Server: machine.NewServerProvider(servers{}),
		}})
	case "echo":
		if err := beEcho(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

// servers implements the provider's operations as no-ops.
type servers struct{}

const serverID = "i-0123456789abcdef0"

type state = lumi.State[*machine.Properties]

func (servers) Check(context.Context, *state) error { return nil }

func (servers) Create(context.Context, *state) (lumi.ID, error) { return serverID, nil }

func (servers) Get(context.Context, lumi.ID, *state) (*machine.Properties, error) {
	return nil, lumi.ErrNotFound
}

func (servers) Update(context.Context, *state, *state, *lumi.Diff) error { return nil }

func (servers) Delete(context.Context, *state) error { return nil }

// beEcho runs the bare gRPC server until standard input is closed.
func beEcho() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: echoService,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Echo", Handler: echoBytes}},
	}, nil)
	lumirpc.RegisterResourceProviderServer(server, mirror{})
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // EOF and errors both mean that the parent has exited.
		server.Stop()
	}()
	return server.Serve(listener)
}

const (
	echoService = "bench.Echo"
	echoMethod  = "/bench.Echo/Echo"
	// sizeHeader is the metadata key of the number of bytes to return.
	sizeHeader = "size"
)

var errWrong = errors.New("unexpected response")

// echoBytes returns the first received bytes, as many as requested in sizeHeader.
func echoBytes(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	message := &wrapperspb.BytesValue{}
	if err := decode(message); err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(strings.Join(metadata.ValueFromIncomingContext(ctx, sizeHeader), ""))
	if err != nil || size < 0 || size > len(message.Value) {
		return nil, status.Errorf(codes.InvalidArgument, "the size is wrong: %v", err)
	}
	message.Value = message.Value[:size]
	return message, nil
}

// mirror returns the same messages as the plugin without any processing.
type mirror struct {
	lumirpc.UnimplementedResourceProviderServer
}

func (mirror) Create(context.Context, *lumirpc.CreateRequest) (*lumirpc.CreateResponse, error) {
	return &lumirpc.CreateResponse{Id: serverID, Properties: &structpb.Struct{}}, nil
}

func (mirror) Check(_ context.Context, req *lumirpc.CheckRequest) (*lumirpc.CheckResponse, error) {
	return &lumirpc.CheckResponse{Properties: req.GetProperties()}, nil
}
