package lumi_test

import (
	"context"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/urn"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// memory is an in-memory implementation of networks. It drops properties that a cloud would not store. It is not safe for
// concurrent use.
type memory map[lumi.ID]*network

func (m memory) put(id lumi.ID, n *network) {
	stored := *n
	stored.Peer, stored.Gateway, stored.Others, stored.Known, stored.Parent = nil, "", nil, nil, nil
	stored.Logo, stored.Code, stored.Script, stored.Password, stored.Seed = nil, nil, lumi.Asset{}, nil, nil
	m[id] = &stored
}

func (m memory) ops() *networkOps {
	return &networkOps{
		create: func(want *lumi.State[*network]) (lumi.ID, error) {
			n, id := want.Properties, lumi.ID(want.Properties.Name+" "+want.Properties.CIDR)
			gateway, _ := want.Refs.Resolve(n.Gateway)
			n.ARN, n.Address, n.Token = "arn:"+string(id), ptr(string(gateway.ID)), ptr("the token of "+string(id))
			n.Zones, n.Owner = []string{"a"}, n.Gateway
			m.put(id, n)
			return id, nil
		},
		get: func(id lumi.ID, _ *lumi.State[*network]) (*network, error) {
			if n := m[id]; n != nil {
				return n, nil
			}
			return nil, lumi.ErrNotFound
		},
		update: func(old, want *lumi.State[*network], _ *lumi.Diff) error {
			m.put(old.ID, want.Properties)
			return nil
		},
		delete: func(old *lumi.State[*network]) error {
			delete(m, old.ID)
			return nil
		},
	}
}

func TestLife(t *testing.T) {
	networks, gateways := memory{}, gatewayMemory{}
	h := providertest.InProcess(t, providertest.Resources(
		testnet.NewNetworkProvider(networks.ops()), testnet.NewGatewayProvider(gateways)))

	g := h.Resource(testnet.Gateway, "#1")
	g.Create(t, providertest.Properties{"kind": testnet.External})
	if got := g.URN().Name(); got != "gw-external" {
		t.Errorf("gateway name = %q, want \"gw-external\"", got)
	}
	n := fullNetwork()
	n.Peer, n.Gateway, n.Others, n.Parent = nil, g.URN(), []urn.URN{g.URN()}, ptr(g.URN())
	n.Logo = ptr(lumi.TextAsset("logo"))
	n.Code = ptr(lumi.AssetArchive(map[string]lumi.Content{"main.go": lumi.TextAsset("package main")}))
	h.Resource(testnet.Network, "n").Life(t, providertest.Life{
		Create:   providertest.From(t, n),
		Computed: []string{testnet.Network_Address, testnet.Network_Token},
		Expect:   providertest.Properties{testnet.Network_Address: string(g.ID())},
		// Clouds do not store the owner.
		MayDiffer: []lumi.Path{testnet.Network_Owner},
		Unknown:   []lumi.Path{"rules[0].fromPort", "matrix[0][1]", `tags["a b"]`, "tree.left", "policy.a[1]"},
		Updates: []providertest.Change{
			{Set: providertest.Properties{testnet.Network_Comment: "new"}, Changes: []string{`~ comment: "" -> "new"`}},
			{Set: providertest.Properties{testnet.Network_Rules: []testnet.Rule{{Protocol: "icmp"}}, testnet.Network_Tags: nil}},
			{Set: providertest.Properties{testnet.Network_Keys: map[string]string{"k": "other"}},
				Changes: []string{"~ keys: (secret) -> (secret)"}},
		},
		Replaces: []providertest.Replacement{
			{Set: providertest.Properties{testnet.Network_CIDR: "10.1.0.0/16"}, Because: []lumi.Path{testnet.Network_CIDR}},
			{Set: providertest.Properties{testnet.Network_Seed: "t", testnet.Network_Accent: nil}, Because: []lumi.Path{"accent", "seed"}, DeleteFirst: true},
		},
	})
	g.Delete(t)
	if len(networks)+len(gateways) > 0 {
		t.Errorf("%d networks and %d gateways remain, want none", len(networks), len(gateways))
	}
}

// gatewayMemory is an in-memory implementation of gateways.
type gatewayMemory map[lumi.ID]*gateway

func (m gatewayMemory) Check(context.Context, *lumi.State[*gateway]) error { return nil }

func (m gatewayMemory) Name(_ context.Context, want *lumi.State[*gateway]) (string, error) {
	return "gw-" + string(want.Properties.Kind), nil
}

func (m gatewayMemory) Create(_ context.Context, want *lumi.State[*gateway]) (lumi.ID, error) {
	id := lumi.ID(want.URN.Name())
	want.Properties.IP = ptr("1.2.3.4")
	m[id] = want.Properties
	return id, nil
}

func (m gatewayMemory) Get(_ context.Context, id lumi.ID, _ *lumi.State[*gateway]) (*gateway, error) {
	if g := m[id]; g != nil {
		return g, nil
	}
	return nil, lumi.ErrNotFound
}

func (m gatewayMemory) Update(_ context.Context, old, want *lumi.State[*gateway], _ *lumi.Diff) error {
	m[old.ID] = want.Properties
	return nil
}

func (m gatewayMemory) Delete(_ context.Context, old *lumi.State[*gateway]) error {
	delete(m, old.ID)
	return nil
}
