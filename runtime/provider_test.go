package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// networkOps implements networks with the given functions. Operations without a function do nothing.
type networkOps struct {
	check   func(want *lumi.State[*network]) error
	create  func(want *lumi.State[*network]) (lumi.ID, error)
	get     func(id lumi.ID, old *lumi.State[*network]) (*network, error)
	inspect func(old, want *lumi.State[*network], diff *lumi.Diff) error
	update  func(old, want *lumi.State[*network], diff *lumi.Diff) error
	delete  func(old *lumi.State[*network]) error
}

func (o *networkOps) Check(_ context.Context, want *lumi.State[*network]) error {
	if o.check == nil {
		return nil
	}
	return o.check(want)
}

func (o *networkOps) Create(_ context.Context, want *lumi.State[*network]) (lumi.ID, error) {
	return o.create(want)
}

func (o *networkOps) Get(_ context.Context, id lumi.ID, old *lumi.State[*network]) (*network, error) {
	return o.get(id, old)
}

func (o *networkOps) InspectChange(_ context.Context, old, want *lumi.State[*network], diff *lumi.Diff) error {
	if o.inspect == nil {
		return nil
	}
	return o.inspect(old, want, diff)
}

func (o *networkOps) Update(_ context.Context, old, want *lumi.State[*network], diff *lumi.Diff) error {
	return o.update(old, want, diff)
}

func (o *networkOps) Delete(_ context.Context, old *lumi.State[*network]) error { return o.delete(old) }

var _ lumi.ResourceProvider = testnet.NewNetworkProvider(&networkOps{})

func TestCheckRoundTrip(t *testing.T) {
	props := with(t, full, `{
		"cidr": "$unknown", "rules": [{"protocol": "tcp", "fromPort": "$unknown"}, "$unknown"], "tags": "$unknown",
		"limits": {"low": "$unknown"}, "policy": {"a": ["$unknown", {"$sig": "$secret", "value": "hush"}]},
		"comment": {"$sig": "$secret", "value": "hush"}, "color": {"$sig": "$secret", "value": "red"},
		"gateway": "$unknown", "script": {"$sig": "$asset", "text": "$unknown"}, "password": "$unknown",
		"keys": {"$sig": "$secret", "value": "$unknown"}
	}`)
	before := lumi.BagOf(proto.CloneOf(props.Struct()))
	p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
		got := want.Unknown.Sorted()
		expect.Equal(t, []lumi.Path{
			"cidr", "gateway", "keys", "limits.low", "password", "policy.a[0]", "rules[0].fromPort", "rules[1]", "script",
			"tags",
		}, got, "unknown")
		if *want.Properties.Comment != "hush" || want.Properties.Color != feature.Red {
			t.Errorf("secrets were not unwrapped: %+v", want.Properties)
		}
		if !want.Unknown.Has(testnet.Network_CIDR) || want.Unknown.Has(testnet.Network_Rules) || !want.Unknown.Within(testnet.Network_Rules) ||
			!want.Unknown.Has("rules[1].protocol") || want.Unknown.Within(testnet.Network_Comment) {
			t.Errorf("Unknown = %v, want cidr and parts of rules", got)
		}
		return nil
	}})
	resp := must.Get(p.Check(t.Context(), &lumi.CheckRequest{URN: networkURN, Properties: props}))(t)
	expect.Equal(t, text(props), text(resp.Properties))
	secrets := map[string]bool{
		"comment": true, "color": true, "keys": true, "cidr": false, "password": false, "name": false, "seed": false,
	}
	for name, want := range secrets {
		if got := isSecret(resp.Properties.Struct().Fields[name]); got != want {
			t.Errorf("%s is a secret: %v, want %v", name, got, want)
		}
	}
	part := resp.Properties.Struct().Fields["policy"].GetStructValue().Fields["a"].GetListValue().Values[1]
	if !isSecret(part) {
		t.Errorf("policy.a[1] = %v, want a secret", part)
	}
	if !same(before, props) {
		t.Error("Check modified its request, want it unchanged")
	}
}

func isSecret(v *structpb.Value) bool {
	return v.GetStructValue().GetFields()[wire.Signature].GetStringValue() == wire.Secret
}

func TestCheckSetsNetworkProperties(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
		if want.Unknown != nil {
			t.Errorf("Unknown = %v, want nil", want.Unknown)
		}
		want.Properties.Comment, want.Properties.ARN = ptr("filled"), "not an input"
		return nil
	}})
	resp := must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: bag(t, minimal)}))(t)
	want := text(with(t, minimal, `{"comment": "filled"}`))
	expect.Equal(t, want, text(resp.Properties))
}

