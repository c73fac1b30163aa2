package enginetest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	states "github.com/pulumi/pulumi/pkg/v3/resource"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	stacks "github.com/pulumi/pulumi/pkg/v3/resource/stack"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// box returns a program with a box and the lid that it refers to.
func box(properties resource.PropertyMap) program {
	return configured("north", func(m *deploytest.ResourceMonitor, provider string) error {
		lid, err := m.RegisterResource(lidType, "lid", true, deploytest.ResourceOptions{
			Provider: provider, Inputs: resource.PropertyMap{"color": resource.NewProperty("blue")},
		})
		if err != nil {
			return err
		}
		of := properties.Copy()
		of["lid"] = resource.NewProperty(string(lid.ID))
		if lid.ID == "" {
			of["lid"] = resource.MakeComputed(resource.NewProperty(""))
		}
		_, err = m.RegisterResource(boxType, "box", true, deploytest.ResourceOptions{
			Provider: provider, Inputs: of, Dependencies: []resource.URN{lid.URN},
		})
		return err
	})
}

// TestSecrets looks for secrets in the stack's state.
func TestSecrets(t *testing.T) {
	s := newStack(t)
	p := box(resource.PropertyMap{
		"password": resource.MakeSecret(resource.NewProperty("pass")),
		"code":     resource.NewProperty("Ab"),
		"parts": resource.NewProperty(resource.PropertyMap{"a": resource.NewProperty([]resource.PropertyValue{
			resource.NewProperty(resource.PropertyMap{"name": resource.NewProperty("n"), "key": resource.NewProperty("hidden")}),
		})}),
	})
	s.up("create north, create lid, create box", p)
	s.up("same north, same lid, same box", p)
	b := s.state("box")
	for _, secret := range []resource.PropertyKey{"password", "token"} {
		if !b.Outputs[secret].IsSecret() {
			t.Errorf("%s = %v, want a secret", secret, b.Outputs[secret])
		}
	}
	expect.Equal(t, "lid-lid", b.Outputs["keeper"].StringValue())
	expect.Equal(t, "blue", b.Outputs["owner"].StringValue())
	stored, _, _, err := stacks.SerializeDeploymentWithMetadata(t.Context(), s.snap, false)
	must.Do(t, err)
	for _, r := range stored.Resources {
		data := string(must.Get(json.Marshal(r))(t))
		for _, secret := range []string{"pass\"", "hidden", "token of"} {
			if strings.Contains(data, secret) {
				t.Errorf("the state has %q in clear: %s", secret, data)
			}
		}
	}
}

// TestDrift changes and deletes a box without the engine.
func TestDrift(t *testing.T) {
	s := newStack(t)
	p := box(resource.PropertyMap{"code": resource.NewProperty("Ab")})
	s.up("create north, create lid, create box", p)
	s.cloud(func(c *traps.Cloud) { c.Drift("box-1", "aB", 7) })
	s.must("same north, same lid, update box", engine.Refresh, nil)
	s.up("same north, same lid, update box", p)
	s.up("same north, same lid, same box", p)
	s.cloud(func(c *traps.Cloud) { c.Lose("box-1") })
	s.must("same north, same lid, delete box", engine.Refresh, nil)
	s.up("same north, same lid, create box", p)
	s.must("delete box, delete lid, delete north", engine.Destroy, nil)
	expect.Equal(t, 0, len(s.snap.Resources))
}

// cloud changes the cloud of the plugins.
func (s *stack) cloud(change func(c *traps.Cloud)) {
	s.Helper()
	c := traps.NewCloud()
	must.Do(s.T, c.Keep(filepath.Join(s.dir, "cloud.json")))
	change(c)
}

