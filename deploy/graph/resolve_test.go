package graph_test

import (
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestResolve(t *testing.T) {
	const db, b = urn.URN("urn:lumi:prod::a:index::aws:rds:Database::db"), "urn:lumi:prod::b:index::lumi:index:Module::b"
	to := func(u urn.URN) *lumigl.Vertex {
		return must.Get(lumigl.NewResource(u))(t)
	}
	used := graph.NewVersion(graph.VersionID{Module: "b", Deployment: 1}, nil)
	pending := lumigl.PropertyOf(to(db), "url")
	used.Provides = []graph.Provided{
		{Name: "known", Result: lumigl.IntOf(1)}, {Name: "later", Result: pending}, {Name: "lost"},
	}
	transition := must.Get((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: used}))(t)
	var uses []graph.Edge
	for _, name := range []string{"known", "later", "lost", "none"} {
		uses = append(uses, graph.Edge{To: used.VersionID, Constraint: graph.Constraint{Module: "b", Name: name}})
	}
	member := func(key, value string) lumigl.Value {
		return lumigl.ObjectOf(lumigl.Member{Key: key, Value: lumigl.TextOf(value)})
	}
	made := &graph.Resource{URN: db, ID: "db-1", Checked: member("engine", "postgres"), Outputs: member("address", "x.example")}
	outputs := transition.Graph.Resolve(uses, func(v *lumigl.Vertex) *graph.Resource {
		if v.URN() == db {
			return made
		}
		return nil
	})
	for _, test := range []struct {
		of       urn.URN
		property string
		want     lumigl.Value // absent if the reference is not resolved
	}{
		{db, "id", lumigl.TextOf("db-1")}, {db, "urn", lumigl.TextOf(string(db))}, {db, "engine", lumigl.TextOf("postgres")},
		{db, "address", lumigl.TextOf("x.example")}, {b, "provides.known", lumigl.IntOf(1)}, {b, "provides.later", lumigl.Value{}},
		{db, "none", lumigl.NullValue()}, {b, "provides.lost", lumigl.Value{}}, {b, "provides.none", lumigl.Value{}}, {b, "known", lumigl.Value{}}, {db + "2", "id", lumigl.Value{}},
	} {
		reference := lumigl.PropertyOf(to(test.of), test.property)
		if !test.want.Exists() {
			test.want = reference
		}
		if got, err := expr.Evaluate(reference, outputs); err != nil || !got.Equal(test.want) {
			t.Errorf("property %s of %s evaluates to %v, %v, want %v", test.property, test.of.Name(), got, err, test.want)
		}
	}
}

func TestOutputID(t *testing.T) {
	id := func(text string) lumigl.Value {
		return lumigl.ObjectOf(lumigl.Member{Key: "id", Value: lumigl.TextOf(text)})
	}
	for name, test := range map[string]struct {
		r    graph.Resource
		want string // "" if unknown
	}{
		"provider's":       {graph.Resource{ID: "db-1", Outputs: id("other")}, "db-1"},
		"not created":      {graph.Resource{}, ""},
		"noted":            {graph.Resource{ID: "key", Provisioner: "tofu", Metadata: id("db-1"), Outputs: id("db-1")}, "db-1"},
		"without metadata": {graph.Resource{ID: "key", Provisioner: "tofu", Metadata: lumigl.ObjectOf(), Outputs: lumigl.ObjectOf()}, "key"},
		"being changed":    {graph.Resource{ID: "key", Provisioner: "tofu", Outputs: id(wire.Unknown)}, ""},
		"uncertain":        {graph.Resource{ID: "key", Provisioner: "tofu"}, ""},
	} {
		value, known := test.r.Output("id")
		text, _ := value.Text()
		if known != (test.want != "") || known && text != test.want {
			t.Errorf(`%s: Output("id") = %q, %t, want %q`, name, text, known, test.want)
		}
	}
}

// Versions 1 and 2 of a module contain different resources with the same URN. Version 1 provides its own as "db", and
// version 2 as "new".
func TestUsed(t *testing.T) {
	const u urn.URN = "urn:lumi:prod::a:index::aws:rds:Database::db"
	anything := graph.Type{Form: lumigl.TextOf("any")}
	vertex := must.Get(lumigl.NewResource(u))(t)
	edge := func(d graph.Deployment, name string) graph.Edge {
		return graph.Edge{To: graph.VersionID{Module: "a", Deployment: d}, Constraint: graph.Constraint{Module: "a", Name: name, Type: anything}}
	}
	provider := func(d graph.Deployment, name string) *graph.Version {
		v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: d}, []*graph.Resource{{URN: u, Deployment: d, ID: name}})
		v.Provides = []graph.Provided{
			{Name: name, Type: anything, Result: lumigl.ReferenceTo(vertex)}, {Name: "url", Type: anything, Result: lumigl.PropertyOf(vertex, "url")},
		}
		return v
	}
	user := graph.NewVersion(graph.VersionID{Module: "b", Deployment: 4}, nil)
	user.Uses = []graph.Edge{edge(0, "db")} // keeps version 1
	g := &graph.Graph{Environment: "prod"}
	for _, v := range []*graph.Version{provider(1, "db"), user, provider(2, "new")} {
		g = must.Get(g.Deploy(graph.Update{Version: v}))(t).Graph
	}
	old, url1, now, url2, gone := edge(1, "db"), edge(1, "url"), edge(2, "new"), edge(2, "url"), edge(3, "db")
	for _, test := range []struct {
		name string
		uses []graph.Edge
		want string
	}{
		{"provided by the old version", []graph.Edge{url2, old}, "db"},
		{"provided by the new version", []graph.Edge{url1, now}, "new"},
		{"provided by both", []graph.Edge{now, old}, "new"},
		{"provided by neither", []graph.Edge{url1, url2}, "new"},
		{"a missing version", []graph.Edge{gone, url1}, "db"},
	} {
		for range 2 {
			if got := g.Used(test.uses, u); got == nil || got.ID != test.want {
				t.Errorf("%s: Used(%v) = %v, want %s", test.name, test.uses, got, test.want)
			}
			slices.Reverse(test.uses)
		}
	}
	if got := g.Used([]graph.Edge{gone}, u); got != nil {
		t.Errorf("Used() = %s for a missing version, want nil", got.ID)
	}
}