func TestCheckFaults(t *testing.T) {
	down := errors.New("the cloud is down")
	tests := []struct {
		name  string
		err   error
		want  string
		fault bool
	}{
		{"one", lumi.Faultf(testnet.Network_CIDR, "is %s", "taken"), "cidr: is taken", true},
		{"two", errors.Join(lumi.Faultf("rules[0]", "x"), lumi.Faultf("", "y")), "rules[0]: x\ny", true},
		{"no faults", &lumi.InvalidError{}, "invalid properties", true},
		{"no fault", down, "the cloud is down", false},
		{"both", errors.Join(lumi.Faultf("rules[0]", "x"), down), "rules[0]: x\nthe cloud is down", true},
		{"wrapped", fmt.Errorf("rules: %w", lumi.Faultf("rules[0]", "x")), "rules[0]: rules: x", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := testnet.NewNetworkProvider(&networkOps{check: func(*lumi.State[*network]) error { return test.err }})
			_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: bag(t, minimal)})
			var invalid *lumi.InvalidError
			if err == nil || err.Error() != test.want || errors.As(err, &invalid) != test.fault {
				t.Errorf("Check error = %T %v, want %s", err, err, test.want)
			}
		})
	}
}

func TestName(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{})
	tests := []struct{ name, want, err string }{
		{`"n"`, "n", ""},
		{`""`, "", "name: is empty"},
		{`"a\u0007"`, "", "name: contains control characters"},
		{`"$unknown"`, "", "name: must be known here, but is not known yet"},
		{`{"$sig": "$secret", "value": "n"}`, "",
			"name: is part of the resource's URN and must not be a secret"},
	}
	for _, test := range tests {
		resp, err := p.Name(t.Context(), &lumi.NameRequest{Properties: with(t, minimal, `{"name": `+test.name+`}`)})
		switch {
		case err != nil && err.Error() != test.err:
			t.Errorf("Name of %s returned %v, want %s", test.name, err, test.err)
		case err == nil && resp.Name != test.want:
			t.Errorf("Name of %s = %s, want %s", test.name, resp.Name, test.want)
		}
	}
}

// gatewayOps names gateways by their kind.
type gatewayOps struct{ name string }

func (o gatewayOps) Name(_ context.Context, want *lumi.State[*gateway]) (string, error) {
	if want.Unknown.Has(testnet.Gateway_Kind) {
		return "", lumi.Faultf(testnet.Gateway_Kind, "must be known to name the gateway")
	}
	return o.name + string(want.Properties.Kind), nil
}
func (gatewayOps) Check(context.Context, *lumi.State[*gateway]) error             { return nil }
func (gatewayOps) Create(context.Context, *lumi.State[*gateway]) (lumi.ID, error) { return "", nil }
func (gatewayOps) Get(context.Context, lumi.ID, *lumi.State[*gateway]) (*gateway, error) {
	return nil, nil
}
func (gatewayOps) Update(context.Context, *lumi.State[*gateway], *lumi.State[*gateway], *lumi.Diff) error {
	return nil
}
func (gatewayOps) Delete(context.Context, *lumi.State[*gateway]) error { return nil }

func TestNameByAuthor(t *testing.T) {
	p := testnet.NewGatewayProvider(gatewayOps{"gw-"})
	resp, err := p.Name(t.Context(), &lumi.NameRequest{Properties: bag(t, `{"kind": "internal"}`)})
	if err != nil || resp.Name != "gw-internal" {
		t.Errorf("Name = %v, %v, want gw-internal", resp, err)
	}
	_, err = p.Name(t.Context(), &lumi.NameRequest{Properties: bag(t, `{"kind": "$unknown"}`)})
	if err == nil || err.Error() != "kind: must be known to name the gateway" {
		t.Errorf("Name of an unknown kind returned %v, want an error for kind", err)
	}
	p = testnet.NewGatewayProvider(gatewayOps{"\n"})
	_, err = p.Name(t.Context(), &lumi.NameRequest{Properties: bag(t, `{"kind": "internal"}`)})
	if !errors.As(err, new(*lumi.OutputError)) {
		t.Errorf("Name error = %v, want an *OutputError", err)
	}
}

func TestEmptyResults(t *testing.T) {
	p := testnet.NewGatewayProvider(gatewayOps{})
	var output *lumi.OutputError
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, `{"kind": "internal"}`)})
	if !errors.As(err, &output) || !strings.Contains(err.Error(), "the id is empty") {
		t.Errorf("Create error = %v, want an *OutputError for the empty id", err)
	}
	_, err = p.Get(t.Context(), &lumi.GetRequest{ID: "x"})
	if !errors.As(err, &output) || !strings.Contains(err.Error(), "neither properties nor an error") {
		t.Errorf("Get error = %v, want an *OutputError", err)
	}
}

