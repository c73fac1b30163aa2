package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Without the key, only resources without secrets are compared, and the plan has no digest.
func TestMakeWithoutKey(t *testing.T) {
	const program = `{
		"Db::a": {"engine": "pg", "password": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hunter2"}},
		"Db::b": {"engine": "pg", "size": 1},
		"Db::c": {"engine": "pg", "of": {"#ref": "Db::a", "property": "url"}}}`
	s := &story{T: t, graph: &graph.Graph{Environment: "prod"}, types: parseTypes("Db replaces=engine outputs=url")}
	s.deploy("deploy", program)

	sealed := graph.Update{Became: map[*graph.Resource]*graph.Resource{}}
	var resources []*graph.Resource
	for r := range s.graph.Newest("p").Resources() {
		if _, isSecret := r.Inputs.Get("password").Secret(); isSecret {
			now := *r
			now.Inputs = r.Inputs.With("password", r.Inputs.Get("password").With("value", lumigl.TextOf(wire.Unknown)))
			now.Checked = now.Inputs
			sealed.Became[r], r = &now, &now
		}
		resources = append(resources, r)
	}
	sealed.Version = graph.NewVersion(graph.VersionID{Module: "p", Deployment: 2}, resources)
	transition := must.Get(s.graph.Deploy(sealed))(t)

	for _, test := range []struct{ program, want string }{
		{program, "update? Db::a, not compared\nupdate? Db::c after update Db::a\n"},
		{strings.Replace(program, `"size": 1`, `"size": 2`, 1),
			"update? Db::a, not compared\nupdate Db::b\nupdate? Db::c after update Db::a\n"},
	} {
		p := must.Get(plan.Make(context.Background(), plan.Request{
			Graph: transition.Graph, Deployment: 3, Desired: s.desired("p", test.program), Provider: s.types,
			Provisioner: func(tokens.Type) string { return "x" },
		}))(t)
		var got strings.Builder
		for _, step := range p.Steps {
			got.WriteString(stepLine(step))
		}
		if got.String() != test.want || p.Digest != "" {
			t.Errorf("steps without the key =\n%swant\n%swith no digest, got digest %q", got.String(), test.want, p.Digest)
		}
	}
}
