package serve

import (
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// bytesCodec sends and receives messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (bytesCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = slices.Clone(data)
	return nil
}

// Damaged requests do not make the plugin panic or end.
func TestDamagedRequests(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), Plugin{Package: "test", Resources: resources(), Functions: functions()}, listener, slog.New(slog.DiscardHandler))
	}()
	conn := must.Get(grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	defer conn.Close()
	client := lumirpc.NewResourceProviderClient(conn)
	must.Get(client.Handshake(within(t), &lumirpc.HandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion}))(t)

	bag := jsonBag(t, `{"name": "a", "do": "nothing", "secret": {"$sig": "$secret", "value": "hunter2"}, "list": ["x", "y", null],
		"vault": {"a": {"password": {"$sig": "$secret", "value": "b"}, "anything": {"a": [1, true, null, {"$sig": "$secret", "value": []}]}}},
		"attachments": {"b": [{"file": {"$sig": "$asset", "text": "t"}}]}}`)
	reference := map[string]*lumirpc.Reference{thingURN: {Id: "t-2", Properties: bag}}
	typ := string(thingToken)
	requests := map[string]proto.Message{
		"Check":         &lumirpc.CheckRequest{Type: typ, Urn: thingURN, Properties: bag, Old: bag, References: reference},
		"Create":        &lumirpc.CreateRequest{Type: typ, Urn: thingURN, Properties: bag, References: reference},
		"Get":           &lumirpc.GetRequest{Type: typ, Urn: thingURN, Id: "t-1", Purpose: lumirpc.GetRequest_REFRESH, Old: bag},
		"InspectChange": &lumirpc.InspectChangeRequest{Type: typ, Urn: thingURN, Id: "t-1", Old: bag, New: bag, References: reference},
		"Update":        &lumirpc.UpdateRequest{Type: typ, Urn: thingURN, Id: "t-1", Old: bag, New: bag},
		"Delete":        &lumirpc.DeleteRequest{Type: typ, Urn: thingURN, Id: "t-1", Properties: bag},
	}
	random := rand.New(rand.NewPCG(1, 2))
	found := map[codes.Code]int{}
	for _, method := range slices.Sorted(maps.Keys(requests)) {
		whole := must.Get(proto.MarshalOptions{Deterministic: true}.Marshal(requests[method]))(t)
		for range 100 {
			data := slices.Clone(whole)
			for range 1 + random.IntN(3) {
				switch at := random.IntN(len(data)); random.IntN(3) {
				case 0:
					data[at] = byte(random.IntN(256))
				case 1:
					data[at] ^= 1 << random.IntN(8)
				default:
					data = slices.Delete(data, at, at+1)
				}
			}
			var resp []byte
			err := conn.Invoke(within(t), "/lumirpc.ResourceProvider/"+method, &data, &resp, grpc.ForceCodec(bytesCodec{}))
			found[status.Code(err)]++
			if err != nil && (status.Code(err) == codes.Unavailable || strings.Contains(err.Error(), "panicked")) {
				t.Fatalf("%s(%x) = %v", method, data, err)
			}
		}
	}
	if found[codes.OK] == 0 || found[codes.Internal] == 0 || found[codes.InvalidArgument] == 0 {
		t.Errorf("codes = %v, want OK, Internal, and InvalidArgument", found)
	}
	select {
	case err := <-served:
		t.Errorf("the plugin ended: %v", err)
	default:
	}
}
