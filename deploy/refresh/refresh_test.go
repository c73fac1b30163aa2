package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/refresh"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const prefix = "urn:lumi:dev::a:index::x:m:Disk::"

// cloud is a provider that accepts only the calls that a refresh may make. Equal texts are equal regardless of case.
type cloud struct {
	t           *testing.T
	get         func(context.Context, plan.Existing) (inputs, outputs lumigl.Value, err error)
	description plan.Description
}

func (c cloud) Describe(_ context.Context, types []tokens.Type) ([]plan.Description, error) {
	return []plan.Description{c.description}, nil
}

func (c cloud) Check(context.Context, plan.CheckRequest) (v lumigl.Value, err error) {
	c.t.Error("a refresh called Check")
	return v, err
}

func (c cloud) Name(context.Context, plan.Desired) (string, error) {
	c.t.Error("a refresh called Name")
	return "", nil
}

func (c cloud) Call(context.Context, plan.Desired) (v lumigl.Value, err error) {
	c.t.Error("a refresh called Call")
	return v, err
}

func (c cloud) Get(ctx context.Context, r plan.Existing) (inputs, outputs lumigl.Value, err error) {
	return c.get(ctx, r)
}

// InspectChange reports added and removed properties as a whole, and members of the property "tags" by themselves.
func (c cloud) InspectChange(_ context.Context, r plan.InspectChangeRequest) (d plan.Difference, err error) {
	add := func(path string, a, b lumigl.Value) {
		if !a.Equal(b) && a.Kind() != lumigl.Bool { // the provider ignores booleans
			d.Changes = append(d.Changes, plan.Change{Path: path})
		}
	}
	for name, v := range r.Old.Members() {
		wanted := r.Properties.Get(name)
		switch {
		case slices.Contains(c.description.Outputs, name):
		case name != "tags" || !wanted.Exists():
			add(name, v, wanted)
		default:
			for key, tag := range v.Members() {
				add("tags."+key, tag, wanted.Get(key))
			}
		}
	}
	for name, v := range r.Properties.Members() {
		if !r.Old.Get(name).Exists() {
			add(name, v, lumigl.Value{})
		}
	}
	return d, nil
}

// environment returns a graph with a version of module a.
func environment(t *testing.T, resources ...*graph.Resource) *graph.Graph {
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, resources)
	return must.Get((&graph.Graph{Environment: "dev"}).Deploy(graph.Update{Version: v}))(t).Graph
}

