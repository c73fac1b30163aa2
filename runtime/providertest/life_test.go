package providertest_test

import (
	"fmt"
	"os"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// roleVariable is an environment variable that makes the test binary run as a plugin.
const roleVariable = "LUMI_TEST_ROLE"

// modeVariable is an environment variable that makes the test binary run as a provisioner with one mistake.
const modeVariable = "LUMI_TEST_MODE"

// jsonVariable is an environment variable that makes the provisioner speak JSON.
const jsonVariable = "LUMI_TEST_JSON"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "plugin" {
		serve.Main(store(newCloud()))
	}
	if mode, ok := os.LookupEnv(modeVariable); ok {
		if os.Getenv(jsonVariable) == "true" {
			answer(&broken{mode: mode})
			return
		}
		name := "broken"
		if mode == "name" {
			name = "other"
		}
		serve.MainProvisioner(name, "", &broken{mode: mode})
	}
	os.Exit(m.Run())
}

// everywhere runs a test both in process and with a plugin.
func everywhere(t *testing.T, test func(t *testing.T, h *providertest.Harness)) {
	t.Run("in process", func(t *testing.T) {
		c := newCloud()
		// Cleanups run in reverse order, so this one runs after the kit's.
		t.Cleanup(func() {
			if len(c.volumes)+len(c.snapshots) > 0 {
				t.Errorf("%v and %v remain in the cloud, want nothing", c.volumes, c.snapshots)
			}
		})
		test(t, providertest.InProcess(t, store(c)))
	})
	t.Run("plugin", func(t *testing.T) {
		test(t, providertest.Binary(t, self()))
	})
}

// self returns the command that runs this binary as a plugin.
func self() plugin.Command {
	return plugin.Command{
		Path: os.Args[0],
		// By default, the race detector sleeps for a second before the process exits.
		Env: append(os.Environ(), roleVariable+"=plugin", "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")),
	}
}

// full returns all properties of a volume.
func full() providertest.Properties {
	return providertest.Properties{
		"name": "data", "zone": "a", "size": 10, "tags": map[string]string{"team": "blue"},
		"disks": []disk{{Label: "one", Pin: new("123456")}, {Label: "two"}},
		"image": lumi.TextAsset("boot"), "password": "correct horse", "secret": "battery staple",
		"policy": providertest.Properties{"allow": []any{"read", providertest.Secret("hidden thing")}},
	}
}

// A correct provider passes all checks.
func TestLife(t *testing.T) {
	everywhere(t, func(t *testing.T, h *providertest.Harness) {
		v := h.Resource(volumeToken, "data")
		v.Life(t, providertest.Life{
			Create:   full(),
			Computed: []string{"address", "token"},
			Expect:   providertest.Properties{"comment": "made by a test", "address": "10.0.0.1"},
			Unknown:  []lumi.Path{"tags.team", "disks[0].pin", "policy.allow[0]"},
			Updates: []providertest.Change{
				{Set: providertest.Properties{"size": 20}, Changes: []string{"~ size: 10 -> 20"}},
				{Set: providertest.Properties{"comment": "other", "tags": nil}, Expect: providertest.Properties{"comment": "other"}},
				{Set: providertest.Properties{"password": "another horse"}, Changes: []string{"~ password: (secret) -> (secret)"}},
			},
			Replaces: []providertest.Replacement{
				{Set: providertest.Properties{"zone": "b"}, Because: []lumi.Path{"zone"}},
				{Set: providertest.Properties{"zone": "c"}, DeleteFirst: true, Expect: providertest.Properties{"arn": "arn:id-3"}},
			},
			Ignores: []providertest.Properties{{"comment": "MADE by a test"}},
			Upgrades: []providertest.Upgrade{
				{Stored: providertest.Properties{"comment": nil, "note": "OTHER"}},
				// The upgraded comment becomes secret, since the stored properties contain secrets.
				{
					Stored: providertest.Properties{"comment": nil, "note": "old", "size": nil},
					Change: providertest.Change{
						Changes: []string{"~ comment: (secret) -> (secret)", "+ size: 20"},
						Expect:  providertest.Properties{"comment": "other"},
					},
				},
				{
					Stored: providertest.Properties{"comment": nil, "note": "other", "token": "the old token"},
					Change: providertest.Change{Set: providertest.Properties{"size": 30}},
				},
			},
		})
	})
}

// A resource can refer to one created earlier in the same test. Remaining resources are deleted in reverse order.
func TestReferences(t *testing.T) {
	everywhere(t, func(t *testing.T, h *providertest.Harness) {
		v := h.Resource(volumeToken, "data")
		s := h.Unnamed(snapshotToken)
		s.Check(t, providertest.Properties{"volume": v}) // does not exist yet
		s.Create(t, providertest.Properties{"volume": v}, providertest.WantFaults(
			"volume: there is no volume urn:lumi:test::store:index::store:index:Volume::data"))
		v.Create(t, full())
		s.Life(t, providertest.Life{
			Create:  providertest.Properties{"volume": v, "label": "daily"},
			Expect:  providertest.Properties{"source": "id-1 arn:id-1"},
			Updates: []providertest.Change{{Set: providertest.Properties{"label": "weekly"}}},
			// Only InspectChange requires this replacement, so Update is not expected to fail.
			Replaces: []providertest.Replacement{{Set: providertest.Properties{"label": nil}, Because: []lumi.Path{"label"}}},
		})
		if got := string(s.URN()); got != "urn:lumi:test::store:index::store:index:Snapshot::of data" {
			t.Errorf("URN() = %s, want the name \"of data\"", got)
		}
		s.Create(t, providertest.Properties{"volume": v.URN(), "label": v.Output("address")})
		if got := s.Get(t).Get("label"); got != "10.0.0.1" {
			t.Errorf("label = %q, want \"10.0.0.1\"", got)
		}
		s.Check(t, providertest.Properties{"volume": providertest.Unknown})
	})
}

// A resource can refer to a resource declared with Given, which no provider serves.
func TestGiven(t *testing.T) {
	t.Parallel()
	h := providertest.InProcess(t, providertest.Resources(newSnapshots(&snapshotOps{newCloud()})),
		providertest.Environment("other"))
	v := h.Given(volumeToken, "data", "vol-1", providertest.Properties{"arn": "arn:1"})
	s := h.Unnamed(snapshotToken)
	s.Create(t, providertest.Properties{"volume": v})
	if got := s.Output("source").GetStringValue(); got != "vol-1 arn:1" {
		t.Errorf("source = %q, want \"vol-1 arn:1\"", got)
	}
	if got := string(v.URN()); got != "urn:lumi:other::store:index::store:index:Volume::data" {
		t.Errorf("URN() = %s, want the environment \"other\"", got)
	}
}

// Many resources can be tested concurrently.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	h := providertest.InProcess(t, store(newCloud()))
	t.Run("all", func(t *testing.T) {
		for i := range 20 {
			name := fmt.Sprint("data", i)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := life
				l.Create = life.Create.With(providertest.Properties{"name": name})
				h.Resource(volumeToken, name).Life(t, l)
			})
		}
	})
}
