package gates

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

// operations breaks rules in Check.
type operations struct{}

func (operations) Check(_ context.Context, want *lumi.State[*gate]) error {
	want.Properties.Public = new(true)
	want.Properties.Ports = append(want.Properties.Ports, PortRange{Protocol: "tcp"})
	return nil
}
func (operations) Create(context.Context, *lumi.State[*gate]) (lumi.ID, error)           { return "1", nil }
func (operations) Delete(context.Context, *lumi.State[*gate]) error                      { return nil }
func (operations) Update(_ context.Context, _, _ *lumi.State[*gate], _ *lumi.Diff) error { return nil }

func (operations) Get(_ context.Context, _ lumi.ID, old *lumi.State[*gate]) (*gate, error) {
	return old.Properties, nil
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	roundtrip.Test(t, "../idl", "gates", map[tokens.Type]func() lumi.Object{
		"testprovider:gates:Gate": func() lumi.Object { return &gate{} },
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		properties map[string]any
		want       string
	}{
		{map[string]any{"zones": []any{"a"}}, ""},
		{map[string]any{"zones": []any{"a"}, "public": true}, "a public gate needs two zones"},
		{map[string]any{"zones": []any{"a", "b"}, "public": true, "kind": "plain", "motto": "m"}, "a plain gate has no motto"},
		{map[string]any{"zones": []any{"a", "b"}, "motto": "m", "kind": nil}, "a plain gate has no motto"},
		{map[string]any{"zones": []any{}, "motto": "m", "kind": "fancy"}, ""},
		{map[string]any{"zones": []any{}, "motto": "m", "public": true}, "a plain gate has no motto\na public gate needs two zones"},
		{map[string]any{"zones": []any{}, "ports": []any{
			map[string]any{"protocol": "udp", "from": 8.0, "until": 9.0}, map[string]any{"protocol": "tcp", "from": 9.0, "until": 8.0},
			map[string]any{"protocol": "tcp", "from": 9.0}, map[string]any{"protocol": "udp", "limits": map[string]any{"rate": 11.0}},
			map[string]any{"protocol": "tcp", "from": "9", "until": 8.0},
		}}, "ports[1]: the first port is above the last\nports[2]: TCP needs both ports\n" +
			"ports[3]: the burst is \"below\" the \\rate\nports[4].from: expected a whole number, found a string \"9\""},
	} {
		test.properties["name"] = "g"
		if test.properties["ports"] == nil {
			test.properties["ports"] = []any{}
		}
		bag := lumi.BagOf(must.Get(structpb.NewStruct(test.properties))(t))
		p := NewGateProvider(operations{})
		checked, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: bag})
		var invalid *lumi.InvalidError
		got := ""
		if errors.As(err, &invalid) {
			for _, f := range invalid.Faults {
				got += "\n" + f.Error()
			}
			got = got[1:]
		} else if err != nil {
			t.Errorf("Check of %v: %v", test.properties, err)
		}
		expect.Equal(t, test.want, got, "Check")
		if err != nil {
			if _, err := p.Delete(t.Context(), &lumi.DeleteRequest{ID: "1", Properties: bag}); err != nil {
				t.Errorf("Delete: %v", err) // State may predate the rules.
			}
			continue
		}
		change := &lumi.UpdateRequest{ID: "1", Old: bag, New: checked.Properties}
		if _, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: checked.Properties}); err != nil {
			t.Errorf("Create: %v", err)
		}
		if _, err := p.Update(t.Context(), change); err != nil {
			t.Errorf("Update: %v", err)
		}
	}
}
