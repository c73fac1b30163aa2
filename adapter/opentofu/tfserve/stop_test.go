package tfserve

import (
	"context"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// StopProvider cancels the calls in flight. The messages of the protocol are internal to tfprotov6, so the test writes their fields.
func TestStop(t *testing.T) {
	e, l := newLab(t, false)
	made, _ := e.created(e.object(map[string]any{"kind": "box"}))
	reading := make(chan struct{})
	l.wait = func(ctx context.Context) error {
		close(reading)
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, stop := context.WithCancel(t.Context())
	config, closed, served := make(chan *goplugin.ReattachConfig, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		served <- tf6server.Serve("acme/lab", func() tfprotov6.ProviderServer { return e.s }, tf6server.WithDebug(ctx, config, closed),
			tf6server.WithoutLogStderrOverride())
	}()
	conn := must.Get(grpc.NewClient("unix:"+(<-config).Addr.String(), grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	defer conn.Close()
	go func() {
		<-reading
		if err := conn.Invoke(t.Context(), "/tfplugin6.Provider/StopProvider", new(emptypb.Empty), new(emptypb.Empty)); err != nil {
			t.Error(err)
		}
	}()
	state := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), e.encoded(made).MsgPack)
	read := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte(e.name))
	req, resp := new(emptypb.Empty), new(emptypb.Empty)
	req.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(read, 2, protowire.BytesType), state))
	must.Do(t, conn.Invoke(t.Context(), "/tfplugin6.Provider/ReadResource", req, resp))
	if text := string(resp.ProtoReflect().GetUnknown()); !strings.Contains(text, "g-1: context canceled") {
		t.Errorf("%q", text)
	}
	stop()
	<-closed
	must.Do(t, <-served)
}
