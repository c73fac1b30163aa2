package providertest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// OnStep is called for each step of a life cycle.
func TestOnStep(t *testing.T) {
	var steps []string
	h := providertest.Binary(t, plugin.Command{Path: providertest.Build(t, notes)},
		providertest.Config(providertest.Properties{"log": false}),
		providertest.OnStep(func(r *providertest.Resource, step string) { steps = append(steps, r.String()+": "+step) }))
	h.Resource("notes:index:Note", "shopping").Life(t, providertest.Life{
		Create:  providertest.Properties{"name": "shopping", "text": "milk"},
		Updates: []providertest.Change{{Set: providertest.Properties{"text": "bread"}}},
	})
	for _, step := range []string{"check", "plan with text unknown", "create", "update 1", "delete"} {
		if want := `notes:index:Note "shopping": ` + step; !slices.Contains(steps, want) {
			t.Errorf("%s is not among\n%s", want, strings.Join(steps, "\n"))
		}
	}
	if p := h.Plugin(); p.Package != "notes" || len(p.Types) != 1 {
		t.Errorf("the plugin serves %v of package %s, want 1 type of notes", p.Types, p.Package)
	}
}