func TestCreate(t *testing.T) {
	refs := lumi.References{gatewayURN: {ID: "gw-0abc", Properties: bag(t, `{"kind": "external", "ip": "1.2.3.4"}`)}}
	p := testnet.NewNetworkProvider(&networkOps{create: func(want *lumi.State[*network]) (lumi.ID, error) {
		n := want.Properties
		if want.URN != networkURN || *n.Password != "hunter2" {
			t.Errorf("Create called with %+v, want URN %s, password hunter2", want, networkURN)
		}
		ref, ok := want.Refs.Resolve(n.Gateway)
		var g gateway
		if err := ref.Decode(&g); err != nil || !ok || ref.ID != "gw-0abc" || *g.IP != "1.2.3.4" {
			t.Errorf("Resolve = %v, %v, Decode error = %v, want gw-0abc with IP 1.2.3.4", ref, ok, err)
		}
		if _, ok := want.Refs.Resolve(networkURN); ok {
			t.Error("Resolve of a missing resource returned true, want false")
		}
		n.ARN, n.Token, n.Zones = "arn:n", ptr("t0ken"), []string{"a"}
		return "n-1", nil
	}})
	resp := must.Get(p.Create(t.Context(), &lumi.CreateRequest{URN: networkURN, Properties: bag(t, full), References: refs}))(t)
	want := bag(t, `{"arn": "arn:n", "token": {"$sig": "$secret", "value": "t0ken"}, "zones": ["a"]}`)
	if resp.ID != "n-1" || !same(want, resp.Properties) {
		t.Errorf("Create = %s %v, want n-1 %v", resp.ID, resp.Properties, want)
	}
}

func TestCreateRefusesUnknown(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: with(t, minimal, `{"cidr": "$unknown"}`)})
	if !errors.As(err, new(*lumi.InvalidError)) || err.Error() != "cidr: must be known here, but is not known yet" {
		t.Errorf("Create error = %v, want an *InvalidError for cidr", err)
	}
}

func TestGet(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{get: func(id lumi.ID, _ *lumi.State[*network]) (*network, error) {
		if id != "n-1" {
			return nil, lumi.ErrNotFound
		}
		n := fullNetwork()
		n.ARN, n.Gateway = "arn:n", ""
		return n, nil
	}})
	resp := must.Get(p.Get(t.Context(), &lumi.GetRequest{ID: "n-1"}))(t)
	// In properties are not returned, and no gateway with the author's id is known.
	want := with(t, full, `{"arn": "arn:n", "password": null, "seed": null, "gateway": null}`)
	if !same(want, resp.Properties) {
		t.Errorf("Get returned %v, want %v", resp.Properties, want)
	}
	if _, err := p.Get(t.Context(), &lumi.GetRequest{ID: "n-2"}); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Get error = %v, want ErrNotFound", err)
	}
}

func TestInspectChange(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{inspect: func(old, want *lumi.State[*network], diff *lumi.Diff) error {
		if old.ID != "n-1" || want.ID != "n-1" || old.Properties.ARN != "arn:n" || want.Properties.ARN != "arn:n" {
			t.Errorf("InspectChange called with %+v and %+v, want id n-1, ARN arn:n", old, want)
		}
		if !diff.Changed(testnet.Network_Rules) || !diff.Changed("rules[0].fromPort") || diff.Changed("rules[0].protocol") ||
			diff.Changed(testnet.Network_Name) || diff.Changed(testnet.Network_ARN) {
			t.Errorf("diff =\n%s\nwant a change of rules[0].fromPort", diff)
		}
		diff.Replace(testnet.Network_Rules)
		diff.Replace(testnet.Network_Name) // unchanged
		if strings.Contains(diff.String(), "hush") {
			t.Errorf("the diff contains a secret:\n%s", diff)
		}
		if !strings.Contains(diff.String(), "~ rules[0].fromPort: 1 -> 2 (replaces)\n") {
			t.Errorf("diff =\n%s\nwant it to show the replacement", diff)
		}
		return nil
	}})
	resp := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{
		ID: "n-1",
		Old: with(t, minimal, `{"arn": "arn:n", "rules": [{"protocol": "tcp", "fromPort": 1}], "tags": {"a": "1"},
			"keys": {"k": "hush"}, "accent": "red", "password": {"$sig": "$secret", "value": "same"}, "gone": true}`),
		New: with(t, minimal, `{"rules": [{"protocol": "tcp", "fromPort": 2}], "limit": "$unknown",
			"keys": {"k": "hush2"}, "comment": {"$sig": "$secret", "value": "hush"}, "cidr": "10.1.0.0/16",
			"password": "same", "policy": {"a": {"$sig": "$secret", "value": "hush"}}}`),
	}))(t)
	var lines []string
	for _, c := range resp.Changes {
		lines = append(lines, c.String())
		if c.Secret && (c.Old != nil || c.New != nil) {
			t.Errorf("change of %s retains a secret, want nil values", c.Path)
		}
	}
	want := []string{
		`- accent: "red"`,
		`~ cidr: "10.0.0.0/8" -> "10.1.0.0/16"`,
		`+ comment: (secret)`,
		`~ keys: (secret) -> (secret)`,
		`+ limit: (not known yet)`,
		`+ policy: (secret)`,
		`~ rules[0].fromPort: 1 -> 2`,
		`- tags: {"a":"1"}`,
	}
	expect.Equal(t, want, lines, "changes")
	if want := []lumi.Path{"accent", "cidr", "rules"}; !slices.Equal(want, resp.Replaces) {
		t.Errorf("Replaces = %v, want %v", resp.Replaces, want)
	}
}

