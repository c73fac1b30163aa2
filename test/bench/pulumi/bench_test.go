package pulumi

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/bench/machine"
)

const serverJSON = `{
	"name": "web", "image": "debian", "zone": "b", "owner": "me", "kernel": "6.1", "user": "root",
	"cores": 4, "memory": 16, "swap": 2, "public": true, "monitored": false, "spot": true,
	"disks": [{"device": "sda", "size": 100, "fast": true}, {"device": "sdb", "size": 500}, {"device": "sdc", "size": 1}],
	"tags": {"team": "web", "cost": "low", "stage": "test"}, "addresses": ["10.0.0.1", "10.0.0.2"]
}`

func serverBag(tb testing.TB) *structpb.Struct {
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON([]byte(serverJSON)); err != nil {
		tb.Fatal(err)
	}
	return s
}

func decodeLumi(bag lumi.Bag) (*machine.Properties, error) {
	s := &machine.Properties{}
	return s, lumi.Decode(bag, s)
}

// readLumi and writeLumi convert bags as package serve does.
func readLumi(wire []byte) lumi.Bag {
	object := must(property.Parse(wire))
	return lumi.BagFrom(&object)
}

func writeLumi(bag lumi.Bag) []byte { return property.Encode(bag.Object()) }

// must returns v and panics if err is not nil. TestImplementationsAgree covers the calls made by benchmarks.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func BenchmarkDecode(b *testing.B) {
	bag, text := serverBag(b), []byte(serverJSON)
	ours := lumi.BagOf(bag)
	run(b, "hand", func() { must(decodeByHand(bag)) })
	run(b, "lumi", func() { must(decodeLumi(ours)) })
	run(b, "json", func() { must(decodeJSON(text)) })
	run(b, "pulumi", func() { must(decodePulumi(bag)) })
}

func BenchmarkEncode(b *testing.B) {
	s, t := must(decodeByHand(serverBag(b))), must(decodeJSON([]byte(serverJSON)))
	run(b, "hand", func() { must(encodeByHand(s)) })
	run(b, "lumi", func() { must(lumi.Encode(s)) })
	run(b, "json", func() { must(json.Marshal(t)) })
	run(b, "pulumi", func() { must(encodePulumi(t)) })
}

// BenchmarkDecodeBytes decodes from the wire format, as encoding/json always does.
func BenchmarkDecodeBytes(b *testing.B) {
	wire, text := must(proto.MarshalOptions{Deterministic: true}.Marshal(serverBag(b))), []byte(serverJSON)
	read := func() *structpb.Struct {
		bag := &structpb.Struct{}
		if err := proto.Unmarshal(wire, bag); err != nil {
			panic(err)
		}
		return bag
	}
	run(b, "hand", func() { must(decodeByHand(read())) })
	run(b, "lumi", func() { must(decodeLumi(readLumi(wire))) })
	run(b, "json", func() { must(decodeJSON(text)) })
	run(b, "pulumi", func() { must(decodePulumi(read())) })
}

// BenchmarkEncodeBytes encodes to the wire format.
func BenchmarkEncodeBytes(b *testing.B) {
	s, t := must(decodeByHand(serverBag(b))), must(decodeJSON([]byte(serverJSON)))
	run(b, "hand", func() { must(proto.Marshal(must(encodeByHand(s)))) })
	run(b, "lumi", func() { writeLumi(must(lumi.Encode(s))) })
	run(b, "json", func() { must(json.Marshal(t)) })
	run(b, "pulumi", func() { must(proto.Marshal(must(encodePulumi(t)))) })
}

func run(b *testing.B, impl string, f func()) {
	b.Run("impl="+impl, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}

// All four implementations decode a bag to the same server and encode the server to the same bag.
func TestImplementationsAgree(t *testing.T) {
	want, wantServer := serverBag(t), must(decodeByHand(serverBag(t)))
	var wantTagged tagged
	if err := json.Unmarshal([]byte(serverJSON), &wantTagged); err != nil {
		t.Fatal(err)
	}
	server := must(decodeLumi(lumi.BagOf(want)))
	for _, test := range []struct {
		name      string
		want, got any
	}{
		{"decode lumi", wantServer, server},
		{"decode json", &wantTagged, must(decodeJSON([]byte(serverJSON)))},
		{"decode pulumi", &wantTagged, must(decodePulumi(want))},
		{"encode hand", want, must(encodeByHand(server))},
		{"encode lumi", want, must(lumi.Encode(server)).Struct()},
		{"encode pulumi", want, must(encodePulumi(&wantTagged))},
	} {
		if diff := cmp.Diff(test.want, test.got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	bag := &structpb.Struct{}
	if err := bag.UnmarshalJSON(must(json.Marshal(wantTagged))); err != nil || !proto.Equal(want, bag) {
		t.Errorf("encode json = %v, %v, want %v", bag, err, want)
	}
}

// The handwritten code reports the same faults as the runtime.
func TestHandwrittenFaults(t *testing.T) {
	for name, spoil := range map[string]func(fields map[string]*structpb.Value){
		"empty": func(f map[string]*structpb.Value) { clear(f) },
		"kinds": func(f map[string]*structpb.Value) {
			f["name"], f["cores"], f["public"] = structpb.NewBoolValue(true), structpb.NewStringValue("4"), f["cores"]
			f["spot"], f["swap"], f["user"] = f["name"], f["name"], f["name"]
		},
		"collections": func(f map[string]*structpb.Value) {
			f["disks"], f["tags"], f["addresses"] = f["name"], f["addresses"], f["tags"]
		},
		"null": func(f map[string]*structpb.Value) {
			null := structpb.NewNullValue()
			f["name"], f["kernel"], f["disks"], f["other"] = null, null, null, null
			f["addresses"].GetListValue().Values[0], f["tags"].GetStructValue().Fields["team"] = null, null
		},
		"left over": func(f map[string]*structpb.Value) {
			f["surplus"] = f["name"]
			f["disks"].GetListValue().Values[1].GetStructValue().Fields["surplus"] = f["name"]
		},
		"nested": func(f map[string]*structpb.Value) {
			disks := f["disks"].GetListValue().Values
			disks[0].GetStructValue().Fields["size"], disks[1] = f["name"], f["cores"]
			delete(disks[2].GetStructValue().Fields, "device")
			f["addresses"].GetListValue().Values[1] = f["cores"]
			f["tags"].GetStructValue().Fields["cost center"] = f["cores"]
		},
		"numbers": func(f map[string]*structpb.Value) {
			f["cores"], f["swap"] = structpb.NewNumberValue(math.NaN()), structpb.NewNumberValue(math.Inf(1))
		},
		"text": func(f map[string]*structpb.Value) {
			wrong := structpb.NewStringValue("\xff")
			f["name"], f["user"], f["addresses"].GetListValue().Values[0] = wrong, wrong, wrong
			f["tags"].GetStructValue().Fields["team"] = wrong
		},
		"unknown": func(f map[string]*structpb.Value) {
			unknown := lumi.NewUnknown()
			f["name"], f["cores"], f["disks"], f["spot"] = unknown, unknown, unknown, unknown
			f["addresses"].GetListValue().Values[0], f["tags"].GetStructValue().Fields["team"] = unknown, unknown
		},
	} {
		t.Run(name, func(t *testing.T) {
			bag := serverBag(t)
			spoil(bag.Fields)
			_, err := decodeLumi(lumi.BagOf(bag))
			var want *lumi.InvalidError
			if !errors.As(err, &want) {
				t.Fatal(err)
			}
			_, err = decodeByHand(bag)
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("decodeByHand error (-want +got):\n%s", diff)
			}
		})
	}
}
