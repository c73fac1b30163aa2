package bagrpc_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Both protocols have the same calls, and their messages the same fields, except that bags are repeated bytes.
func TestSameProtocol(t *testing.T) {
	want := lumirpc.File_lumirpc_provider_proto.Services().ByName("ResourceProvider").Methods()
	got := bagrpc.File_bagrpc_bagrpc_proto.Services().ByName("ResourceProvider").Methods()
	expect.Equal(t, want.Len(), got.Len(), "methods")
	for i := range want.Len() {
		w, g := want.Get(i), got.ByName(want.Get(i).Name())
		if g == nil || w.IsStreamingServer() != g.IsStreamingServer() {
			t.Errorf("method %s = %v", w.Name(), g)
			continue
		}
		sameMessage(t, w.Input(), g.Input())
		sameMessage(t, w.Output(), g.Output())
	}
}

func sameMessage(t *testing.T, want, got protoreflect.MessageDescriptor) {
	if want.FullName() == got.FullName() {
		return
	}
	expect.Equal(t, want.Name(), got.Name())
	expect.Equal(t, want.Fields().Len(), got.Fields().Len(), "fields of", got.FullName())
	for i := range want.Fields().Len() {
		w := want.Fields().Get(i)
		g := got.Fields().ByNumber(w.Number())
		if g == nil || g.Name() != w.Name() {
			t.Errorf("field %d of %s is %v, want %s", w.Number(), got.FullName(), g, w.Name())
			continue
		}
		switch {
		case w.Message() != nil && w.Message().FullName() == "google.protobuf.Struct":
			if g.Kind() != protoreflect.BytesKind || !g.IsList() {
				t.Errorf("%s is %v, want repeated bytes", g.FullName(), g.Kind())
			}
		case w.Kind() != g.Kind() || w.Cardinality() != g.Cardinality() || w.IsMap() != g.IsMap():
			t.Errorf("%s is %v, want %v", g.FullName(), g.Kind(), w.Kind())
		case w.IsMap():
			sameMessage(t, w.MapValue().Message(), g.MapValue().Message())
		case w.Message() != nil:
			sameMessage(t, w.Message(), g.Message())
		}
	}
}

// The parts of a bag are merged as protobuf does.
func TestDecodeParts(t *testing.T) {
	part := func(fields map[string]any) []byte {
		return must.Get(proto.Marshal(&lumirpc.CheckRequest{Properties: must.Get(structpb.NewStruct(fields))(t)}))(t)
	}
	data := append(part(map[string]any{"a": 1.0, "b": map[string]any{"x": 1.0}}), part(map[string]any{"b": map[string]any{"y": 2.0}, "c": nil})...)
	want, got := &lumirpc.CheckRequest{}, &bagrpc.CheckRequest{}
	must.Do(t, proto.Unmarshal(data, want))
	must.Do(t, proto.Unmarshal(data, got))
	bag := must.Get(bagrpc.Decode(got.GetProperties()))(t)
	expect.Equal(t, want.GetProperties().AsMap(), bag.Struct().AsMap())
	if none := must.Get(bagrpc.Decode(got.GetOld()))(t); !none.IsZero() || bagrpc.Encode(lumi.Bag{}) != nil {
		t.Error("an absent bag is not zero")
	}
	if empty := must.Get(bagrpc.Decode(bagrpc.Encode(lumi.BagOf(&structpb.Struct{}))))(t); empty.IsZero() {
		t.Error("an empty bag is zero")
	}
}
