package graph_test

import (
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestWithNames(t *testing.T) {
	value := func(text string) lumigl.Value {
		return must.Get(lumigl.Parser{}.ParseValue(text))(t)
	}
	const u = "urn:lumi:dev::a:index::x:m:Disk::d"
	vertex := must.Get(lumigl.NewResource(u))(t)
	disk := &graph.Resource{
		URN: u, ID: "1", Inputs: value(`{"size": 1}`), Checked: value(`{"size": 1, "mode": 2, "kind": 3}`), Outputs: value(`{"uri": "x"}`),
		Unread: []string{"kind", "size"}, Drifted: []string{"kind", "size[2].a", "uri"},
	}
	note := &graph.Resource{URN: "urn:lumi:dev::a:index::x:m:Note::n", ID: "2", Inputs: lumigl.ListOf(lumigl.PropertyOf(vertex, "address"))}
	other := &graph.Resource{URN: "urn:lumi:dev::a:index::x:m:Disk::o", ID: "4", Inputs: value(`{"mode": 1}`)}
	g := &graph.Graph{Environment: "dev"}
	for i, resources := range [][]*graph.Resource{{disk}, {disk, note, other}} {
		v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: graph.Deployment(i + 1)}, resources)
		v.Provides = []graph.Provided{{Name: "x", Value: lumigl.PropertyOf(vertex, "uri"), Result: value(`"x"`)}}
		transition := must.Get(g.Deploy(graph.Update{Version: v}))(t)
		g = transition.Graph
	}
	gone := *disk
	gone.ID = "3"
	g = g.Leave("a", graph.Pending{Resource: &gone})
	for _, names := range []map[tokens.Type][]graph.Renamed{nil, {"x:m:Note": {{Name: "length", Was: []string{"height"}}}}} {
		if g.WithNames("a", names) != g {
			t.Errorf("WithNames(%v) changed a graph without renamed properties", names)
		}
	}
	names := map[tokens.Type][]graph.Renamed{"x:m:Disk": {{Name: "mode", Was: []string{"size"}}, {Name: "url", Was: []string{"address", "uri"}}}}
	if g.WithNames("b", names) != g {
		t.Error("WithNames changed a graph in which only another module has renamed properties")
	}
	now := g.WithNames("a", names)
	if now.WithNames("a", names) != now {
		t.Error("WithNames is not idempotent")
	}
	versions := now.Versions("a")
	if len(versions) != 2 {
		t.Fatalf("WithNames returned %d versions, want 2", len(versions))
	}
	for _, v := range versions {
		if v.Resource(u) != versions[0].Resource(u) {
			t.Error("versions do not share the renamed resource")
		}
		if !v.Provides[0].Value.Equal(lumigl.PropertyOf(vertex, "url")) {
			t.Errorf("%s provides %v, want a reference to the property url", v, v.Provides[0].Value)
		}
	}
	pending := now.Pending("a")[0].Resource
	for _, r := range []*graph.Resource{now.Newest("a").Resource(urn.URN(u)), pending} {
		if !r.Inputs.Equal(value(`{"mode": 1}`)) || !r.Checked.Equal(value(`{"size": 1, "mode": 2, "kind": 3}`)) ||
			!r.Outputs.Equal(value(`{"url": "x"}`)) || !slices.Equal(r.Unread, []string{"kind", "mode"}) {
			t.Errorf(`renamed resource: inputs %v, checked %v, outputs %v, unread %q, want {"mode": 1}, {"size": 1, "mode": 2, "kind": 3}, {"url": "x"}, ["kind" "mode"]`, r.Inputs, r.Checked, r.Outputs, r.Unread)
		}
	}
	if got, want := now.Newest("a").Resource(urn.URN(u)).Drifted, []string{"kind", "mode[2].a", "url"}; !slices.Equal(got, want) {
		t.Errorf("drifted paths of the renamed resource = %q, want %q", got, want)
	}
	if got := now.Newest("a").Resource(note.URN).Inputs; !got.Equal(lumigl.ListOf(lumigl.PropertyOf(vertex, "url"))) {
		t.Errorf("inputs of the note = %v, want a reference to the property url", got)
	}
	if now.Newest("a").Resource(other.URN) != other {
		t.Error("WithNames changed a resource without renamed properties")
	}
	if !disk.Inputs.Equal(value(`{"size": 1}`)) {
		t.Error("WithNames changed its receiver")
	}
}
