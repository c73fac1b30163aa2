package lumi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

func TestCheckOldAndSeed(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
		n := want.Properties
		if n.Comment == nil {
			n.Comment = ptr(want.Seed.Name("net-", 8, lumi.LowerAlphanumeric))
			if want.Old != nil {
				n.Comment = want.Old.Comment
			}
		}
		return nil
	}})
	check := func(seed lumi.Seed, old lumi.Bag, props string) lumi.Bag {
		t.Helper()
		resp := must.Get(p.Check(t.Context(), &lumi.CheckRequest{Seed: seed, Old: old, Properties: with(t, minimal, props)}))(t)
		return resp.Properties
	}
	name := lumi.Seed("a").Name("net-", 8, lumi.LowerAlphanumeric)
	first := check(lumi.Seed("a"), lumi.Bag{}, `{}`)
	if got := first.Get(testnet.Network_Comment); got != name {
		t.Errorf("comment = %v, want %s", got, name)
	}
	if again := check(lumi.Seed("b"), first, `{"limit": 1}`); again.Get(testnet.Network_Comment) != name {
		t.Errorf("Check with old properties = %v, want comment %s", again, name)
	}
	if chosen := check(lumi.Seed("b"), first, `{"comment": "x"}`); chosen.Get(testnet.Network_Comment) != "x" {
		t.Errorf("Check with a given comment = %v, want comment x", chosen)
	}
	if empty := check(lumi.Seed("b"), bag(t, `{}`), `{}`); empty.Get(testnet.Network_Comment) != nil {
		t.Errorf("Check with an empty old bag = %v, want no comment", empty)
	}
}