// TestFailures deploys a box that is made only in part, and another during which the plugin crashes.
func TestFailures(t *testing.T) {
	s := newStack(t)
	p := box(resource.PropertyMap{"code": resource.NewProperty("Ab")})
	fails := func(at, steps, message string, p program) {
		t.Helper()
		t.Setenv(fault, at)
		if got, err := s.run(engine.Update, false, p); err == nil || got != steps || !strings.Contains(s.failure, message) {
			t.Errorf("Update = %s, %v, and printed %q; want %s and %q", got, err, s.failure, steps, message)
		}
		t.Setenv(fault, "")
	}
	fails("partial create", "create north, create lid", "partially done: no power", p)
	b := s.state("box")
	expect.Equal(t, []string{"partially done: no power"}, b.InitErrors)
	expect.Equal(t, "box-1", string(b.ID))
	expect.Equal(t, "Ab", b.Inputs["code"].StringValue())
	s.up("same north, same lid, update box", p)
	expect.Equal(t, 0, len(s.state("box").InitErrors))

	changed := box(resource.PropertyMap{"code": resource.NewProperty("other")})
	fails("partial update", "same north, same lid", "partially done: no power", changed)
	expect.Equal(t, []string{"partially done: no power"}, s.state("box").InitErrors)
	s.up("same north, same lid, update box", changed)

	s = newStack(t)
	fails("crash create", "create north, create lid", "update failed", p)
	expect.Equal(t, []*states.State(nil), named(s.snap.Resources, "box"))
	s.up("same north, same lid, create box", p)
	fails("crash update", "same north, same lid", "update failed", changed)
	expect.Equal(t, "Ab", s.state("box").Inputs["code"].StringValue())
	s.up("same north, same lid, update box", changed)
}

// named returns the states with a name.
func named(all []*states.State, name string) (found []*states.State) {
	for _, state := range all {
		if state.URN.Name() == name {
			found = append(found, state)
		}
	}
	return found
}

// TestConfigurationOfOutput configures a provider with an output that is unknown in previews.
func TestConfigurationOfOutput(t *testing.T) {
	s := newStack(t)
	p := func(m *deploytest.ResourceMonitor) error {
		file, err := m.RegisterResource(fileType, "a", true, inputs(map[string]any{"path": filepath.Join(s.dir, "a"), "content": "x"}))
		if err != nil {
			return err
		}
		provider, err := m.RegisterResource("pulumi:providers:acme_traps", "p", true, deploytest.ResourceOptions{
			Inputs: resource.PropertyMap{"region": file.Outputs["checksum"]},
		})
		if err != nil {
			return err
		}
		id := provider.ID
		if id == "" {
			id = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
		}
		_, err = m.RegisterResource(boxType, "box", true, deploytest.ResourceOptions{
			Provider: string(provider.URN) + "::" + string(id), Inputs: resource.PropertyMap{"code": resource.NewProperty("c")},
		})
		return err
	}
	s.up("create a, create p, create box", p)
	expect.Equal(t, s.state("a").Outputs["checksum"].StringValue(), s.state("box").Outputs["owner"].StringValue())
	s.up("same a, same p, same box", p)
}

func TestInvoke(t *testing.T) {
	s := newStack(t)
	s.must("create north, create lid, create box", engine.Update, box(nil))
	s.must("same north, same lid, same box", engine.Update, func(m *deploytest.ResourceMonitor) error {
		if err := box(nil)(m); err != nil {
			return err
		}
		ref := string(s.state("north").URN) + "::" + string(s.state("north").ID)
		got, failures, err := m.Invoke("acme_traps:index:FindLid", resource.NewPropertyMapFromMap(map[string]any{"color": "blue"}), ref, "", "")
		if err != nil || len(failures) > 0 || got["lid"].StringValue() != "lid-lid" || !got["key"].IsSecret() {
			t.Errorf("Invoke = %v, %v, %v, want lid-lid and a secret", got, failures, err)
		}
		_, failures, err = m.Invoke("acme_traps:index:FindLid", resource.NewPropertyMapFromMap(map[string]any{"color": "pink"}), ref, "", "")
		if err != nil || len(failures) != 1 {
			t.Errorf("Invoke = %v, %v, want one failure", failures, err)
		} else {
			expect.Equal(t, `expected "red" or "blue", found a string "pink"`, failures[0].GetReason())
		}
		return nil
	})
}
