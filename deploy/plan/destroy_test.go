package plan_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestMakeDestroyErrors(t *testing.T) {
	s := &story{T: t, graph: &graph.Graph{Environment: "prod"}, types: parseTypes("Db replaces=engine outputs=url")}
	s.deploy("deploy a:", `{"Db::a": {"engine": "pg"}, "$provides": {"url": {"type": "string", "value": {"#ref": "Db::a", "property": "url"}}}}`)
	s.deploy("deploy b:", `{"$uses": {"a": {"url": {"type": "string"}}}, "Db::b": {"engine": "pg", "$options": {"protect": true}}}`)
	for module, want := range map[string]string{
		"a": "b uses a.url: deploy b without it, or destroy b first",
		"b": `b:Db::b: protected: it would be deleted; remove the option "protect" and deploy, or keep the resource`,
	} {
		_, err := plan.MakeDestroy(s.graph, module, func(tokens.Type) string { return "x" })
		if err == nil || shorten(err.Error()) != want {
			t.Errorf("MakeDestroy(%s) error = %v, want %s", module, err, want)
		}
	}
}