func TestCheckOldSecrets(t *testing.T) {
	const hidden = `{"comment": {"$sig": "$secret", "value": "hush"},
		"tags": {"a": {"$sig": "$secret", "value": "hush"}, "b": "plain"},
		"required": ["x", {"$sig": "$secret", "value": "hush"}],
		"corner": {"x": 0, "y": 0, "label": {"$sig": "$secret", "value": "hush"}},
		"policy": {"a": [{"$sig": "$secret", "value": "hush"}], "b": 1}, "code": {"$sig": "$secret", "value":
		{"$sig": "$archive", "path": "hush.zip"}}, "arn": {"$sig": "$secret", "value": "arn:hush"}}`
	tests := []struct {
		name  string
		given string
		check func(n, old *network)
		want  string // in addition to given
	}{
		{"absent", `{}`, func(n, old *network) { n.Comment, n.Code = old.Comment, old.Code },
			`{"comment": {"$sig": "$secret", "value": "hush"},
				"code": {"$sig": "$secret", "value": {"$sig": "$archive", "path": "hush.zip"}}}`},
		{"given", `{"comment": "clear", "tags": {"a": "clear"}}`, func(*network, *network) {}, `{}`},
		{"given as it was", `{"comment": "hush"}`, func(n, old *network) { n.Comment = old.Comment }, `{}`},
		{"replaced", `{"comment": "clear"}`, func(n, old *network) { n.Comment = old.Comment },
			`{"comment": {"$sig": "$secret", "value": "hush"}}`},
		{"a whole map", `{}`, func(n, old *network) { n.Tags = old.Tags },
			`{"tags": {"a": {"$sig": "$secret", "value": "hush"}, "b": "plain"}}`},
		{"a part of a map", `{"tags": {"c": "d"}}`, func(n, old *network) { n.Tags["a"] = old.Tags["a"] },
			`{"tags": {"a": {"$sig": "$secret", "value": "hush"}, "c": "d"}}`},
		{"beside a secret", `{"tags": {"a": "clear"}}`, func(n, old *network) { n.Tags["b"] = old.Tags["b"] },
			`{"tags": {"a": "clear", "b": "plain"}}`},
		{"a part of a struct", `{"corner": {"x": 1, "y": 1}}`, func(n, old *network) { n.Corner.Label = old.Corner.Label },
			`{"corner": {"x": 1, "y": 1, "label": {"$sig": "$secret", "value": "hush"}}}`},
		{"elements that moved", `{"required": ["y"]}`, func(n, old *network) {
			n.Required = append(n.Required, old.Required...)
		}, `{"required": {"$sig": "$secret", "value": ["y", "x", "hush"]}}`},
		{"elements as given", `{"required": ["y", "z"]}`, func(*network, *network) {}, `{}`},
		{"inside an any", `{"policy": {"b": 2}}`, func(n, old *network) {
			n.Policy.(map[string]any)["a"] = old.Policy.(map[string]any)["a"]
		}, `{"policy": {"a": {"$sig": "$secret", "value": ["hush"]}, "b": 2}}`},
		{"another kind", `{"policy": 5}`, func(n, old *network) { n.Policy = old.Policy.(map[string]any)["a"].([]any)[0] },
			`{"policy": {"$sig": "$secret", "value": "hush"}}`},
		{"unknown", `{"comment": "$unknown"}`, func(n, old *network) { n.Comment = old.Comment }, `{}`},
		{"secret again", `{"comment": {"$sig": "$secret", "value": "x"}}`, func(n, old *network) { n.Comment = old.Comment },
			`{"comment": {"$sig": "$secret", "value": "hush"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
				test.check(want.Properties, want.Old)
				return nil
			}})
			given := with(t, minimal, test.given)
			resp := must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: given, Old: with(t, minimal, hidden)}))(t)
			compare(t, over(t, given, test.want), resp.Properties)
		})
	}
}

func TestCheckOlderState(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{check: func(want *lumi.State[*network]) error {
		if old := want.Old; old.CIDR != "10.0.0.0/8" || old.Color != "mauve" || old.Size != 0 || old.Limit != nil {
			t.Errorf("Old = %+v, want the properties of the older version", old)
		}
		return nil
	}})
	old := bag(t, `{"cidr": "10.0.0.0/8", "color": "mauve", "size": "big", "limit": [], "gone": 1}`)
	must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: bag(t, minimal), Old: old}))(t)
}

func TestRefresh(t *testing.T) {
	stored := with(t, minimal, `{"arn": {"$sig": "$secret", "value": "arn:hush"}, "token": "t", "size": null,
		"comment": {"$sig": "$secret", "value": "hush"}, "seed": {"$sig": "$secret", "value": "s"},
		"tags": {"a": {"$sig": "$secret", "value": "hush"}, "b": "plain"},
		"required": ["x", {"$sig": "$secret", "value": "hush"}], "zones": ["a", {"$sig": "$secret", "value": "z"}]}`)
	tests := []struct {
		name string
		get  func(now *network)
		want string
	}{
		{"unchanged", func(*network) {}, `{}`},
		{"changed", func(now *network) { now.Comment, now.ARN, now.Tags["a"] = ptr("new"), "arn:new", "new" },
			`{"comment": {"$sig": "$secret", "value": "new"}, "arn": {"$sig": "$secret", "value": "arn:new"},
				"tags": {"a": {"$sig": "$secret", "value": "new"}, "b": "plain"}}`},
		{"gone", func(now *network) { now.Comment, now.Tags, now.Required = nil, nil, []string{} },
			`{"comment": null, "tags": null, "required": {"$sig": "$secret", "value": []}}`},
		{"elements moved", func(now *network) { slices.Reverse(now.Required); now.Zones = now.Zones[1:] },
			`{"required": {"$sig": "$secret", "value": [  "hush", {"$sig": "$secret", "value": "x"}]},
				"zones": {"$sig": "$secret", "value": ["z"]}}`},
		{"learned", func(now *network) { now.Size, now.Limit = 3, ptr(1.0) }, `{"size": 3, "limit": 1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := testnet.NewNetworkProvider(&networkOps{get: func(id lumi.ID, old *lumi.State[*network]) (*network, error) {
				if id != "n-1" || old.ID != "n-1" || old.URN != networkURN || *old.Properties.Seed != "s" {
					t.Errorf("Get called with id %s and %+v, want the state of n-1", id, old)
				}
				if ref, ok := old.Refs.Resolve(old.Properties.Gateway); !ok || ref.ID != "gw-1" {
					t.Errorf("Resolve = %v, %v, want gw-1, true", ref, ok)
				}
				now := *old.Properties
				test.get(&now)
				return &now, nil
			}})
			resp := must.Get(p.Get(t.Context(), &lumi.GetRequest{
				ID: "n-1", Purpose: lumi.Refresh, URN: networkURN, Old: stored,
				References: lumi.References{gatewayURN: {ID: "gw-1"}},
			}))(t)
			asItWas := over(t, stored, `{"size": 0, "seed": null, "token": {"$sig": "$secret", "value": "t"}}`)
			compare(t, over(t, asItWas, test.want), resp.Properties)
		})
	}
}

func TestImport(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{get: func(id lumi.ID, old *lumi.State[*network]) (*network, error) {
		if id != "n-1" || old != nil {
			t.Errorf("Get called with %s, %v, want n-1, nil", id, old)
		}
		return &network{Name: "n", Color: feature.Red}, nil
	}})
	resp, err := p.Get(t.Context(), &lumi.GetRequest{ID: "n-1", Purpose: lumi.Import, Old: bag(t, minimal)})
	want := bag(t, `{"name": "n", "cidr": "", "size": 0, "open": false, "color": "red", "origin": {"x": 0, "y": 0}, "arn": ""}`)
	if err != nil || !same(want, resp.Properties) {
		t.Errorf("Get = %v, %v, want %v", resp, err, want)
	}
}

