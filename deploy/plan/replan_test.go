package plan_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestAgain(t *testing.T) {
	const first = `, "$options": {"deleteBeforeReplace": true}`
	const because = "the option deleteBeforeReplace is set"
	const types = "Key named outputs=hash\nLock replaces=hash"
	program := func(size, options string) string {
		return `{"Key::k": {"size": ` + size + `}, "Lock::l": {"hash": {"#ref": "Key::k", "property": "hash"}` + options + `}}`
	}
	for _, test := range []struct {
		name, options, hash string
		gone                bool
		want                string
	}{
		{"another hash", "", "new", false, "replace Lock::l (hash cannot change)\n"},
		{"the same hash", "", "hash-k", false, ""},
		{"deleted first, another hash", first, "new", false, "replace Lock::l, delete first (hash cannot change; " + because + ")\n"},
		{"deleted first, the same hash", first, "hash-k", false, ""},
		{"deleted already, the same hash", first, "hash-k", true, "replace Lock::l, delete first (" + because + ")\n"},
		{"protected, the same hash", `, "$options": {"protect": true}`, "hash-k", false, ""},
		{"protected, another hash", `, "$options": {"protect": true}`, "new", false, "error: Lock::l: would be replaced instead of updated: plan again\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &story{T: t, types: parseTypes(types), graph: &graph.Graph{Environment: "prod", Lineage: "l"}}
			s.deploy("deploy", program("1", test.options))
			p := must.Get(plan.Make(context.Background(), plan.Request{
				Graph: s.graph, Deployment: 2, Desired: s.desired("p", program("2", test.options)), Provider: s.types,
				Provisioner: func(tokens.Type) string { return "x" },
			}))(t)
			key := p.Steps[0]
			lock := p.Steps[slices.IndexFunc(p.Steps, func(s *plan.Step) bool { return s.URN.Name() == "l" && s.New != nil })]
			if key.Kind != plan.Update || !lock.Possible {
				t.Fatalf("planned steps are %s and %s, want an update of the key and a possible change of the lock", stepLine(key), stepLine(lock))
			}
			done := must.Get(p.Again(context.Background(), key, false))(t)
			done.New.Outputs = done.New.Outputs.With("hash", lumigl.TextOf(test.hash))
			p.Record(key, done)
			again, err := p.Again(context.Background(), lock, test.gone)
			var got string
			if err == nil {
				got = stepLine(again)
			} else {
				got = "error: " + shorten(err.Error()) + "\n"
			}
			if got != test.want {
				t.Errorf("Again() = %swant    %s", got, test.want)
			}
		})
	}
}
