package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// anyTask generates tasks as JSON. Their attributes are not always valid.
func anyTask() *rapid.Generator[map[string]any] {
	leaf := rapid.OneOf(
		rapid.SampledFrom([]any{nil, true, false, "", "a", "/a.*/", "*", 0, 7, -1.5, json.Number("12345678901234567890.5"), json.Number("1e400"), []any{}, map[string]any{}}),
		rapid.Map(rapid.String(), func(s string) any { return s }),
	)
	nested := rapid.Custom(func(t *rapid.T) any {
		if rapid.Bool().Draw(t, "is a list") {
			return rapid.SliceOfN(leaf, 0, 3).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.OneOf(rapid.SampledFrom([]string{"cmd", "timeout", "strategy"}), rapid.String()), leaf, 0, 3).Draw(t, "object")
	})
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"version", "roles", "tags", "condition", "reexecute_on", "refresh_on", "idempotent", "fail_on_error", "test_pre", "parameters",
	}))
	return rapid.Custom(func(t *rapid.T) map[string]any {
		return rapid.MapOfN(names, rapid.OneOf(leaf, nested), 0, 4).Draw(t, "attributes")
	})
}

// populate replaces all graphs and selections with generated ones. It returns the number of graphs.
func (w *world) populate(t *rapid.T, releases, plugins []service.Release) (graphs int) {
	ctx := w.Context()
	for _, environment := range []string{"dev", "prod"} {
		must.Get(w.service.Use(ctx, service.Selection{Environment: environment}))(t)
	}
	for _, g := range must.Get(w.service.Graphs(ctx, nil))(t) {
		must.Do(t, w.service.Delete(ctx, g.ID))
	}
	owners := []store.Owner{{Layer: "cluster", Environment: "dev"}, {Layer: "cluster", Environment: "prod"}}
	for _, r := range slices.Concat(releases, plugins) {
		owners = append(owners, store.Owner{Layer: r.Layer, ID: r.ID})
	}
	for i, owner := range owners {
		for _, kind := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"default", "fix"}), rapid.ID).Draw(t, "types") {
			var tasks []map[string]any
			for n, task := range rapid.SliceOfN(anyTask(), 0, 2).Draw(t, "tasks") {
				task["id"], task["type"] = fmt.Sprintf("t%d-%d", i, n), "stage"
				tasks = append(tasks, task)
			}
			graph := map[string]any{"type": kind, "relations": []store.Owner{owner}, "tasks": append([]map[string]any{}, tasks...)}
			if name := rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, "name"); name != "" {
				graph["name"] = name
			}
			body := must.Get(json.Marshal(graph))(t)
			if a := w.send(server.Deploy, "POST", "/graphs", string(body)); a.status == http.StatusCreated {
				graphs++
			} else if a.status != http.StatusBadRequest {
				t.Fatalf("POST %s = %d %s", body, a.status, a.body)
			}
		}
	}
	for _, environment := range []string{"dev", "prod"} {
		use := service.Selection{Environment: environment, Whole: rapid.Bool().Draw(t, "whole"), Order: rapid.Permutation([]store.Layer{"release", "cluster", "plugin"}).Draw(t, "order")}
		if n := rapid.IntRange(0, len(releases)).Draw(t, "release"); n > 0 {
			use.Release = &releases[n-1]
		}
		use.Plugins = rapid.Permutation(plugins).Draw(t, "plugins")[:rapid.IntRange(0, len(plugins)).Draw(t, "number of plugins")]
		_, err := w.service.Use(ctx, use)
		if invalid := new(taskgraph.Error); err != nil && !errors.As(err, &invalid) { // the graphs of plugins may be invalid together
			t.Fatal(err)
		}
	}
	return graphs
}

// instances returns all resources at a path of the OpenAPI document.
func (w *world) instances(t *rapid.T, path string) (all []string) {
	if path == "/clusters/{id}/selection" {
		return []string{"/clusters/dev/selection", "/clusters/prod/selection"}
	}
	for _, g := range must.Get(w.service.Graphs(w.Context(), nil))(t) {
		owner, id := g.Relations[0], fmt.Sprint(g.ID)
		if !strings.HasPrefix(path, "/graphs/") {
			if id = fmt.Sprint(owner.ID); owner.Layer == store.ClusterLayer {
				id = owner.Environment
			}
			if !strings.HasPrefix(path, "/"+string(owner.Layer)+"s/") {
				continue
			}
		}
		one := strings.NewReplacer("{id}", id, "{type}", g.Type).Replace(path)
		if !strings.Contains(one, "{task}") {
			all = append(all, one)
			continue
		}
		for _, task := range must.Get(w.service.Graph(w.Context(), g.ID))(t).Tasks {
			all = append(all, strings.Replace(one, "{task}", fmt.Sprint(task.DatabaseID), 1))
		}
	}
	return all
}

var taskID = regexp.MustCompile(`"_id":\d+,`)