// Update sees no changes to ignored properties if it receives the properties returned by InspectChange.
func TestIgnoredChanges(t *testing.T) {
	const before = `{"policy": {"a": 1, "b": [1, 2]}, "comment": "OLD", "cidr": "10.0.0.0/8",
		"tags": {"a": "A", "b": "B"}, "keys": {"k": "OLD"}, "limit": 1,
		"rules": [{"protocol": "TCP", "fromPort": 1}, {"protocol": "UDP"}]}`
	tests := []struct {
		name    string
		wanted  string
		ignore  []lumi.Path
		changes []string // remaining changes
		want    string   // the expected properties to update to
	}{
		{"one of two", `{"comment": "old", "limit": 2}`, []lumi.Path{"comment"}, []string{"~ limit: 1 -> 2"},
			`{"comment": "OLD", "limit": 2}`},
		{"all", `{"comment": "old"}`, []lumi.Path{""}, nil, `{"keys": {"$sig": "$secret", "value": {"k": "OLD"}}}`},
		{"added", `{"accent": "red"}`, []lumi.Path{"accent"}, nil, `{"accent": null}`},
		{"removed", `{"comment": null}`, []lumi.Path{"comment"}, nil, `{}`},
		{"replacing property", `{"cidr": "010.0.0.0/8"}`, []lumi.Path{"cidr"}, nil, `{}`},
		{"a part", `{"tags": {"a": "a", "b": "b"}}`, []lumi.Path{"tags.a"}, []string{`~ tags.b: "B" -> "b"`},
			`{"tags": {"a": "A", "b": "b"}}`},
		{"a part of an element", `{"rules": [{"protocol": "tcp", "fromPort": 2}, {"protocol": "udp"}]}`,
			[]lumi.Path{"rules[0].protocol", "rules[1]"}, []string{"~ rules[0].fromPort: 1 -> 2"},
			`{"rules": [{"protocol": "TCP", "fromPort": 2}, {"protocol": "UDP"}]}`},
		{"a secret", `{"keys": {"k": "new"}}`, []lumi.Path{"keys"}, nil,
			`{"keys": {"$sig": "$secret", "value": {"k": "OLD"}}}`},
		{"unknown", `{"comment": "$unknown", "limit": "$unknown"}`, []lumi.Path{"comment"},
			[]string{"~ limit: 1 -> (not known yet)"}, `{"comment": "OLD", "limit": "$unknown"}`},
		{"no change", `{}`, []lumi.Path{"comment", "accent", "nothing"}, nil, `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var updated *lumi.Diff
			p := testnet.NewNetworkProvider(&networkOps{
				inspect: func(_, _ *lumi.State[*network], diff *lumi.Diff) error {
					for _, path := range test.ignore {
						diff.Ignore(path)
					}
					return nil
				},
				update: func(_, _ *lumi.State[*network], diff *lumi.Diff) error { updated = diff; return nil },
			})
			old := with(t, minimal, before)
			wanted := over(t, old, test.wanted)
			resp := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{ID: "n-1", Old: old, New: wanted}))(t)
			if diff := cmp.Diff(test.changes, lines(resp.Changes)); diff != "" || len(resp.Replaces) > 0 {
				t.Errorf("Replaces = %v, want none; changes (-want +got):\n%s", resp.Replaces, diff)
			}
			compare(t, over(t, old, test.want), resp.Properties)
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: old, New: resp.Properties})
			if test.name == "unknown" {
				if !errors.As(err, new(*lumi.InvalidError)) {
					t.Errorf("Update error = %v, want an *InvalidError", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			expect.Equal(t, test.changes, lines(updated.Changes()), "the update changes")
		})
	}
}

func TestDeleteBeforeReplace(t *testing.T) {
	var first bool
	p := testnet.NewNetworkProvider(&networkOps{inspect: func(_, _ *lumi.State[*network], diff *lumi.Diff) error {
		if first {
			diff.DeleteBeforeReplace()
		}
		return nil
	}})
	for _, first = range []bool{false, true} {
		resp, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{
			Old: bag(t, minimal), New: with(t, minimal, `{"cidr": "10.1.0.0/16"}`),
		})
		if err != nil || resp.DeleteBeforeReplace != first || !slices.Equal(resp.Replaces, []lumi.Path{"cidr"}) {
			t.Errorf("InspectChange = %+v, %v, want DeleteBeforeReplace %v, Replaces [cidr]", resp, err, first)
		}
	}
}

func TestIgnoredAddition(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{inspect: func(_, _ *lumi.State[*network], diff *lumi.Diff) error {
		diff.Ignore(testnet.Network_Size)
		return nil
	}})
	_, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{
		Old: over(t, bag(t, minimal), `{"size": null}`), New: bag(t, minimal),
	})
	want := "the provider returned an invalid result: size: is required, but missing"
	if err == nil || err.Error() != want || !errors.As(err, new(*lumi.OutputError)) {
		t.Errorf("InspectChange error = %v\nwant %s", err, want)
	}
}
