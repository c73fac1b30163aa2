package lumi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

const routeURN urn.URN = "urn:lumi:test::shop:index::feature:net:Route::r1"

const fullRoute = `{
	"name": "r", "target": "$network", "backup": "urn:lumi:test::shop:index::feature:net:Route::r1", "more": ["$network"],
	"action": {"move": {"x": 1, "y": 2}},
	"actions": {"a": {"stop": {"$sig": "$secret", "value": {}}}, "b": {"grows": {"value": "v"}}},
	"hidden": {"$sig": "$secret", "value": {"move": {"x": 3, "y": 4}}}
}`

// routeOps implements routes and records the state passed to it.
type routeOps struct {
	want *lumi.State[*route]
	now  func(got *route) // called by Get with the result
}

func (o *routeOps) Check(_ context.Context, want *lumi.State[*route]) error {
	o.want = want
	return nil
}

func (o *routeOps) Create(_ context.Context, want *lumi.State[*route]) (lumi.ID, error) {
	want.Properties.Current.Move = &feature.Point{X: 5}
	return "id", nil
}

func (o *routeOps) Get(_ context.Context, _ lumi.ID, old *lumi.State[*route]) (*route, error) {
	if o.now != nil {
		o.now(old.Properties)
	}
	return old.Properties, nil
}

func (o *routeOps) Update(_ context.Context, _, want *lumi.State[*route], _ *lumi.Diff) error {
	o.want = want
	return nil
}

func (*routeOps) Delete(context.Context, *lumi.State[*route]) error { return nil }

func TestUnions(t *testing.T) {
	want := &route{
		Name: "r", Target: testnet.Target{Network: networkURN}, Backup: &testnet.Target{Route: routeURN}, More: []testnet.Target{{Network: networkURN}},
		Action: testnet.Action{Move: &feature.Point{X: 1, Y: 2}}, Hidden: &testnet.Action{Move: &feature.Point{X: 3, Y: 4}},
		Actions: map[string]testnet.Action{"a": {Stop: &feature.Empty{}}, "b": {Grow: &feature.Tree{Value: "v"}}},
	}
	var got route
	must.Do(t, lumi.Decode(bag(t, fullRoute), &got))
	expect.Equal(t, want, &got, "decoded")
	want.Current.Grow = &feature.Tree{Value: "now"}
	encoded := must.Get(lumi.Encode(want))(t)
	full := bag(t, strings.Replace(fullRoute, `"name"`, `"current": {"grows": {"value": "now"}}, "name"`, 1))
	if diff := cmp.Diff(full.Struct(), encoded.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
}

func TestUnionsInvalid(t *testing.T) {
	p := testnet.NewRouteProvider(&routeOps{})
	for _, test := range []struct{ property, value, want string }{
		{"target", `"$gateway"`, "target: expected a resource of type feature:net:Network or feature:net:Route, found a resource feature:net:Gateway \"g1\""},
		{"target", `{"$sig": "$secret", "value": "$gateway"}`, "target: expected a resource of type feature:net:Network or feature:net:Route, found a resource"},
		{"target", `5`, "target: expected a resource of type feature:net:Network or feature:net:Route, found a number 5"},
		{"target", `null`, "target: is required, but missing"},
		{"target", `"x"`, "target: expected a resource of type feature:net:Network or feature:net:Route, found a string \"x\""},
		{"more", `["$network", "$gateway"]`, "more[1]: expected a resource of type feature:net:Network or feature:net:Route, found a resource feature:net:Gateway \"g1\""},
		{"action", `{}`, "action: exactly one of move, grows, stop is required, found none"},
		{"action", `{"move": {"x": 1, "y": 2}, "stop": {}}`, "action: exactly one of move, grows, stop is required, found move, stop"},
		{"action", `"move"`, "action: expected an object, found a string \"move\""},
		{"action", `{"climb": {"value": "v"}}`, "action: exactly one of move, grows, stop is required, found none\naction.climb: no such property; it was renamed to grows"},
		{"hidden", `{"move": {"x": "secret", "y": 2}}`, "hidden.move.x: expected a number, found a string"},
	} {
		_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: with(t, fullRoute, `{"`+test.property+`": `+test.value+`}`)})
		if !errors.As(err, new(*lumi.InvalidError)) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %s\ngot  %v\nwant %s", test.property, test.value, err, test.want)
		}
	}
}

func TestUnionsEncoded(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(*route)
	}{
		{"target: exactly one variant must be set, not 0", func(r *route) { r.Target = testnet.Target{} }},
		{"target: exactly one variant must be set, not 2", func(r *route) { r.Target.Route = routeURN }},
		{"target: is not the URN of a resource of type feature:net:Route", func(r *route) { r.Target = testnet.Target{Route: networkURN} }},
		{"target: is not the URN of a resource of type feature:net:Route", func(r *route) { r.Target = testnet.Target{Route: "x"} }},
		{"more[0]: exactly one variant must be set, not 0", func(r *route) { r.More[0] = testnet.Target{} }},
		{"action: exactly one variant must be set, not 2", func(r *route) { r.Action.Stop = &feature.Empty{} }},
		{"actions.a: exactly one variant must be set, not 0", func(r *route) { r.Actions["a"] = testnet.Action{} }},
		{"current: exactly one variant must be set, not 2", func(r *route) { r.Current = testnet.Action{Move: &feature.Point{}, Stop: &feature.Empty{}} }},
	} {
		var r route
		must.Do(t, lumi.Decode(bag(t, fullRoute), &r))
		test.change(&r)
		if _, err := lumi.Encode(&r); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Encode error = %v\nwant %s", err, test.want)
		}
	}
}

