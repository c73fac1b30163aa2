package enginetest

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/engine/lifecycletest/framework"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestOptions deploys a box with options of the engine.
func TestOptions(t *testing.T) {
	s := newStack(t)
	with := func(typ tokens.Type, name, code string, change func(*deploytest.ResourceOptions)) program {
		return configured("north", func(m *deploytest.ResourceMonitor, provider string) error {
			options := inputs(map[string]any{"code": code})
			options.Provider = provider
			change(&options)
			_, err := m.RegisterResource(typ, name, true, options)
			return err
		})
	}
	none := func(*deploytest.ResourceOptions) {}
	s.up("create north, create box", with(boxType, "box", "a", none))
	former := s.state("box")
	former.Type = "acme_traps:index:Case"
	former.URN = "urn:pulumi:test::test::acme_traps:index:Case::box"
	aliased := with(boxType, "box", "a", func(o *deploytest.ResourceOptions) {
		o.AliasURNs = []resource.URN{former.URN}
	})
	s.up("same north, same box", aliased)
	s.up("same north, same box", with(boxType, "box", "a", none))
	s.up("same north, same box", with(boxType, "box", "b", func(o *deploytest.ResourceOptions) { o.IgnoreChanges = []string{"code"} }))
	s.up("same north, update box", with(boxType, "box", "b", none))
	s.up("same north, create-replacement box, replace box, delete-replaced box",
		with(boxType, "box", "c", func(o *deploytest.ResourceOptions) { o.ReplaceOnChanges = []string{"code"} }))
	s.up("same north, create-replacement box, replace box, delete-replaced box",
		with(boxType, "box", "c", func(o *deploytest.ResourceOptions) { o.Inputs["label"] = resource.NewProperty("mine") }))
}

// TestReconfigure changes the configuration of a provider with resources.
func TestReconfigure(t *testing.T) {
	s := newStack(t)
	p := func(region string) program {
		return configured(region, func(m *deploytest.ResourceMonitor, provider string) error {
			_, err := m.RegisterResource(boxType, "box", true, deploytest.ResourceOptions{Provider: provider})
			return err
		})
	}
	s.up("create north, create box", p("here"))
	s.up("update north, same box", p("there"))
	s.cloud(func(c *traps.Cloud) { c.Lose("box-1") })
	s.must("same north, delete box", engine.Refresh, nil)
	s.up("same north, create box", p("there"))
	expect.Equal(t, "there", s.state("box").Outputs["owner"].StringValue())
	if key := s.state("north").Inputs["key"]; !key.IsSecret() {
		t.Errorf("the provider's key = %v, want a secret", key)
	}
}

// TestImportSecrets imports a box that has secrets, and reads it.
func TestImportSecrets(t *testing.T) {
	s := newStack(t)
	of := resource.NewPropertyMapFromMap(map[string]any{
		"label": "mine", "code": "Ab", "parts": map[string]any{"a": []any{map[string]any{"name": "n", "key": "hidden"}}},
	})
	s.up("create north, create lid, create box", box(of))
	north := s.state("north")
	for i, state := range s.snap.Resources {
		if state.URN.Name() == "box" {
			s.snap.Resources = append(s.snap.Resources[:i:i], s.snap.Resources[i+1:]...)
		}
	}
	s.must("same north, same lid, import box", framework.ImportOp([]deploy.Import{{Type: boxType, Name: "box", ID: "box-1", Provider: north.URN}}), nil)
	imported := s.state("box")
	for name, properties := range map[string]resource.PropertyMap{"inputs": imported.Inputs, "outputs": imported.Outputs} {
		if key := properties["parts"]; !key.ContainsSecrets() {
			t.Errorf("%s: the parts = %v, want a secret in them", name, key)
		}
	}
	s.up("same north, same lid, same box, delete test-test", box(of))

	s.must("same north, same lid, same box, read other", engine.Update, func(m *deploytest.ResourceMonitor) error {
		if err := box(of)(m); err != nil {
			return err
		}
		_, got, err := m.ReadResource(boxType, "other", "box-1", "", nil, string(north.URN)+"::"+string(north.ID), "", "", nil, "", "")
		if err == nil {
			expect.Equal(t, "mine", got["label"].StringValue())
		}
		return err
	})
	if token := s.state("other").Outputs["token"]; !token.IsSecret() {
		t.Errorf("token = %v, want a secret", token)
	}
}

// TestPanic deploys a box although the plugin panics once it is made.
func TestPanic(t *testing.T) {
	s := newStack(t)
	p := box(resource.PropertyMap{"code": resource.NewProperty("Ab")})
	t.Setenv(fault, "panic create")
	s.must("create north, create lid, create box", engine.Update, p)
	t.Setenv(fault, "")
	s.up("same north, same lid, same box", p)
}

// TestInvalid deploys invalid properties.
func TestInvalid(t *testing.T) {
	s := newStack(t)
	_, err := s.run(engine.Update, true, box(resource.PropertyMap{
		"code": resource.NewProperty(true), "password": resource.MakeSecret(resource.NewProperty(1234567.0)),
	}))
	for _, want := range []string{"expected a string, found a boolean true", "password: expected a string, found a number"} {
		if err == nil || !strings.Contains(s.failure, want) {
			t.Errorf("Update = %v, and printed %q, want %q in it", err, s.failure, want)
		}
	}
	if strings.Contains(s.failure, "1234567") {
		t.Errorf("the engine printed a secret: %s", s.failure)
	}
}

// TestAsset changes the text of a file that is an asset.
func TestAsset(t *testing.T) {
	s := newStack(t)
	file := func(text string) program {
		asset := must.Get(resource.NewTextAsset(text))(t)
		return one(fileType, "a", map[string]any{"path": s.dir + "/a", "source": asset})
	}
	s.up("create a", file("one"))
	s.up("same a", file("one"))
	s.must("same a", engine.Refresh, nil)
	s.up("update a", file("two"))
	s.up("same a", file("two"))
}