func TestCompare(t *testing.T) {
	vertex := must.Get(lumigl.NewResource(prefix + "o"))(t)
	value := func(text string) lumigl.Value {
		return must.Get(lumigl.Parser{}.ParseValue(text))(t).Replace(func(part lumigl.Value) (lumigl.Value, bool) {
			text, _ := part.Text()
			return lumigl.ReferenceTo(vertex), text == "@o"
		})
	}
	const (
		other  = `"@o"`
		secret = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "x"}`
		stored = `{"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "old"}`
		found  = `{"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "new"}`
	)
	for _, test := range []struct {
		name, checked, outputs, options string
		unread, before                  []string
		inputs, found                   string // the real properties
		drifted, ignored                []string
		now, nowOutputs                 string // "" if there is nothing to store
	}{
		{name: "unchanged", checked: `{"size": 1}`, outputs: `{"arn": "a"}`, inputs: `{"size": 1}`, found: `{"arn": "a"}`},
		{name: "changed", checked: `{"size": 1, "mode": 1}`, inputs: `{"size": 2, "mode": 1}`, drifted: []string{"size"}, now: `{"size": 2, "mode": 1}`},
		{name: "added and removed", checked: `{"size": 1, "mode": 1}`, inputs: `{"kind": 2, "mode": 1}`, drifted: []string{"kind", "size"},
			now: `{"kind": 2, "mode": 1}`},
		{name: "equal to the provider", checked: `{"on": true, "size": 1}`, inputs: `{"on": false, "size": 2}`, drifted: []string{"size"},
			now: `{"on": true, "size": 2}`},
		{name: "outputs", checked: `{}`, outputs: `{"arn": "a", "etag": 1}`, inputs: `{}`, found: `{"etag": 2}`, drifted: []string{"arn", "etag"},
			now: `{}`, nowOutputs: `{"etag": 2}`},
		{name: "write-only", checked: `{"password": ` + secret + `, "size": 1}`, inputs: `{"size": 1}`},
		{name: "unread", checked: `{"mode": 1, "size": 1}`, unread: []string{"mode"}, inputs: `{"size": 1}`},
		{name: "computed", checked: `{}`, outputs: `{"zone": "a"}`, inputs: `{"zone": "b"}`, drifted: []string{"zone"}, now: `{}`, nowOutputs: `{"zone": "b"}`},
		{name: "contents of files", checked: `{"file": ` + stored + `, "files": [{"a": ` + stored + `}]}`, inputs: `{"file": ` + found + `, "files": [{"a": ` + found + `}]}`},
		{name: "no files and references", checked: `{"file": ` + stored + `, "size": 1, "tags": {"a": {"b": [` + other + `]}, "c": 1}}`,
			inputs: `{"size": 2, "tags": {"c": 1}}`, drifted: []string{"size"},
			now: `{"file": ` + stored + `, "size": 2, "tags": {"a": {"b": [` + other + `]}, "c": 1}}`},
		{name: "another reference", checked: `{"on": [` + other + `], "size": 1}`, inputs: `{"on": [], "size": 1}`, drifted: []string{"on"},
			now: `{"on": [], "size": 1}`},
		{name: "ignoreChanges", checked: `{"mode": 1, "tags": {"a": 1}}`, options: `{"ignoreChanges": ["mode", "tags.b"]}`,
			inputs: `{"mode": 2, "tags": {"a": 1, "b": 2}}`, ignored: []string{"mode", "tags.b"}, now: `{"mode": 2, "tags": {"a": 1, "b": 2}}`},
		{name: "Lumi.yaml", checked: `{"tags": {"a": 1}}`, inputs: `{"tags": {"a": 1, "scanner": 1}}`, ignored: []string{"tags.scanner"}},
		{name: "Lumi.yaml, the only member", checked: `{}`, inputs: `{"tags": {"scanner": 1}}`, ignored: []string{"tags"}},
		{name: "Lumi.yaml, one of two members", checked: `{}`, inputs: `{"tags": {"scanner": 1, "b": 1}}`, drifted: []string{"tags"}, now: `{"tags": {"b": 1}}`},
		{name: "Lumi.yaml, an output", checked: `{}`, outputs: `{"state": 1}`, inputs: `{}`, found: `{"state": 2}`, ignored: []string{"state"}},
		{name: "drifted before", checked: `{"mode": 1, "size": 1}`, before: []string{"mode"}, inputs: `{"mode": 1, "size": 2}`,
			drifted: []string{"size"}, now: `{"mode": 1, "size": 2}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := func(text string) lumigl.Value {
				if text == "" {
					text = "{}"
				}
				return value(text)
			}
			disk := &graph.Resource{
				URN: prefix + "d", Deployment: 1, ID: "1", Inputs: value(`{"size": 0}`), Checked: value(test.checked), Outputs: object(test.outputs),
				Options: object(test.options), Unread: test.unread, Drifted: test.before,
			}
			provider := cloud{
				t: t, description: plan.Description{Outputs: []string{"arn", "etag", "state"}, WriteOnly: []string{"password"}, Computed: []string{"zone"}},
				get: func(_ context.Context, r plan.Existing) (lumigl.Value, lumigl.Value, error) {
					if r.ID != "1" || !r.Properties.Equal(disk.Properties()) {
						t.Errorf("Get(%+v): want the stored properties", r)
					}
					return value(test.inputs), object(test.found), nil
				},
			}
			all := must.Get(refresh.Read(t.Context(), refresh.Request{
				Graph: environment(t, disk), Resources: []*graph.Resource{disk}, Provider: func(*graph.Resource) plan.Provider { return provider },
				Ignore: []string{"x:m:Disk.tags.scanner", "x:m:Disk.state", "x:m:Other.size"}, Parallelism: 1, Timeout: time.Minute,
			}))(t)
			got := all[0]
			if !slices.Equal(got.Drifted, test.drifted) || !slices.Equal(got.Ignored, test.ignored) || got.Err != nil {
				t.Errorf("Read() = drifted %q, ignored %q, error %v, want %q and %q", got.Drifted, got.Ignored, got.Err, test.drifted, test.ignored)
			}
			if got.Actual == nil || test.now == "" {
				if (got.Actual == nil) != (test.now == "") {
					t.Errorf("Read().Actual = %v, want %q", got.Actual, test.now)
				}
				return
			}
			outputs := test.nowOutputs
			if outputs == "" {
				outputs = test.outputs
			}
			if !got.Actual.Checked.Equal(value(test.now)) || !got.Actual.Outputs.Equal(object(outputs)) || !got.Actual.Inputs.Equal(disk.Inputs) {
				t.Errorf("Read().Actual has %v, outputs %v, want %s, outputs %s", got.Actual.Checked, got.Actual.Outputs, test.now, outputs)
			}
			if want := slices.Sorted(slices.Values(slices.Concat(test.before, test.drifted))); !slices.Equal(got.Actual.Drifted, want) {
				t.Errorf("Read().Actual.Drifted = %q, want %q", got.Actual.Drifted, want)
			}
		})
	}
}

// At most 16 resources are read at once. Neither a resource that is gone nor one that cannot be read hides others.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var resources []*graph.Resource
		for i := range 100 {
			name := fmt.Sprint(i)
			resources = append(resources, &graph.Resource{URN: urn.URN(prefix + name), Deployment: 1, ID: name, Checked: lumigl.ObjectOf()})
		}
		resources = append(resources, &graph.Resource{URN: prefix + "provisioned", Deployment: 1, ID: "x", Provisioner: "tofu"},
			&graph.Resource{URN: prefix + "gone", Deployment: 1, Drifted: []string{"id"}})
		g := environment(t, resources...)
		var running, most atomic.Int64
		provider := cloud{t: t, get: func(ctx context.Context, r plan.Existing) (inputs, outputs lumigl.Value, err error) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			switch r.ID {
			case "3":
				return inputs, outputs, fmt.Errorf("disk 3: %w", lumi.ErrNotFound)
			case "4":
				return inputs, outputs, errors.New("no permission")
			case "99":
				<-ctx.Done()
				return inputs, outputs, ctx.Err()
			}
			return lumigl.ObjectOf(), lumigl.ObjectOf(), nil
		}}
		began := time.Now()
		all := must.Get(refresh.Read(t.Context(), refresh.Request{
			Graph: g, Resources: refresh.Resources(g, "a"), Provider: func(*graph.Resource) plan.Provider { return provider }, Parallelism: 16, Timeout: 5 * time.Second,
		}))(t)
		if took := time.Since(began); most.Load() != 16 || took != 11*time.Second || len(all) != 100 {
			t.Errorf("Read() of %d resources made %d calls at once and took %s, want 100, 16 and 11s", len(all), most.Load(), took)
		}
		for i, r := range all {
			isGone, failed := r.Actual != nil && r.Actual.Gone() && slices.Equal(r.Drifted, []string{"id"}), r.Err != nil
			if r.Stored != resources[i] || isGone != (i == 3) || failed != (i == 4 || i == 99) {
				t.Errorf("Read()[%d] = %+v, want only 3 to be gone and only 4 and 99 to fail", i, r)
			}
		}
		if err := all[4].Err; err == nil || err.Error() != "no permission" {
			t.Errorf("Read()[4].Err = %v, want no permission", err)
		}
		if err := all[99].Err; err == nil || err.Error() != "timed out after 5s" {
			t.Errorf("Read()[99].Err = %v, want timed out after 5s", err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := refresh.Read(canceled, refresh.Request{Graph: g, Resources: resources[:1], Provider: func(*graph.Resource) plan.Provider { return provider }, Parallelism: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("Read() with a canceled context: error %v, want %v", err, context.Canceled)
		}
	})
}

func TestApply(t *testing.T) {
	at := func(deployment graph.Deployment, name, id string) *graph.Resource {
		return &graph.Resource{URN: urn.URN(prefix + name), Deployment: deployment, ID: id}
	}
	same, equal, changed, lost, unread := at(1, "same", "1"), at(1, "equal", "2"), at(1, "changed", "3"), at(1, "lost", "4"), at(1, "unread", "5")
	equalNow, changedNow := *equal, *changed
	changedNow.Outputs = lumigl.ObjectOf(lumigl.Member{Key: "arn", Value: lumigl.TextOf("x")})
	g := environment(t, same, &equalNow, &changedNow, unread)
	var results []refresh.Result
	for _, r := range []*graph.Resource{same, equal, changed, lost} {
		actual := *r
		actual.Drifted = []string{"size"}
		results = append(results, refresh.Result{Stored: r, Actual: &actual})
	}
	after, stale := refresh.Apply(g, append(results, refresh.Result{Stored: unread}))
	if len(stale) != 2 || stale[0].Stored != changed || stale[1].Stored != lost {
		t.Errorf("Apply() left out %v, want changed and lost", stale)
	}
	var drifted []string
	for r := range after.Newest("a").Resources() {
		if len(r.Drifted) > 0 {
			drifted = append(drifted, r.URN.Name())
		}
	}
	if want := []string{"same", "equal"}; !slices.Equal(drifted, want) {
		t.Errorf("Apply() changed %q, want %q", drifted, want)
	}
	if same, _ := refresh.Apply(g, nil); same != g {
		t.Error("Apply() without results returned another graph")
	}
}
