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

// The called processes are the test binary itself, with a variable that selects their role.
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

// servers is the provider's code, which does nothing.
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

// beEcho serves until standard input is closed.
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
		_, _ = io.Copy(io.Discard, os.Stdin) // The parent is gone, even after an error.
		server.Stop()
	}()
	return server.Serve(listener)
}

const (
	echoService = "bench.Echo"
	echoMethod  = "/bench.Echo/Echo"
	// sizeHeader contains the number of bytes to return.
	sizeHeader = "size"
)

var errWrong = errors.New("the answer is not what it should be")

// echoBytes returns the requested number of the received bytes.
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

// mirror returns messages.
type mirror struct {
	lumirpc.UnimplementedResourceProviderServer
}

func (mirror) Create(context.Context, *lumirpc.CreateRequest) (*lumirpc.CreateResponse, error) {
	return &lumirpc.CreateResponse{Id: serverID, Properties: &structpb.Struct{}}, nil
}

func (mirror) Check(_ context.Context, req *lumirpc.CheckRequest) (*lumirpc.CheckResponse, error) {
	return &lumirpc.CheckResponse{Properties: req.GetProperties()}, nil
}
