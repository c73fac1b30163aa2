package provisioning

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// values generates values of every documented kind. Objects have no null fields, which would count as absent.
func values(depth int) *rapid.Generator[any] {
	text := rapid.Map(rapid.String(), func(s string) any { return s })
	plain := []*rapid.Generator[any]{
		text, rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), func(f float64) any { return f }),
		rapid.Custom(func(t *rapid.T) any {
			return provisioner.Reference{URN: urn.URN(rapid.String().Draw(t, "urn")), Property: rapid.String().Draw(t, "property")}
		}),
		// Assets are not special values, although they have a signature.
		rapid.Map(rapid.String(), func(s string) any { return map[string]any{wire.Signature: wire.Asset, "text": s} }),
	}
	if depth == 0 {
		return rapid.OneOf(plain...)
	}
	inner := values(depth - 1)
	nullable := rapid.OneOf(inner, rapid.Just[any](nil))
	list := rapid.SliceOfN(nullable, 0, 4)
	return rapid.OneOf(append(plain,
		rapid.Map(list, func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), func(m map[string]any) any { return m }),
		rapid.Map(nullable, func(v any) any { return provisioner.Secret{Value: v} }),
		rapid.Map(list, func(l []any) any { return provisioner.Interpolation{Parts: l} }),
		rapid.Map(nullable, func(v any) any { return provisioner.JSON{Value: v} }),
		rapid.Custom(func(t *rapid.T) any {
			return provisioner.Part{Of: nullable.Draw(t, "of"), Path: rapid.String().Draw(t, "path")}
		}),
	)...)
}

func properties() *rapid.Generator[provisioner.Properties] {
	return rapid.OneOf(rapid.Just[provisioner.Properties](nil), rapid.MapOfN(rapid.String(), values(3), 0, 4))
}

func TestRoundTrip(t *testing.T) {
	text := rapid.String()
	urns := rapid.Map(text, func(s string) urn.URN { return urn.URN(s) })
	resources := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *provisioner.Resource {
		return &provisioner.Resource{
			Key: text.Draw(t, "key"), URN: urns.Draw(t, "urn"), Type: tokens.Type(text.Draw(t, "type")), ID: text.Draw(t, "id"),
			Properties: properties().Draw(t, "properties"), Metadata: properties().Draw(t, "metadata"),
			Dependencies: rapid.SliceOfN(urns, 0, 3).Draw(t, "dependencies"),
		}
	}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		change := &provisioner.Change{
			Environment: text.Draw(t, "environment"), Module: text.Draw(t, "module"), Task: text.Draw(t, "task"),
			New: resources.Draw(t, "new"), Old: resources.Draw(t, "old"), Context: resources.Draw(t, "context"),
		}
		message := must.Get(Encode(change))(t)
		if diff := cmp.Diff(change, Decode(sent(t, message, &lumirpc.GraphChange{})), emptyIsNil); diff != "" {
			t.Fatalf("Decode of Encode (-want +got):\n%s", diff)
		}
		state := &provisioner.Status{
			State: rapid.SampledFrom([]provisioner.State{provisioner.Running, provisioner.Failed, provisioner.Done}).Draw(t, "state"),
			// A message cannot represent nil metadata of a resource; see emptyIsNil.
			Message: text.Draw(t, "message"), Metadata: rapid.MapOfN(text, rapid.MapOfN(text, values(3), 0, 4), 0, 4).Draw(t, "metadata"),
		}
		answer := must.Get(EncodeStatus(state))(t)
		if diff := cmp.Diff(state, DecodeStatus(sent(t, answer, &lumirpc.StatusResponse{})), emptyIsNil); diff != "" {
			t.Fatalf("DecodeStatus of EncodeStatus (-want +got):\n%s", diff)
		}
	})
}

var emptyIsNil = cmpopts.EquateEmpty()

// sent returns a message after a round trip.
func sent[M proto.Message](t *rapid.T, message, to M) M {
	must.Do(t, proto.Unmarshal(must.Get(proto.Marshal(message))(t), to))
	return to
}

func TestDecodeNull(t *testing.T) {
	message := must.Get(Encode(&provisioner.Change{New: []*provisioner.Resource{{Properties: provisioner.Properties{
		"a": nil, "b": map[string]any{"c": nil}, "d": []any{nil}, "e": provisioner.Secret{},
	}}}}))(t)
	want := provisioner.Properties{"b": map[string]any{}, "d": []any{nil}, "e": provisioner.Secret{}}
	if diff := cmp.Diff(want, Decode(message).New[0].Properties); diff != "" {
		t.Errorf("Decode of Encode (-want +got):\n%s", diff)
	}
}

func TestUnknownState(t *testing.T) {
	if got := DecodeStatus(&lumirpc.StatusResponse{State: 7}); got.State != "7" {
		t.Errorf("state = %q, want \"7\"", got.State)
	}
	if got := DecodeStatus(nil); got.State != "0" {
		t.Errorf("state = %q, want \"0\"", got.State)
	}
}

// Any message can be decoded, and the result can be encoded unless it contains NaN or infinity.
func FuzzDecode(f *testing.F) {
	object := func(fields map[string]any) *structpb.Struct {
		return must.Get(structpb.NewStruct(fields))(f)
	}
	for _, o := range []*structpb.Struct{
		nil, object(nil), {Fields: map[string]*structpb.Value{"a": nil, "b": {}}},
		object(map[string]any{"a": map[string]any{wire.Signature: wire.Secret}}),
		object(map[string]any{"a": map[string]any{wire.Signature: wire.Reference, "urn": 1}}),
		object(map[string]any{"a": map[string]any{wire.Signature: wire.Expression, "interpolate": "x"}}),
		object(map[string]any{"a": map[string]any{wire.Signature: wire.Expression, "get": nil, "path": []any{}}}),
		object(map[string]any{wire.Signature: 1.5, "b": []any{map[string]any{wire.Signature: "?"}}}),
		{Fields: map[string]*structpb.Value{"a": structpb.NewNumberValue(math.NaN())}},
	} {
		data := must.Get(proto.Marshal(&lumirpc.GraphChange{New: []*lumirpc.Resource{{Key: "k", Properties: o, Metadata: o}, {}}}))(f)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		status := &lumirpc.StatusResponse{}
		if proto.Unmarshal(data, status) == nil {
			DecodeStatus(status)
		}
		message := &lumirpc.GraphChange{}
		if proto.Unmarshal(data, message) != nil {
			return
		}
		change := Decode(message)
		again, err := Encode(change)
		if err != nil {
			return // NaN and infinity
		}
		if diff := cmp.Diff(change, Decode(again), emptyIsNil); diff != "" {
			t.Errorf("Decode of Encode (-want +got):\n%s", diff)
		}
	})
}
