package graph_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestReferentsOf(t *testing.T) {
	const u, moved urn.URN = "urn:lumi:prod::a:index::x:m:Db::main", "urn:lumi:prod::a:index::x:m:Db::other"
	vertex := func(u urn.URN) *lumigl.Vertex {
		return must.Get(lumigl.NewResource(u))(t)
	}
	properties := lumigl.ObjectOf(lumigl.Member{Key: "on", Value: lumigl.ListOf(lumigl.ReferenceTo(vertex(u)))})
	referents := graph.ReferentsOf(properties, func(urn.URN) string { return "db-1" })
	if unknown := graph.ReferentsOf(properties, func(urn.URN) string { return "" }); unknown.Exists() {
		t.Errorf("ReferentsOf() = %v for a resource without an ID, want an absent value", unknown)
	}
	user := &graph.Resource{URN: "urn:lumi:prod::a:index::x:m:Table::t", Deployment: 1, ID: "t-1", Checked: properties, Referents: referents}
	for _, test := range []struct {
		name string
		of   *graph.Resource
		want map[urn.URN]string
	}{
		{"as it was sent", user, map[urn.URN]string{u: "db-1"}},
		{"after a move", user.Retarget(func(*lumigl.Vertex) *lumigl.Vertex { return vertex(moved) }), map[urn.URN]string{moved: "db-1"}},
		{"one of two", &graph.Resource{Referents: referents.With("x:m:Db db-2", referents.Get("x:m:Db db-1"))}, map[urn.URN]string{u: "db-2 or db-1"}},
		{"not known", &graph.Resource{}, nil},
	} {
		if got := test.of.ReferentIDs(); !maps.Equal(got, test.want) {
			t.Errorf("%s: ReferentIDs() = %v, want %v", test.name, got, test.want)
		}
	}
	g := &graph.Graph{Environment: "prod"}
	update := must.Get(g.Deploy(graph.Update{Version: graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{user})}))(t)
	users := update.Graph.Users()
	for id, want := range map[string]int{"db-1": 1, "db-2": 0} {
		if got := users(&graph.Resource{URN: u, Deployment: 1, ID: id}); len(got) != want {
			t.Errorf("Users()(%s) returned %d resources, want %d", id, len(got), want)
		}
	}
	if r := update.Graph.WithID("x:m:Table", "t-1"); r == nil || r.URN != user.URN {
		t.Errorf(`WithID("x:m:Table", "t-1") = %v, want %s`, r, user.URN)
	}
	if r := update.Graph.WithID("x:m:Db", "t-1"); r != nil {
		t.Errorf(`WithID("x:m:Db", "t-1") = %v, want nil`, r)
	}
}

func TestSourcesOf(t *testing.T) {
	var w world
	must.Get(w.run(`
		deploy a db lb(db) =foo:lb =bar()
		deploy b a.foo a.bar()`))(t)
	module := must.Get(lumigl.NewResource("urn:lumi:dev::a:index::lumi:index:Module::a"))(t)
	for property, want := range map[string][]string{"provides.foo": {"t:i:T a.lb:1"}, "provides.bar": nil, "provides.none": nil, "foo": nil} {
		properties := lumigl.ObjectOf(
			lumigl.Member{Key: "x", Value: lumigl.PropertyOf(module, property)}, lumigl.Member{Key: "y", Value: lumigl.PropertyOf(module, property)},
		)
		if got := w.g.SourcesOf(properties, w.g.Newest("b").Uses); !slices.Equal(got, want) {
			t.Errorf("SourcesOf() = %q for a reference to %s, want %q", got, property, want)
		}
	}
}

// An unread property always differs from the desired property.
func TestBefore(t *testing.T) {
	text := func(key, value string) lumigl.Member {
		return lumigl.Member{Key: key, Value: lumigl.TextOf(value)}
	}
	r := &graph.Resource{Checked: lumigl.ObjectOf(text("size", "1"), text("mode", "x")), Unread: []string{"mode"}}
	for name, test := range map[string]struct{ desired, want lumigl.Value }{
		"kept":        {lumigl.ObjectOf(text("size", "1"), text("mode", "x")), lumigl.ObjectOf(text("size", "1"))},
		"removed":     {lumigl.ObjectOf(text("size", "1")), r.Checked},
		"all of them": {lumigl.ObjectOf(), r.Checked},
	} {
		if got := r.Before(test.desired); !got.Equal(test.want) {
			t.Errorf("%s: Before() = %v, want %v", name, got, test.want)
		}
	}
}
