package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// These tests cover authors' mistakes and unusual but valid implementations.

func TestMovedSecrets(t *testing.T) {
	const secrets = `{"required": ["a", {"$sig": "$secret", "value": "hush"}],
		"tags": {"a b": {"$sig": "$secret", "value": "x"}},
		"rules": [{"protocol": "tcp", "names": [{"$sig": "$secret", "value": "x"}]}]}`
	tests := []struct {
		name  string
		check func(n *network)
		want  string // the expected value of required
	}{
		{"not at all", func(*network) {}, `["a", {"$sig": "$secret", "value": "hush"}]`},
		{"down", func(n *network) { n.Required = slices.Insert(n.Required, 0, "b") },
			`{"$sig": "$secret", "value": ["b", {"$sig": "$secret", "value": "a"}, "hush"]}`},
		{"up", func(n *network) { n.Required = n.Required[1:] }, `{"$sig": "$secret", "value": ["hush"]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
				test.check(want.Properties)
				return nil
			}})
			req := &lumi.CheckRequest{Properties: with(t, minimal, secrets)}
			resp := must.Get(p.Check(t.Context(), req))(t)
			want := with(t, minimal, secrets)
			bags.Set(&want, "required", bag(t, `{"required": `+test.want+`}`).Struct().Fields["required"])
			if !same(want, resp.Properties) {
				t.Errorf("Check returned %v, want %v", resp.Properties, want)
			}
		})
	}
}

func TestMovedComputedSecrets(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
		slices.Reverse(want.Properties.Zones)
		return nil
	}})
	resp, err := p.Update(t.Context(), &lumi.UpdateRequest{
		Old: with(t, minimal, `{"arn": "a", "zones": [{"$sig": "$secret", "value": "hush"}, "z"]}`), New: bag(t, minimal),
	})
	if err != nil || !isSecret(resp.Properties.Struct().Fields["zones"]) {
		t.Errorf("Update = %v, %v, want zones to be a secret", resp, err)
	}
}

func TestNilProperties(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{
		check: func(want *lumi.State[*network]) error { want.Properties = nil; return nil },
		create: func(want *lumi.State[*network]) (lumi.ID, error) {
			want.Properties = nil
			return "n-1", errors.New("x")
		},
	})
	props := bag(t, minimal)
	if resp, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: props}); err != nil ||
		!same(props, resp.Properties) {
		t.Errorf("Check = %v, %v, want %v", resp, err, props)
	}
	var partial *lumi.PartialError
	if _, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: props}); !errors.As(err, &partial) {
		t.Errorf("Create error = %v, want a *PartialError", err)
	}
}

func TestNilOperations(t *testing.T) {
	for want, construct := range map[string]func(){
		"lumi: no operations for resources of type feature:net:Network": func() { testnet.NewNetworkProvider(nil) },
		"lumi: no operations for resources of type feature:net:Gateway": func() { testnet.NewGatewayProvider(nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("recovered %v, want %v", got, want)
				}
			}()
			construct()
		}()
	}
}

func TestPanic(t *testing.T) {
	defer func() {
		if got := recover(); got != "no idea" {
			t.Errorf("recovered %v, want \"no idea\"", got)
		}
	}()
	p := testnet.NewNetworkProvider(&networkOps{delete: func(*lumi.State[*network]) error { panic("no idea") }})
	_, err := p.Delete(t.Context(), &lumi.DeleteRequest{Properties: bag(t, minimal)})
	t.Errorf("Delete returned %v, want a panic", err)
}

// markerOps implements no operation except Name.
type markerOps struct{ testnet.MarkerProviderOps }

func (markerOps) Name(context.Context, *lumi.State[*marker]) (string, error) { return "m", nil }

func TestOverride(t *testing.T) {
	var p lumi.ResourceProvider = testnet.NewMarkerProvider(markerOps{})
	resp, err := p.Name(t.Context(), &lumi.NameRequest{})
	if err != nil || resp.Name != "the m" {
		t.Errorf("Name = %v, %v, want \"the m\"", resp, err)
	}
}

// Concurrent calls share a provider and a bag, and the author modifies the inputs after the calls, so that the race detector
// finds shared state.
func TestConcurrentCalls(t *testing.T) {
	var kept sync.Map // states by URN
	p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
		kept.Store(want.URN, want)
		return nil
	}})
	props := with(t, full, `{"rules": [{"protocol": {"$sig": "$secret", "value": "x"}}], "tags": "$unknown"}`)
	before := text(props)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 5 {
				u := networkURN + urn.URN(fmt.Sprint(i, j))
				resp, err := p.Check(t.Context(), &lumi.CheckRequest{URN: u, Properties: props})
				if err != nil {
					t.Error(err)
					return
				}
				v, _ := kept.Load(u)
				want := v.(*lumi.State[*network])
				want.Properties.CIDR, want.Properties.Rules[0].Protocol = "changed", "changed"
				want.Properties.Policy.(map[string]any)["a"] = "changed"
				clear(want.Properties.Limits)
				clear(want.Unknown)
				expect.Equal(t, before, text(resp.Properties))
			}
		})
	}
	group.Wait()
}

func TestPrintMasksSecrets(t *testing.T) {
	refs := lumi.References{gatewayURN: {ID: "gw-1", Properties: bag(t, `{"ip": {"$sig": "$secret", "value": "hush"}}`)}}
	p := testnet.NewNetworkProvider(&networkOps{
		update: func(old, want *lumi.State[*network], diff *lumi.Diff) error {
			for _, v := range []any{old, want, *want, want.Refs, want.Refs[gatewayURN], diff, *diff, diff.Changes()} {
				for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
					if printed := fmt.Sprintf(format, v); strings.Contains(printed, "hush") {
						t.Errorf("Sprintf(%q) of %T contains a secret: %s", format, v, printed)
					}
				}
			}
			want.Properties.ARN = "\xff"
			return nil
		},
	})
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{
		Old: with(t, minimal, `{"password": "hush"}`), New: with(t, minimal, `{"password": "hush2"}`), References: refs,
	})
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if printed := fmt.Sprintf(format, err); err == nil || strings.Contains(printed, "hush") {
			t.Errorf("Sprintf(%q, err) = %s, want an error without the secret", format, printed)
		}
	}
}