func TestUnionsComputed(t *testing.T) {
	ops := &routeOps{}
	p := testnet.NewRouteProvider(ops)
	resp := must.Get(p.Create(t.Context(), &lumi.CreateRequest{URN: routeURN, Properties: bag(t, fullRoute)}))(t)
	want := bag(t, `{"current": {"move": {"x": 5, "y": 0}}}`)
	if diff := cmp.Diff(want.Struct(), resp.Properties.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("Create (-want +got):\n%s", diff)
	}
	old := with(t, fullRoute, `{"current": {"move": {"x": 5, "y": 0}}}`)
	updated := must.Get(p.Update(t.Context(), &lumi.UpdateRequest{URN: routeURN, ID: "id", Old: old, New: with(t, fullRoute, `{"backup": null}`)}))(t)
	if diff := cmp.Diff(want.Struct(), updated.Properties.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
}

func TestUnionsUnknown(t *testing.T) {
	ops := &routeOps{}
	given := with(t, fullRoute, `{"target": "$unknown", "action": {"move": "$unknown"}, "backup": {"$sig": "$secret", "value": "$unknown"}}`)
	checked := must.Get(testnet.NewRouteProvider(ops).Check(t.Context(), &lumi.CheckRequest{Properties: given}))(t)
	if diff := cmp.Diff(given.Struct(), checked.Properties.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("Check (-want +got):\n%s", diff)
	}
	unset := func(urn.URN) error { return errors.New("a variant is set") }
	if got := ops.want.Properties; got.Target.Match(unset, unset) != nil || got.Action != (testnet.Action{}) || got.Backup != nil {
		t.Errorf("properties = %+v, want no variants set", got)
	}
}

func TestUnionsStored(t *testing.T) {
	ops := &routeOps{now: func(got *route) {
		if got.Target != (testnet.Target{}) || got.Action != (testnet.Action{}) || got.Backup != nil {
			t.Errorf("properties = %+v, want no variants set", got)
		}
		got.Target.Network, got.Action.Stop = networkURN, &feature.Empty{}
	}}
	stored := with(t, fullRoute, `{"target": "$gateway", "more": ["$network"], "action": {"fly": {}}, "backup": "x",
		"actions": {"a": {"climb": {"value": "v"}}, "b": {"move": "one"}, "c": {"move": {"x": 1, "y": 1}, "stop": {}}}}`)
	resp := must.Get(testnet.NewRouteProvider(ops).Get(t.Context(), &lumi.GetRequest{URN: routeURN, ID: "id", Purpose: lumi.Refresh, Old: stored}))(t)
	want := bag(t, `{"name": "r", "more": ["$network"], "actions": {"a": {"grows": {"value": "v"}}}, "target": "$network",
		"action": {"stop": {"$sig": "$secret", "value": {}}},
		"hidden": {"$sig": "$secret", "value": {"move": {"x": 3, "y": 4}}}}`)
	if diff := cmp.Diff(want.Struct(), resp.Properties.Struct(), protocmp.Transform()); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
}

func TestUnionsRenamed(t *testing.T) {
	const way = "urn:lumi:test::shop:index::feature:net:Way::w"
	p := testnet.NewRouteProvider(&routeOps{now: func(got *route) {
		expect.Equal(t, testnet.Target{Route: way}, got.Target)
	}})
	stored := with(t, fullRoute, `{"target": "`+way+`"}`)
	resp := must.Get(p.Get(t.Context(), &lumi.GetRequest{URN: routeURN, ID: "id", Purpose: lumi.Refresh, Old: stored}))(t)
	if got := resp.Properties.Get("target"); got != way {
		t.Errorf("target = %v, want %v", got, way)
	}
	must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: stored}))(t)
}

func TestMatch(t *testing.T) {
	found := errors.New("found")
	target, action := testnet.Target{Route: routeURN}, testnet.Action{Stop: &feature.Empty{}}
	network := func(urn.URN) error { t.Error("Match called the function of another variant"); return nil }
	if err := target.Match(network, func(u urn.URN) error { return errors.Join(found, errors.New(string(u))) }); !errors.Is(err, found) {
		t.Error(err)
	}
	move := func(*feature.Point) error { t.Error("Match called the function of another variant"); return nil }
	grow := func(*feature.Tree) error { t.Error("Match called the function of another variant"); return nil }
	if err := action.Match(move, grow, func(*feature.Empty) error { return found }); !errors.Is(err, found) {
		t.Error(err)
	}
}
