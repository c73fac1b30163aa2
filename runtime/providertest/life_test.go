package providertest_test

import (
	"os"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// The tests run the plugin as a process of its own too. It is the test binary itself, started with a variable.
const roleVariable = "LUMI_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "plugin" {
		serve.Main(store(newCloud()))
	}
	os.Exit(m.Run())
}

// everywhere runs a test in process and against a plugin.
func everywhere(t *testing.T, test func(t *testing.T, h *providertest.Harness)) {
	t.Run("in process", func(t *testing.T) {
		c := newCloud()
		test(t, providertest.InProcess(t, store(c)))
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the cloud has %d volumes and %d snapshots", len(c.volumes), len(c.snapshots))
			}
		})
	})
	t.Run("plugin", func(t *testing.T) {
		test(t, providertest.Binary(t, self(), providertest.Like(store(nil))))
	})
	t.Run("plugin of which nothing is known", func(t *testing.T) {
		h := providertest.Binary(t, self())
		test(t, h)
	})
}

// self is the plugin that this binary can be.
func self() plugin.Command {
	return plugin.Command{
		Path: os.Args[0],
		// A process under the race detector sleeps a second before it ends, unless told not to.
		Env: append(os.Environ(), roleVariable+"=plugin", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")),
	}
}

// full are the properties of a volume with everything.
func full() providertest.Bag {
	return providertest.Bag{
		"name": "data", "zone": "a", "size": 10, "tags": map[string]string{"team": "blue"},
		"disks": []disk{{Label: "one", Pin: new("123456")}, {Label: "two"}},
		"image": lumi.TextAsset("boot"), "password": "correct horse", "secret": "battery staple",
		"policy": providertest.Bag{"allow": []any{"read", providertest.Secret("hidden thing")}},
	}
}

// TestLife takes resources through their lives, with which nothing is wrong.
func TestLife(t *testing.T) {
	everywhere(t, func(t *testing.T, h *providertest.Harness) {
		v := h.Resource(volumeToken, "data")
		v.MayDiffer("password") // which is not read back; the IDL says so where it is known
		v.Life(t, providertest.Life{
			Create:   full(),
			Computed: []string{"address", "token"},
			Expect:   providertest.Bag{"comment": "made by a test", "address": "10.0.0.1"},
			Unknown:  []lumi.Path{"tags.team", "disks[0].pin", "policy.allow[0]"},
			Updates: []providertest.Change{
				{Set: providertest.Bag{"size": 20}, Changes: []string{"~ size: 10 -> 20"}},
				{Set: providertest.Bag{"comment": "other", "tags": nil}, Expect: providertest.Bag{"comment": "other"}},
				{Set: providertest.Bag{"password": "another horse"}, Changes: []string{"~ password: (secret) -> (secret)"}},
			},
			Replaces: []providertest.Replacement{
				{Set: providertest.Bag{"zone": "b"}, Because: []lumi.Path{"zone"}},
				{Set: providertest.Bag{"zone": "c"}, CreateFirst: true, Expect: providertest.Bag{"arn": "arn:id-3"}},
			},
		})
	})
}
