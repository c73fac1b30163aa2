package graph_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestOverlay(t *testing.T) {
	t.Parallel()
	at := func(deployment graph.Deployment, name, id string, dependencies ...urn.URN) *graph.Resource {
		return &graph.Resource{URN: urnOf("a", name), Deployment: deployment, ID: id, Dependencies: dependencies}
	}
	db := at(1, "db", "db")
	app := at(1, "app", "app", db.URN)
	var w world
	w.g = &graph.Graph{Environment: "dev"}
	held := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{db, app})
	done := must.Get(w.g.Deploy(graph.Update{Version: held}))(t)
	once, twice := at(2, "db", "db"), at(2, "db", "db")
	moved := at(2, "vpc", "db")
	created, changed, again := at(2, "new", "n1"), at(2, "new", "n1"), at(2, "new", "n2")
	for _, test := range []struct {
		rule    string
		results []graph.Result
		want    string
	}{
		{"nothing", nil, "a::1* db:1 app:1\n"},
		{"changed to the same", []graph.Result{{Old: db, New: db}}, "a::1* db:1 app:1\n"},
		{"changed twice", []graph.Result{{Old: db, New: once}, {Old: once, New: twice}}, "a::1* db:2 app:1\n"},
		{"changed and deleted", []graph.Result{{Old: db, New: once}, {Old: once}}, "a::1* app:1\n"},
		{"created and changed", []graph.Result{{New: created}, {Old: created, New: changed}}, "a::1* db:1 app:1\na::2 partial new:2\n"},
		{"created and deleted", []graph.Result{{New: created}, {Old: created}}, "a::1* db:1 app:1\n"},
		{"created twice", []graph.Result{{New: created}, {Old: created, New: again}}, "a::1* db:1 app:1\na::2 partial new:2\npending a:t:i:T::new:2\n"},
		{"moved and changed", []graph.Result{{Old: db, New: moved}}, "a::1* db:2 app:1\n"},
		{"a dependent of a move", []graph.Result{{Old: db, New: moved}, {Old: app, New: at(2, "app", "app", moved.URN)}}, "a::1* db:2 app:2\n"},
	} {
		g := done.Graph.Overlay(graph.VersionID{Module: "a", Deployment: 2}, lumigl.Value{}, test.results)
		if err := g.Check(); err != nil {
			t.Errorf("%s: Check() = %v, want nil", test.rule, err)
		}
		if got := graphText(g); got != test.want {
			t.Errorf("%s: Overlay() =\n%swant\n%s", test.rule, got, test.want)
		}
		if a := g.Newest("a").Resource(app.URN); a.Dependencies[0] != db.URN {
			t.Errorf("%s: app depends on %s, want %s", test.rule, a.Dependencies[0], db.URN)
		}
	}
	both := done.Graph.Overlay(graph.VersionID{Module: "a", Deployment: 2}, lumigl.Value{}, []graph.Result{{New: created}, {Old: created, New: again}})
	read := must.Get(graph.FromLumiGL(both.LumiGL()))(t)
	if p, v := read.Pending("a")[0].Resource, read.Version(graph.VersionID{Module: "a", Deployment: 2}); p.ID != "n1" || v.Resource(p.URN).ID != "n2" {
		t.Errorf("two creations of one URN: %s is pending and %s is in the version, want n1 and n2", p.ID, v.Resource(p.URN).ID)
	}
	destroyed := must.Get(both.Destroy("a"))(t)
	if d := destroyed.Deleted; len(d) != 4 || d[2] != created || d[3] != again {
		t.Errorf("Destroy().Deleted = %v, want 4 resources sorted by key and ID", d)
	}
	pending := done.Graph.Leave("a", graph.Pending{Resource: created}, graph.Pending{Resource: created})
	if got, want := graphText(pending), "a::1* db:1 app:1\npending a:t:i:T::new:2\n"; got != want {
		t.Errorf("Leave() =\n%swant\n%s", got, want)
	}
	gone := pending.Overlay(graph.VersionID{Module: "a", Deployment: 2}, lumigl.Value{}, []graph.Result{{Old: created}})
	if got, want := graphText(gone), "a::1* db:1 app:1\n"; got != want {
		t.Errorf("Overlay() with a deleted pending resource =\n%swant\n%s", got, want)
	}
	taken := must.Get(pending.Deploy(graph.Update{
		Version: graph.NewVersion(graph.VersionID{Module: "a", Deployment: 3}, []*graph.Resource{db, app, at(3, "adopted", "n1")}),
	}))(t)
	if len(taken.Deleted) > 0 {
		t.Errorf("Deploy() deletes %s, which the new version adopts", taken.Deleted[0].Key())
	}
}