// State stored under an older IDL can be decoded.
func TestOlderState(t *testing.T) {
	old := bag(t, `{"name": "n", "gone": {"$sig": "x"}, "color": "mauve", "size": "big", "rules": [null, {"port": 1}],
		"peer": "not a urn", "colors": {"mauve": "m"}, "limits": {"a": 5}, "policy": {"x": {"$sig": "y"}}, "arn": "arn:n"}`)
	p := testnet.NewNetworkProvider(&networkOps{
		delete: func(old *lumi.State[*network]) error {
			n := old.Properties
			if old.ID != "n-1" || old.Token != "d" || n.Name != "n" || n.Color != "mauve" || n.Size != 0 || n.Peer != nil || n.ARN != "arn:n" {
				t.Errorf("Delete called with %+v, want the stored properties", n)
			}
			return lumi.ErrNotFound
		},
		update: func(old, want *lumi.State[*network], diff *lumi.Diff) error { return nil },
	})
	must.Get(p.Delete(t.Context(), &lumi.DeleteRequest{ID: "n-1", Properties: old, Token: "d"}))(t)
	resp := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: old, New: bag(t, minimal)}))(t)
	var added []lumi.Path
	for _, c := range resp.Changes {
		if c.Kind == lumi.Added {
			added = append(added, c.Path)
		}
	}
	want := []lumi.Path{"cidr", "document", "gateway", "open", "origin", "required", "script", "size"}
	if !slices.Equal(want, added) {
		t.Errorf("changes = %v, want %v", added, want)
	}
}

func TestUpdate(t *testing.T) {
	old := with(t, minimal, `{"arn": "arn:n", "address": {"$sig": "$secret", "value": "1.2.3.4"}, "limit": 1}`)
	p := testnet.NewNetworkProvider(&networkOps{update: func(old, want *lumi.State[*network], diff *lumi.Diff) error {
		if *old.Properties.Limit != 1 || *want.Properties.Limit != 2 || diff.String() != "~ limit: 1 -> 2\n" {
			t.Errorf("diff = %v, want limit 1 -> 2", diff)
		}
		if want.Token != "u" {
			t.Errorf("Token = %q, want u", want.Token)
		}
		want.Properties.Zones = []string{"z"}
		return nil
	}})
	resp := must.Get(p.Update(t.Context(), &lumi.UpdateRequest{
		ID: "n-1", Old: old, New: with(t, minimal, `{"limit": 2}`), Token: "u",
	}))(t)
	want := bag(t, `{"arn": "arn:n", "address": {"$sig": "$secret", "value": "1.2.3.4"}, "zones": ["z"]}`)
	if !same(want, resp.Properties) {
		t.Errorf("Update returned %v, want %v", resp.Properties, want)
	}
}

func TestUpdateRefusesReplacement(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{update: func(_, _ *lumi.State[*network], _ *lumi.Diff) error {
		t.Error("Update called the author's code, want a *ReplaceError before")
		return nil
	}})
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{
		Old: bag(t, minimal), New: with(t, minimal, `{"cidr": "x", "accent": "red"}`),
	})
	var replace *lumi.ReplaceError
	if !errors.As(err, &replace) || err.Error() != "changing accent, cidr requires a replacement, not an update" {
		t.Errorf("Update error = %v, want a *ReplaceError for accent and cidr", err)
	}
}

func TestToken(t *testing.T) {
	if got := testnet.NewNetworkProvider(&networkOps{}).Token(); testnet.Network != "feature:net:Network" || got != testnet.Network {
		t.Errorf("Token() = %s, want feature:net:Network", got)
	}
}
