package enginetest

import (
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/lumi-idl/lumi/test/kit/expect"
)

// TestValues deploys values of all kinds, also where previews do not know them, and changes each.
func TestValues(t *testing.T) {
	s := newStack(t)
	change := func(change map[string]any) program {
		return configured("north", func(m *deploytest.ResourceMonitor, provider string) error {
			with := func(of resource.PropertyMap) deploytest.ResourceOptions {
				return deploytest.ResourceOptions{Provider: provider, Inputs: of}
			}
			lid, err := m.RegisterResource(lidType, "lid", true, with(resource.PropertyMap{"color": resource.NewProperty("red")}))
			if err != nil {
				return err
			}
			id := resource.NewProperty(string(lid.ID))
			if lid.ID == "" {
				id = resource.NewOutputProperty(resource.Output{Dependencies: []resource.URN{lid.URN}})
			}
			of := resource.NewPropertyMapFromMap(map[string]any{
				"extra": map[string]any{"a": []any{1, nil, "x"}},
				"shape": map[string]any{"square": map[string]any{"side": 2.5}},
				"parts": map[string]any{"a": []any{map[string]any{"name": "n", "inner": map[string]any{"name": "m", "key": "k"}}}, "b": []any{}},
			})
			of["lids"] = resource.NewProperty([]resource.PropertyValue{id, id})
			of["closer"] = resource.NewProperty(resource.PropertyMap{"type": resource.NewProperty(string(lidType)), "id": id})
			of["near"] = resource.MakeCustomResourceReference(lid.URN, lid.ID, "")
			for name, v := range resource.NewPropertyMapFromMap(change) {
				of[name] = v
			}
			options := with(of)
			options.Dependencies = []resource.URN{lid.URN}
			_, err = m.RegisterResource(boxType, "box", true, options)
			return err
		})
	}
	s.up("create north, create lid, create box", change(nil))
	out := s.state("box").Outputs
	for name, want := range map[resource.PropertyKey]any{
		"lids": []any{"lid-lid", "lid-lid"}, "shape": map[string]any{"square": map[string]any{"side": 2.5}},
		"closer": map[string]any{"type": string(lidType), "id": "lid-lid"}, "near": map[string]any{"type": string(lidType), "id": "lid-lid"},
		"extra": map[string]any{"a": []any{1.0, nil, "x"}}, "size": 7.0, "count": 2.0,
	} {
		expect.Equal(t, want, out[name].Mappable())
	}
	s.up("same north, same lid, same box", change(nil))
	s.must("same north, same lid, same box", engine.Refresh, nil)
	for _, changes := range []map[string]any{
		{"extra": map[string]any{"a": []any{1, nil, "y"}}},
		{"shape": map[string]any{"round": map[string]any{"radius": 1.0}}},
		{"parts": map[string]any{"a": []any{map[string]any{"name": "n", "inner": map[string]any{"name": "m", "key": "other"}}}}},
		{"lids": []any{"lid-lid"}},
		{"size": 8},
	} {
		s.up("same north, same lid, update box", change(changes))
		s.up("same north, same lid, same box", change(changes))
	}
	s.must("same north, same lid, same box", engine.Refresh, nil)
	s.must("same north, same lid, same box", engine.RefreshV2, change(map[string]any{"size": 8}))
	s.must("same north, same lid, same box, delete box, delete lid, delete north", engine.DestroyV2, change(nil))
}
