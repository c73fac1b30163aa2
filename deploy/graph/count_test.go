package graph_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCountIgnoresLookUpsAndCalls(t *testing.T) {
	t.Parallel()
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{
		{URN: "urn:lumi:prod::a:index::x:m:Vpc::main"},
		{URN: "urn:lumi:prod::a:index::x:m:Vpc::shared", Options: lumigl.ObjectOf(lumigl.Member{Key: graph.ReadOption, Value: lumigl.TextOf("vpc-1")})},
		{URN: "urn:lumi:prod::a:index::x:m:Image::#1", Options: lumigl.ObjectOf(lumigl.Member{Key: graph.CallOption, Value: lumigl.BoolOf(true)})},
	})
	deployed := must.Get((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: v}))(t)
	expect.Equal(t, 1, deployed.Graph.Count())
}
