package graph_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Refresh evaluates provided values again, breaks the uses that they no longer satisfy, and changes nothing else.
func TestRefresh(t *testing.T) {
	value := func(text string) lumigl.Value { return must.Get(lumigl.Parser{}.ParseValue(text))(t) }
	db := &graph.Resource{URN: urnOf("a", "db"), Deployment: 1, ID: "db", Outputs: value(`{"port": 1, "zone": "x"}`)}
	other := &graph.Resource{URN: urnOf("a", "other"), Deployment: 1, ID: "other"}
	a := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{db, other})
	provides := func(name, form string) graph.Provided {
		return graph.Provided{
			Name: name, Type: graph.Type{Form: lumigl.TextOf(form)}, Value: lumigl.PropertyOf(vertexOf(db.URN), name), Result: db.Outputs.Get(name),
		}
	}
	a.Provides = []graph.Provided{provides("port", "number"), provides("zone", "string")}
	g := must.Get((&graph.Graph{Environment: "dev"}).Deploy(graph.Update{Version: a}))(t).Graph
	b := graph.NewVersion(graph.VersionID{Module: "b", Deployment: 2}, nil)
	b.Uses = []graph.Edge{
		{Constraint: graph.Constraint{Module: "a", Name: "port", Type: a.Provides[0].Type, Where: "value < 3"}},
		{Constraint: graph.Constraint{Module: "a", Name: "zone", Type: a.Provides[1].Type}},
	}
	g = must.Get(g.Deploy(graph.Update{Version: b}))(t).Graph

	now, gone := *db, *db
	now.Outputs, now.Drifted = value(`{"port": 4, "zone": "x"}`), []string{"port"}
	gone.ID, gone.Drifted = "", []string{"id"}
	for _, test := range []struct {
		actual       *graph.Resource
		port, broken string
	}{
		{&now, "4", `"port" is 4, which does not satisfy the predicate value < 3`},
		{&gone, "", ""},
	} {
		after := g.Refresh(map[*graph.Resource]*graph.Resource{db: test.actual})
		must.Do(t, after.Check())
		version := after.Newest("a")
		if version.Resource(db.URN) != test.actual || version.Resource(other.URN) != other || version.Deployment != 1 {
			t.Errorf("Refresh() = version %s with %v, want only %v replaced", version, version.Resource(db.URN), test.actual)
		}
		if port, _ := version.Provided("port").Result.Literal(); port != test.port {
			t.Errorf("Refresh(): provided port = %q, want %q", port, test.port)
		}
		if uses := after.Newest("b").Uses; uses[0].Broken != test.broken || uses[1].Broken != "" {
			t.Errorf("Refresh(): broken uses = %q and %q, want %q and none", uses[0].Broken, uses[1].Broken, test.broken)
		}
		read := must.Get(graph.FromLumiGL(after.LumiGL()))(t)
		if r := read.Newest("a").Resource(db.URN); r.Gone() != test.actual.Gone() || r.Drifted[0] != test.actual.Drifted[0] {
			t.Errorf("FromLumiGL(LumiGL()): drifted %q, gone %t, want %q, %t", r.Drifted, r.Gone(), test.actual.Drifted, test.actual.Gone())
		}
	}
	if g.Newest("a").Resource(db.URN) != db || g.Newest("b").Uses[0].Broken != "" {
		t.Error("Refresh changed its receiver")
	}
}
