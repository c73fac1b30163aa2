package lumi_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// object returns an object with one field. Unlike JSON, it can represent any value.
func object(key string, v *structpb.Value) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{key: v}})
}

// Keys that would not survive a round trip are faults in the program's properties.
func TestReservedKeys(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{})
	x := structpb.NewStringValue("x")
	tests := []struct {
		property, key, want string
		value               *structpb.Value
	}{
		{"tags", wire.Unknown, `tags["` + wire.Unknown + `"]: is the reserved string`, x},
		{"tags", "\xff", `tags["\xff"]: is not valid UTF-8`, x},
		{"policy", wire.Unknown, `policy["` + wire.Unknown + `"]: is the reserved string`, x},
		{"policy", "\xff", `policy["\xff"]: is not valid UTF-8`, x},
		{"limits", "\xff", `limits["\xff"]: is not valid UTF-8`, object("x", x)},
	}
	for _, test := range tests {
		props := bag(t, minimal)
		bags.Set(&props, test.property, object(test.key, test.value))
		_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: props})
		if !errors.As(err, new(*lumi.InvalidError)) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("Check error = %v\nwant %s", err, test.want)
		}
		old := &lumi.InspectChangeRequest{Old: props, New: bag(t, minimal)}
		if _, err := p.InspectChange(t.Context(), old); err != nil {
			t.Errorf("InspectChange with %s in state returned %v, want nil", test.property, err)
		}
	}
	_, err := lumi.Encode(&network{Policy: map[string]any{wire.Signature: "x"}})
	if err == nil || !strings.Contains(err.Error(), `policy["`+wire.Signature+`"]: is a reserved key`) {
		t.Errorf("Encode error = %v, want a reserved key", err)
	}
}

func TestManyFaults(t *testing.T) {
	list, table := &structpb.ListValue{}, map[string]*structpb.Value{}
	for range 100_000 {
		list.Values = append(list.Values, structpb.NewBoolValue(true))
		table[strings.Repeat("k", len(list.Values)%1000)] = structpb.NewBoolValue(true)
	}
	for name, v := range map[string]*structpb.Value{
		"required": structpb.NewListValue(list),
		"tags":     structpb.NewStructValue(&structpb.Struct{Fields: table}),
	} {
		props := bag(t, minimal)
		bags.Set(&props, name, v)
		var invalid *lumi.InvalidError
		if err := lumi.Decode(props, &network{}); !errors.As(err, &invalid) || len(invalid.Faults) != 101 {
			t.Fatalf("%s: Decode error = %v, want 101 faults", name, err)
		}
		if last := invalid.Faults[100].Error(); last != "there may be more errors" {
			t.Errorf("%s: last fault = %q, want \"there may be more errors\"", name, last)
		}
		if n := len(invalid.Error()); n > 20_000 {
			t.Errorf("%s: error message has %d bytes, want at most 20,000", name, n)
		}
	}
}

func TestLongKeys(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	props := bag(t, minimal)
	bags.Set(&props, long, structpb.NewBoolValue(true))
	err := lumi.Decode(props, &network{})
	if want := `["` + strings.Repeat("k", 80) + `…"]: no such property`; err == nil || err.Error() != want {
		t.Errorf("Decode error = %.200v, want %s", err, want)
	}
}

func TestEncodeCycle(t *testing.T) {
	circle := map[string]any{}
	circle["a"], circle["b"] = circle, []any{circle, circle}
	if _, err := lumi.Encode(&network{Policy: circle}); !errors.As(err, new(*lumi.OutputError)) {
		t.Errorf("Encode of a cyclic value returned %v, want an *OutputError", err)
	}
}

func TestCheckLargeValues(t *testing.T) {
	list := &structpb.ListValue{}
	for range 200_000 {
		list.Values = append(list.Values, structpb.NewStringValue("x"))
	}
	props := with(t, minimal, `{"size": 0}`)
	bags.Set(&props, "size", structpb.NewNumberValue(math.Copysign(0, -1)))
	bags.Set(&props, "required", structpb.NewListValue(list))
	bags.Set(&props, "comment", structpb.NewStringValue(strings.Repeat("x", 64<<20)))
	p := testnet.NewNetworkProvider(&networkOps{})
	resp := must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: props}))(t)
	got := resp.Properties.Struct().Fields
	if len(got["required"].GetListValue().Values) != 200_000 || len(got["comment"].GetStringValue()) != 64<<20 ||
		!math.Signbit(got["size"].GetNumberValue()) {
		t.Error("Check changed a value, want all unchanged")
	}
}

// Values without a kind, which JSON cannot represent, count as absent.
func TestMissingKinds(t *testing.T) {
	bare := map[string]*structpb.Value{
		"tags": object("a", nil), "colors": object("red", &structpb.Value{}), "comment": {}, "policy": nil,
		"rules":  {Kind: &structpb.Value_ListValue{}},
		"limits": {Kind: &structpb.Value_StructValue{}},
	}
	props := bag(t, minimal)
	for name, v := range bare {
		bags.Set(&props, name, v)
	}
	got := &network{}
	must.Do(t, lumi.Decode(props, got))
	want := &network{}
	must.Do(t, lumi.Decode(with(t, minimal, `{"tags": {}, "colors": {}, "rules": [], "limits": {}}`), want))
	if diff := cmp.Diff(want, got, sameNetwork); diff != "" {
		t.Errorf("Decode (-want +got):\n%s", diff)
	}
	bags.Set(&props, "required", structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{nil}}))
	if err := lumi.Decode(props, got); err == nil || err.Error() != "required[0]: an element of a list cannot be null" {
		t.Errorf("Decode error = %v, want a null element", err)
	}
	for name, err := range map[string]error{
		"no bag":      lumi.Decode(lumi.Bag{}, &gateway{}),
		"no fields":   lumi.Decode(lumi.BagOf(&structpb.Struct{}), &gateway{}),
		"no property": lumi.Decode(lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{"kind": nil}}), &gateway{}),
	} {
		if err == nil || err.Error() != "kind: is required, but missing" {
			t.Errorf("%s: Decode error = %v, want a missing kind", name, err)
		}
	}
}
