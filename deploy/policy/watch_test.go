package policy_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func creation(name, acl string) *plan.Step {
	u := urn.URN("urn:lumi:dev::app:index::aws:s3:Bucket::" + name)
	inputs := lumigl.ObjectOf(lumigl.Member{Key: "acl", Value: lumigl.TextOf(acl)})
	return &plan.Step{Kind: plan.Create, URN: u, New: &graph.Resource{URN: u, Inputs: inputs}}
}

// Once a rule that covers all steps is violated, all further steps are refused, including those with known inputs.
func TestWatchAllSteps(t *testing.T) {
	t.Parallel()
	p := must.Get(policy.Parse([]byte(`rules: [{name: one, when: 'steps.exists(s, s.new.acl == "public")', message: m}]`), "p.yaml"))(t)
	a, b, c, d := creation("a", wire.Unknown), creation("b", "x"), creation("c", wire.Unknown), creation("d", "x")
	pl := &plan.Plan{Environment: "dev", Module: "app", Steps: []*plan.Step{a, b, c, d}}
	w := p.Watch(pl, p.Evaluate(pl))
	for _, test := range []struct {
		step, final *plan.Step
		want        string
	}{
		{b, b, ""},
		{a, creation("a", "public"), "urn:lumi:dev::app:index::aws:s3:Bucket::a: violates policy one: m"},
		{d, d, "urn:lumi:dev::app:index::aws:s3:Bucket::d: violates policy one: m"},
		{c, creation("c", "x"), "urn:lumi:dev::app:index::aws:s3:Bucket::c: violates policy one: m"},
	} {
		if _, err := w.Before(test.step, test.final); text(err) != test.want {
			t.Errorf("Before(%s) = %v, want %q", test.step.URN, err, test.want)
		}
	}
}
