package workspace_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const configured = `
modules:
  shop: {program: shop.ts, config: {size: 2, note: ~, region: us}}
  data/base: base.ts
config:
  region: eu
  size: 1
  shop: {size: 1.5, token: {exec: ./token}}
  data/base: {tags: [a, {b: true}]}
providers:
  aws: {region: eu, profile: {exec: ./profile, again: x}}
environments:
  dev:
  prod:
    config:
      region: asia
      numbers: [0x1F, 0o17, +7, .5, 5., 1e3, -0, -9007199254740991]
      strings: ["7", 1_000, no, <<]
      note:
      shop:
        size: 3
    providers:
      aws: {region: us}
      gcp: {zone: b}
`

func show(settings []workspace.Setting) (all []string) {
	for _, s := range settings {
		value := string(s.Value)
		if s.Exec != "" {
			value = "exec " + s.Exec
		}
		all = append(all, fmt.Sprintf("%s = %s (own: %t)", s, value, s.Own))
	}
	return all
}

func TestConfig(t *testing.T) {
	t.Parallel()
	w := must.Get(workspace.Parse([]byte(configured), "f"))(t)
	base := w.Config("dev", "data/base")
	expect.Equal(t, "[{[0] 9 22} {[1] 9 25} {[1 b] 9 29}]", fmt.Sprint(base[len(base)-1].Places), "places in tags")
	for _, test := range []struct {
		environment, module string
		want                []string
	}{
		{"dev", "shop", []string{
			"f:3:52: modules.shop.config.note = null (own: true)",
			`f:3:63: modules.shop.config.region = "us" (own: true)`,
			"f:3:43: modules.shop.config.size = 2 (own: true)",
			"f:8:28: config.shop.token = exec ./token (own: true)",
		}},
		{"prod", "shop", []string{
			"f:19:7: environments.prod.config.note = null (own: false)",
			"f:17:16: environments.prod.config.numbers = [31,15,7,0.5,5,1000,-0,-9007199254740991] (own: false)",
			`f:16:15: environments.prod.config.region = "asia" (own: false)`,
			"f:21:15: environments.prod.config.shop.size = 3 (own: true)",
			`f:18:16: environments.prod.config.strings = ["7","1_000","no","<<"] (own: false)`,
			"f:8:28: config.shop.token = exec ./token (own: true)",
		}},
		{"dev", "data/base", []string{
			`f:6:11: config.region = "eu" (own: false)`, "f:7:9: config.size = 1 (own: false)",
			`f:9:21: config.data/base.tags = ["a",{"b":true}] (own: true)`,
		}},
		{"dev", "", []string{`f:6:11: config.region = "eu" (own: false)`, "f:7:9: config.size = 1 (own: false)"}},
	} {
		if diff := cmp.Diff(test.want, show(w.Config(test.environment, test.module))); diff != "" {
			t.Errorf("Config(%q, %q) (-want +got):\n%s", test.environment, test.module, diff)
		}
	}
	for _, test := range []struct {
		environment, pkg string
		want             []string
	}{
		{"dev", "aws", []string{
			`f:11:30: providers.aws.profile = {"again":"x","exec":"./profile"} (own: true)`, `f:11:17: providers.aws.region = "eu" (own: true)`,
		}},
		{"prod", "aws", []string{
			`f:11:30: providers.aws.profile = {"again":"x","exec":"./profile"} (own: true)`,
			`f:23:21: environments.prod.providers.aws.region = "us" (own: true)`,
		}},
		{"prod", "gcp", []string{`f:24:19: environments.prod.providers.gcp.zone = "b" (own: true)`}},
		{"dev", "gcp", nil},
	} {
		if diff := cmp.Diff(test.want, show(w.Providers(test.environment)[test.pkg])); diff != "" {
			t.Errorf("Providers(%q)[%q] (-want +got):\n%s", test.environment, test.pkg, diff)
		}
	}
}

// The examples in docs/workspace.md have the values that it describes.
func TestConfigDocs(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile("../../docs/workspace.md"))(t))
	example := func(before string) *workspace.Workspace {
		_, text, found := strings.Cut(page, before+"\n\n")
		text, _, _ = strings.Cut(text, "\n\n")
		if !found {
			t.Fatalf("docs/workspace.md does not contain %q", before)
		}
		return must.Get(workspace.Parse([]byte(strings.ReplaceAll("\n"+text, "\n    ", "\n")), "f"))(t)
	}
	w := example("The values are in `Lumi.yaml`:")
	expect.Equal(t, []string{
		`f:12:15: environments.prod.config.region = "us-west-2" (own: false)`,
		"f:13:24: environments.prod.config.shop.replicas = 3 (own: true)",
		`f:7:16: config.shop.tags = {"team":"web"} (own: true)`,
	}, show(w.Config("prod", "shop")), "configuration of shop")
	w = example("`providers` configures providers whose package the program does not configure itself:")
	expect.Equal(t, []string{
		`f:3:40: providers.aws.profile = "shop" (own: true)`,
		`f:6:36: environments.prod.providers.aws.region = "us-west-2" (own: true)`,
	}, show(w.Providers("prod")["aws"]), "configuration of aws")
}

func TestDeepConfig(t *testing.T) {
	t.Parallel()
	text := func(levels int) []byte {
		return []byte("config: {a: " + strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels) + "}")
	}
	if _, err := workspace.Parse(text(100), "f"); err != nil {
		t.Errorf("Parse of 100 nested lists: error %v", err)
	}
	_, err := workspace.Parse(text(101), "f")
	if want := "f:1:114: nested in more than 100 lists and objects"; err == nil || err.Error() != want {
		t.Errorf("Parse of 101 nested lists: error %v, want %s", err, want)
	}
}