// What GET returns is a valid body of PUT and changes nothing, at each path of the OpenAPI document with both methods. The
// same is true for parts of graphs and selections. After another change, it restores the resource.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	w := start(t)
	compiler := jsonschema.NewCompiler()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(server.OpenAPI()))
	must.Do(t, errors.Join(err, compiler.AddResource("openapi.json", document)))
	bodies := map[string]*jsonschema.Schema{}
	for path, methods := range operations(t) {
		if slices.Contains(methods, "GET") && slices.Contains(methods, "PUT") {
			bodies[path] = must.Get(compiler.Compile("openapi.json#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/put/requestBody/content/application~1json/schema"))(t)
		}
	}
	var releases, plugins []service.Release
	for i := range 2 {
		releases = append(releases, must.Get(w.service.AddRelease(t.Context(), service.Release{Layer: "release", Name: "shop", Version: fmt.Sprint(i)}))(t))
		plugins = append(plugins, must.Get(w.service.AddRelease(t.Context(), service.Release{Layer: "plugin", Name: "lma", Version: fmt.Sprint(i)}))(t))
	}
	graphs, restored, tried := 0, 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		graphs += w.populate(t, releases, plugins)
		get := func(path string) string {
			a := w.send(server.Read, "GET", path, "")
			if a.status != http.StatusOK {
				t.Fatalf("GET %s = %d %s", path, a.status, a.body)
			}
			return a.body
		}
		put := func(path, body string) {
			if a := w.send(server.Deploy, "PUT", path, body); a.status != http.StatusOK {
				t.Fatalf("PUT %s %s = %d %s", path, body, a.status, a.body)
			}
		}
		for _, path := range slices.Sorted(maps.Keys(bodies)) {
			for _, one := range w.instances(t, path) {
				tried[path]++
				before := get(one)
				value := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(before)))(t)
				if err := bodies[path].Validate(value); err != nil {
					t.Errorf("%s: %s is not a valid body of PUT: %v", path, before, err)
				}
				unchanged := func(body string) {
					if put(one, body); get(one) != before {
						t.Errorf("after PUT %s %s: %s, want %s", one, body, get(one), before)
					}
				}
				unchanged(before)
				object, ok := value.(map[string]any)
				if !ok || strings.HasSuffix(path, "{task}") {
					continue
				}
				keys := rapid.SliceOfDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(object))), rapid.ID[string]).Draw(t, "left out")
				other := `{"name": "other", "tasks": []}`
				if object["order"] != nil {
					other = `{"release": 1, "plugins": [2], "order": ["plugin", "release", "cluster"], "whole": false}`
				}
				maps.DeleteFunc(object, func(key string, _ any) bool { return slices.Contains(keys, key) })
				unchanged(string(must.Get(json.Marshal(value))(t)))
				if a := w.send(server.Deploy, "PUT", one, other); a.status != http.StatusOK {
					continue // the other plugin is invalid in this environment
				}
				restored++
				put(one, before)
				if after := get(one); taskID.ReplaceAllString(after, "") != taskID.ReplaceAllString(before, "") {
					t.Errorf("%s after a change was undone: %s, want %s", one, after, before)
				}
			}
		}
	})
	for path := range bodies {
		if tried[path] == 0 {
			t.Errorf("%s was never tried", path)
		}
	}
	if graphs == 0 || restored < tried["/clusters/{id}/selection"] || len(bodies) < 7 {
		t.Errorf("%d graphs were created, %d changes were undone, and %d paths have GET and PUT, want more", graphs, restored, len(bodies))
	}
}

// A PUT keeps the fields of a selection that are missing from its body. The release can be an ID, an object, null, or 0.
func TestSelectionFields(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, r := range []service.Release{{Layer: "release", Name: "shop", Version: "1"}, {Layer: "plugin", Name: "lma", Version: "1"}} {
		must.Get(w.service.AddRelease(t.Context(), r))(t)
	}
	const head, release, plugin = `{"environment":"dev","release":`, `{"id":1,"layer":"release","name":"shop","version":"1"}`, `[{"id":2,"layer":"plugin","name":"lma","version":"1"}]`
	const order, tail = `,"order":["release","cluster","plugin"],"whole":false}` + "\n", `,"order":["plugin","cluster","release"],"whole":true}` + "\n"
	for _, c := range [][2]string{
		{`{"release": 1}`, head + release + `,"plugins":[]` + order},
		{`{"plugins": [{"id": 2}]}`, head + release + `,"plugins":` + plugin + order},
		{`{"whole": true, "order": ["plugin", "cluster", "release"]}`, head + release + `,"plugins":` + plugin + tail},
		{`{"release": null}`, head + `null,"plugins":` + plugin + tail},
		{`{"release": {"id": 1, "name": "ignored"}, "environment": "ignored"}`, head + release + `,"plugins":` + plugin + tail},
		{`{"release": 0, "plugins": []}`, head + `null,"plugins":[]` + tail},
		{`{"order": [], "whole": false}`, head + `null,"plugins":[]` + order},
	} {
		if a := w.must(200, "PUT", "/clusters/dev/selection", c[0], nil); a.body != c[1] {
			t.Errorf("PUT %s = %s, want %s", c[0], a.body, c[1])
		}
		if a := w.must(200, "GET", "/clusters/dev/selection", "", nil); a.body != c[1] {
			t.Errorf("GET after PUT %s = %s, want %s", c[0], a.body, c[1])
		}
	}
}
