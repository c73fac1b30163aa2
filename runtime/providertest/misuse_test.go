package providertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// Unmet expectations and mistakes in tests are reported.
func TestExpectations(t *testing.T) {
	for _, test := range []struct {
		name string
		test func(t providertest.TB, h *providertest.Harness, v *providertest.Resource)
		want string // the expected report before the calls
	}{
		{
			"no faults",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Check(t, small, providertest.WantFaults("size: is odd", "zone: is far"))
			},
			`store:index:Volume "data": check: succeeded, expected faults:
	size: is odd
	zone: is far
`,
		},
		{
			"other faults",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, providertest.Properties{"name": "data", "size": "large"},
					providertest.WantFaults("zone: is required, but missing", "size: is odd"))
			},
			`store:index:Volume "data": create: Check reports unexpected faults:
	expected size: is odd
	found    size: expected a number, found a string "large"
`,
		},
		{
			"faults and no error",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Check(t, small.With(providertest.Properties{"size": 0}), providertest.WantError("down"))
			},
			`store:index:Volume "data": check: Check failed, but must fail with an error with "down": the properties are invalid:
	size: is 0, and must be more than 0
`,
		},
		{
			"no retry",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small, providertest.WantRetry("slow down"))
			},
			`store:index:Volume "data": create: succeeded, expected a retryable error with "slow down"
store:index:Volume "data": cleaned up id-1
`,
		},
		{
			"not partial",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small, providertest.WantPartial("half"))
			},
			`store:index:Volume "data": create: succeeded, expected a partial failure with "half"
store:index:Volume "data": cleaned up id-1
`,
		},
		{
			"found",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small)
				v.Get(t, providertest.WantNotFound())
			},
			`store:index:Volume "data": get: succeeded, expected no such resource
store:index:Volume "data": cleaned up id-1
`,
		},
		{
			"not created",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) { v.Update(t, small) },
			`store:index:Volume "data": update: the resource does not exist: create it first
`,
		},
		{
			"created twice",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small)
				v.Create(t, small)
			},
			`store:index:Volume "data": create: the resource already exists as id-1
store:index:Volume "data": cleaned up id-1
`,
		},
		{
			"update in place of a replacement",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small)
				v.Update(t, providertest.Properties{"zone": "b"})
			},
			`store:index:Volume "data": update: InspectChange requires a replacement because of zone: use Replace instead
store:index:Volume "data": cleaned up id-1
`,
		},
		{
			"replacement in place of an update",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small)
				v.Replace(t, providertest.Properties{"size": 11})
			},
			`store:index:Volume "data": replace: InspectChange does not require a replacement: ~ size: 10 -> 11
store:index:Volume "data": cleaned up id-1
`,
		},
		{
			"a life about no property",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Life(t, providertest.Life{Create: small, MayDiffer: []lumi.Path{"tags.a", "comment", "zoen"}})
			},
			`store:index:Volume "data": MayDiffer: no property zoen; did you mean zone?
`,
		},
		{
			"other expectations of a life",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Life(t, providertest.Life{
					Create: small, Computed: []string{"key"}, Expect: providertest.Properties{"comment": "none"},
					Updates: []providertest.Change{{
						Set: providertest.Properties{"size": 11}, Changes: []string{"~ size: 10 -> 12"},
						Expect: providertest.Properties{"password": "other horse"},
					}},
					Replaces: []providertest.Replacement{{Set: providertest.Properties{"zone": "b"}, Because: []lumi.Path{"size"}}},
				})
			},
			`store:index:Volume "data": create: key is not computed
store:index:Volume "data": create: the resource has unexpected properties:
	comment: expected "none", found "made by a test"
	--- expected
	+++ found
	@@ -1,3 +1,3 @@
	 {
	-  "comment": "none"
	+  "comment": "made by a test"
	 }
store:index:Volume "data": update 1: InspectChange reports unexpected changes:
	expected
		~ size: 10 -> 12
	found
		~ size: 10 -> 11
store:index:Volume "data": update 1: the resource has unexpected properties:
	password: expected a secret, found another value
store:index:Volume "data": replace 1: InspectChange requires a replacement because of the wrong properties: expected size, found zone
`,
		},
		{
			"nothing to be unknown",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) { v.Plan(t, small, "tags.x") },
			`store:index:Volume "data": plan with tags.x unknown: no property tags.x to make unknown
`,
		},
		{
			"a step of what is given",
			func(t providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
				h.Given("other:index:Key", "k", "key-1", nil).Get(t)
			},
			`other:index:Key "k": get: the resource was declared with Given and cannot be used in calls
`,
		},
		{
			"values that cannot be",
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Check(t, providertest.Properties{
					"name": make(chan int), "tags": map[string]any{"b": func() {}, "a": 1i}, "disks": []any{struct{}{}},
					"image": lumi.TextAsset("\xff"), "policy": disk{Label: "\xff"},
				})
			},
			`store:index:Volume "data": check: cannot encode the properties:
	disks[0]: a struct {} cannot be in a bag of properties
	image: is not valid UTF-8
	name: a chan int cannot be in a bag of properties
	policy.label: is not valid UTF-8
	tags.a: a complex128 cannot be in a bag of properties
`,
		},
		{
			"a type that is not served",
			func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
				h.Resource("store:index:Disk", "d")
			},
			`the plugin for package "store" does not serve type "store:index:Disk"
`,
		},
		{
			"no type",
			func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) { h.Resource("disk", "d") },
			`type "disk": a type token must have three parts, package:module:Type
`,
		},
		{
			"no name",
			func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
				h.Resource(volumeToken, "")
			},
			`store:index:Volume: the name is empty: pass a name as a program would, or use Unnamed if programs do not ` +
				`name resources of this type
`,
		},
		{
			"no name of what is given",
			func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
				h.Given("other:index:Key", "", "key-1", nil)
			},
			`other:index:Key: the name is empty: pass the last part of the resource's URN, any name if it does not matter
`,
		},
		{
			"a name that is no text",
			func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
				h.Resource(volumeToken, "\x00")
			},
			`"urn:lumi:test::store:index::store:index:Volume::\x00": the name is empty or contains control characters
`,
		},
		{
			"a name that is taken",
			func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
				h.Resource(volumeToken, "data")
			},
			`resource store:index:Volume "data" already exists: choose another name
`,
		},
		{
			"a name that the provider gives twice",
			func(t providertest.TB, h *providertest.Harness, v *providertest.Resource) {
				v.Create(t, small)
				for _, name := range []string{"one", "two"} {
					h.Resource(snapshotToken, name).Create(t, providertest.Properties{"volume": v})
				}
			},
			`store:index:Snapshot "two": create: Name returns "of data", which is already the name of ` +
				`store:index:Snapshot "one"
store:index:Snapshot "one": cleaned up id-2
store:index:Volume "data": cleaned up id-1
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := run(t, func(t providertest.TB) {
				h := providertest.InProcess(t, store(newCloud()))
				test.test(t, h, h.Resource(volumeToken, "data"))
			})
			got := said(report)
			if got != test.want {
				t.Errorf("report =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A report lists only the calls of failed steps.
func TestCallsListed(t *testing.T) {
	const everything = `all calls:
	store:index:Volume "data": create
	   1 Check
	     {"name":"data","password":"(secret)","size":10,"zone":"a"}
	     -> {"comment":"made by a test","name":"data","password":"(secret)","size":10,"zone":"a"}
	   2 Check
	     {as sent in 1}
	     -> {as answered in 1}
	   3 Check
	     {as answered in 1}
	     -> {as answered in 1}
	   4 Name
	     {as answered in 1}
	     -> data
	   5 Create 7c92b42b3c84fe80974e64768c57f7e2
	     {as answered in 1}
	     progress: id-1 is ready
	     -> id-1
	     -> {"address":"10.0.0.1","arn":"arn:id-1","token":"(secret)","zones":["a"]}
	   6 Get (import) id-1
	     -> {"address":"10.0.0.1","arn":"arn:id-1","comment":"made by a test","name":"data","size":10,"token":"(secret)","zone":"a","zones":["a"]}
	   7 Get (refresh) id-1
	     old {"address":"10.0.0.1","arn":"arn:id-1","comment":"made by a test","name":"data","password":"(secret)","size":10,"token":"(secret)","zone":"a","zones":["a"]}
	     -> {as answered in 6}
	   8 InspectChange id-1
	     old {as old in 7}
	     new {as answered in 1}
	     -> no changes
	store:index:Volume "data": get
	   9 Get (import) id-1
	     -> {as answered in 6}
	  10 Get (refresh) id-1
	     old {as old in 7}
	     -> {as answered in 6}
	store:index:Volume "data": clean up
	  11 Delete id-1
	     {as old in 7}
	  12 Get (import) id-1
	     failed: id-1: no such resource
`
	for _, test := range []struct {
		name    string
		options []providertest.HarnessOption
		fail    func(t providertest.TB, h *providertest.Harness, v *providertest.Resource)
		want    string
	}{
		{"a step", nil, func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
			v.Inspect(t, providertest.Properties{"size": 11})
			v.Get(t, providertest.WantNotFound())
		}, `calls of the failed steps, 2 of 16 (option AllCalls lists all):
	store:index:Volume "data": get
	  13 Get (import) id-1
	     -> {"address":"10.0.0.1","arn":"arn:id-1","comment":"made by a test","name":"data","size":10,"token":"(secret)","zone":"a","zones":["a"]}
	  14 Get (refresh) id-1
	     old {"address":"10.0.0.1","arn":"arn:id-1","comment":"made by a test","name":"data","password":"(secret)","size":10,"token":"(secret)","zone":"a","zones":["a"]}
	     -> {as answered in 13}
`},
		{"all", []providertest.HarnessOption{providertest.AllCalls()},
			func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
				v.Get(t, providertest.WantNotFound())
			}, everything},
		{"a mistake of the test", nil, func(_ providertest.TB, h *providertest.Harness, _ *providertest.Resource) {
			h.Resource(volumeToken, "")
		}, ""},
		{"what the test itself finds", nil, func(t providertest.TB, _ *providertest.Harness, v *providertest.Resource) {
			v.Get(t)
			t.Errorf("it is too small")
		}, everything},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := run(t, func(t providertest.TB) {
				h := providertest.InProcess(t, store(newCloud()), test.options...)
				v := h.Resource(volumeToken, "data")
				v.Create(t, small)
				test.fail(t, h, v)
			})
			if listed := strings.TrimPrefix(report, said(report)); listed != test.want {
				t.Errorf("listed calls =\n%s\nwant\n%s", listed, test.want)
			}
		})
	}
}

// Providers and plugins that fail to start are reported.
func TestServeFailures(t *testing.T) {
	configurable := store(newCloud())
	configurable.Configure = serve.Configure(func(_ context.Context, d *disk) error {
		return lumi.Faultf("label", "%s is unknown", d.Label)
	})
	for _, test := range []struct {
		name, want string
		test       func(t providertest.TB)
	}{
		{"nothing", `cannot serve the provider: invalid resources:
package "": a package name must be words that start with a lowercase letter, joined by /
no resources
`, func(t providertest.TB) { providertest.InProcess(t, serve.Plugin{}) }},
		{"nil", "cannot serve the provider: invalid resources:\n" +
			"store:index:Volume: the provider is nil\n", func(t providertest.TB) {
			p := store(newCloud())
			p.Resources[volumeToken] = nil
			providertest.InProcess(t, p)
		}},
		{"config refused", "the provider rejects its configuration: label: x is unknown\n",
			func(t providertest.TB) {
				providertest.InProcess(t, configurable, providertest.Config(providertest.Properties{"label": "x"}))
			}},
		{"no config", "the provider rejects its configuration: label: is required, but missing\n",
			func(t providertest.TB) { providertest.InProcess(t, configurable) }},
		{"config that cannot be", "cannot encode the configuration:\n\tlabel: a chan int cannot be in a bag of properties\n",
			func(t providertest.TB) {
				providertest.InProcess(t, configurable, providertest.Config(providertest.Properties{"label": make(chan int)}))
			}},
		{"no configuration wanted", "the provider rejects its configuration: the provider takes no configuration: its" +
			" serve.Plugin has no Configure\n",
			func(t providertest.TB) {
				providertest.InProcess(t, store(newCloud()), providertest.Config(providertest.Properties{"label": "x"}))
			}},
		{"no binary", "cannot start the plugin: fork/exec ./no-such-plugin: no such file or directory\n",
			func(t providertest.TB) { providertest.Binary(t, plugin.Command{Path: "./no-such-plugin"}) }},
		{"no environment", `"urn:lumi:a:b::store:index::store:index:Volume::data": the environment must be a word without colons or spaces
`, func(t providertest.TB) {
			providertest.InProcess(t, store(newCloud()), providertest.Environment("a:b")).Resource(volumeToken, "data")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := said(run(t, test.test))
			if got != test.want {
				t.Errorf("report =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Resources panics for invalid providers.
func TestInvalidProviders(t *testing.T) {
	volumes := newVolumes(&volumeOps{newCloud()})
	for want, make := range map[string]func() serve.Plugin{
		"providertest: provider 2 is nil": func() serve.Plugin {
			return providertest.Resources(volumes, nil)
		},
		"providertest: two providers for type store:index:Volume": func() serve.Plugin {
			return providertest.Resources(volumes, volumes)
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("recovered %v, want %v", got, want)
				}
			}()
			make()
		})
	}
}

// Steps with expected failures pass.
func TestExpectedFailures(t *testing.T) {
	t.Parallel()
	full := errors.New("no more room")
	a := &author{volumeOps: &volumeOps{newCloud()}}
	h := providertest.InProcess(t, providertest.Resources(newVolumes(a)))
	v := h.Resource(volumeToken, "data")
	v.Check(t, small.With(providertest.Properties{"size": -1}), providertest.WantFaults("size: is -1, and must be more than 0"))
	v.GetID(t, "id-7", providertest.WantNotFound())

	a.create = func(*volumeState, lumi.ID) (lumi.ID, error) {
		return "", &lumi.RetryError{Err: full, After: time.Second}
	}
	v.Create(t, small, providertest.WantRetry("more room"))
	a.create = func(*volumeState, lumi.ID) (lumi.ID, error) { return "", full }
	v.Create(t, small, providertest.WantError("more room"))
	a.create = func(want *volumeState, id lumi.ID) (lumi.ID, error) {
		want.Done("size", "comment", "password")
		return id, full
	}
	v.Create(t, small, providertest.WantPartial("more room"))
	if v.ID() != "id-2" || v.Output("address").GetStringValue() != "10.0.0.1" {
		t.Errorf("after a partial failure, ID() = %q, address = %v, want \"id-2\", 10.0.0.1", v.ID(), v.Output("address"))
	}

	a.create = nil
	a.update = func(want *volumeState) error {
		want.Properties.Size = 15
		a.cloud.put(want.ID, want.Properties)
		want.Done("size")
		return full
	}
	v.Update(t, providertest.Properties{"size": 20}, providertest.WantPartial("more room"))
	if got := v.Output("size").GetNumberValue(); got != 15 {
		t.Errorf("after a partial failure, size = %v, want 15", got)
	}
	a.update = func(*volumeState) error { return full }
	v.Update(t, providertest.Properties{"size": 20}, providertest.WantError("more room"))
	a.update = nil
	v.Update(t, providertest.Properties{"size": 21})
	if got := v.Inspect(t, providertest.Properties{"zone": "b"}); len(got.Replaces) != 1 {
		t.Errorf("Inspect of another zone = %v, want a replacement", got)
	}
	v.Replace(t, providertest.Properties{"zone": "b"})
	v.NoChange(t)
	v.Retry(t)
	a.delete = func(*volumeState) error { return full }
	v.Delete(t, providertest.WantError("more room"))
	a.delete = nil
	v.Delete(t)
}

// Invalid properties of a given resource are reported.
func TestGivenInvalid(t *testing.T) {
	got := said(run(t, func(t providertest.TB) {
		h := providertest.InProcess(t, store(newCloud()))
		h.Given("other:index:Key", "main", "key-1", providertest.Properties{"token": func() {}})
	}))
	const want = "other:index:Key \"main\": cannot encode the properties:\n" +
		"\ttoken: a func() cannot be in a bag of properties\n"
	if got != want {
		t.Errorf("report =\n%s\nwant\n%s", got, want)
	}
}
