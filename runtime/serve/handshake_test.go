package serve

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestOtherVersion(t *testing.T) {
	client, _ := startBare(t).dial(t)
	_, err := client.Handshake(with(within(t), bareSecret), &lumirpc.HandshakeRequest{ProtocolVersion: 7})
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "version 7") {
		t.Errorf("Handshake error = %v, want FailedPrecondition for version 7", err)
	}
}

func TestBeforeHandshake(t *testing.T) {
	b := startBare(t)
	client, conn := b.dial(t)
	early := func() {
		t.Helper()
		for _, method := range lumirpc.ResourceProvider_ServiceDesc.Methods {
			if method.MethodName == "Handshake" {
				continue
			}
			full := "/" + lumirpc.ResourceProvider_ServiceDesc.ServiceName + "/" + method.MethodName
			err := conn.Invoke(with(within(t), bareSecret), full, &lumirpc.CancelRequest{}, &lumirpc.CancelResponse{})
			want := method.MethodName + " was called before Handshake"
			if s := status.Convert(err); s.Code() != codes.FailedPrecondition || s.Message() != want {
				t.Errorf("%s before Handshake returned %v, want %s", method.MethodName, err, want)
			}
		}
	}
	early()
	stream := must.Get(client.Events(with(within(t), bareSecret), &lumirpc.EventsRequest{}))(t)
	want := "Events was called before Handshake"
	if _, err := stream.Recv(); status.Code(err) != codes.FailedPrecondition || status.Convert(err).Message() != want {
		t.Errorf("Events before Handshake returned %v, want %s", err, want)
	}
	if _, err := client.Handshake(with(within(t), bareSecret), &lumirpc.HandshakeRequest{ProtocolVersion: 7}); err == nil {
		t.Error("Handshake with another version returned nil, want an error")
	}
	early()
	b.greet(t, client)
	must.Get(client.Check(with(within(t), bareSecret), &lumirpc.CheckRequest{
		Type: string(thingToken), Urn: thingURN, Properties: thingBag("nothing"),
	}))(t)
}

func TestUnknownType(t *testing.T) {
	b := startBare(t)
	client, _ := b.dial(t)
	b.greet(t, client)
	for _, token := range []string{"test:index:Nothing", "", "?"} {
		_, err := client.Get(with(within(t), bareSecret), &lumirpc.GetRequest{Type: token, Id: "x"})
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("Get of type %q returned %v, want Unimplemented", token, err)
		}
	}
}
