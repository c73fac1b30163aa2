package graph_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Look-ups and calls are not counted as resources, and calls cannot be renamed.
func TestLookUpsAndCalls(t *testing.T) {
	t.Parallel()
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{
		{URN: "urn:lumi:prod::a:index::x:m:Vpc::main"},
		{URN: "urn:lumi:prod::a:index::x:m:Vpc::shared", Options: lumigl.ObjectOf(lumigl.Member{Key: graph.ReadOption, Value: lumigl.TextOf("vpc-1")})},
		{URN: "urn:lumi:prod::a:index::x:m:Image::#1", Options: lumigl.ObjectOf(lumigl.Member{Key: graph.CallOption, Value: lumigl.BoolOf(true)})},
	})
	deployed := must.Get((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: v}))(t)
	expect.Equal(t, 1, deployed.Graph.Count())
	_, err := deployed.Graph.Rename("urn:lumi:prod::a:index::x:m:Image::#1", "urn:lumi:prod::a:index::x:m:Image::latest")
	if want := "#1 is a call of a function: the program numbers these"; err == nil || err.Error() != want {
		t.Errorf("Rename() = %v, want %s", err, want)
	}
}
