package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/server"
	api "github.com/lumi-idl/lumi/server/client"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// operations returns the paths of the OpenAPI document and their methods.
func operations(t *testing.T) map[string][]string {
	var document struct{ Paths map[string]map[string]any }
	must.Do(t, json.Unmarshal(server.OpenAPI(), &document))
	all := map[string][]string{}
	for path, methods := range document.Paths {
		for m := range methods {
			all[path] = append(all[path], strings.ToUpper(m))
		}
	}
	if len(all) < 25 {
		t.Fatalf("the OpenAPI document has %d paths, want at least 25", len(all))
	}
	return all
}

var parameter = regexp.MustCompile(`\{\w+\}`)

// recorder is an HTTP transport that records the operations called by a client and the resulting statuses. It validates
// each response against the OpenAPI document.
type recorder struct {
	t       *testing.T
	schemas *jsonschema.Compiler
	mutex   sync.Mutex
	seen    map[string]bool
	paths   map[string][]string
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	a, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	best := ""
	for path := range r.paths { // a literal segment takes precedence over a parameter
		if regexp.MustCompile("^"+parameter.ReplaceAllString(path, "[^/]+")+"$").MatchString(q.URL.Path) && (best == "" || strings.Count(path, "{") < strings.Count(best, "{")) {
			best = path
		}
	}
	r.seen[fmt.Sprintf("%s %s %d", q.Method, best, a.StatusCode)] = true
	text, err := io.ReadAll(a.Body)
	a.Body = io.NopCloser(bytes.NewReader(text))
	if err != nil || a.StatusCode == http.StatusNoContent {
		return a, err
	}
	status, kind := strconv.Itoa(a.StatusCode), "application~1json"
	if a.StatusCode >= 400 {
		status, kind = "default", "application~1problem+json"
	}
	if want := strings.ReplaceAll(kind, "~1", "/"); a.Header.Get("Content-Type") != want {
		r.t.Errorf("%s %s: Content-Type = %q, want %q", q.Method, q.URL, a.Header.Get("Content-Type"), want)
	}
	pointer := []string{"openapi.json#/paths", strings.ReplaceAll(best, "/", "~1"), strings.ToLower(q.Method), "responses", status, "content", kind, "schema"}
	if status == "default" { // all operations refer to one description, as TestErrorResponses checks
		pointer = []string{"openapi.json#/components/responses/Failure/content", kind, "schema"}
	}
	schema, err := r.schemas.Compile(strings.Join(pointer, "/"))
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err = errors.Join(err, schema.Validate(value)); err != nil {
		r.t.Errorf("%s %s: response %s does not match the schema: %v", q.Method, q.URL, text, err)
	}
	return a, nil
}

// taskOf returns a task of the given type.
func taskOf(id, kind string) taskgraph.Task {
	return taskgraph.Task{ID: id, Attributes: map[string]any{"type": kind}}
}

// tasks returns tasks of type stage.
func tasks(ids ...string) (all []taskgraph.Task) {
	for _, id := range ids {
		all = append(all, taskOf(id, "stage"))
	}
	return all
}

// stored converts tasks to the type used in responses.
func stored(tasks []taskgraph.Task) (all []api.Task) {
	for _, t := range tasks {
		all = append(all, api.Task{Task: t})
	}
	return all
}

type caller struct {
	*world
	*api.Client
	*recorder
	// release and plugin are IDs; releasePath and pluginPath are the same IDs as strings.
	release, plugin         int64
	releasePath, pluginPath string
}

func (c *caller) check(err error, status, want int, what ...any) {
	c.Helper()
	if err != nil || status != want {
		c.Fatal(append([]any{"status", status, "want", want, err}, what...)...)
	}
}

// TestRoutes calls every operation with the generated client, both successfully and unsuccessfully.
func TestRoutes(t *testing.T) {
	t.Parallel()
	c := &caller{world: start(t), recorder: &recorder{t: t, schemas: jsonschema.NewCompiler(), seen: map[string]bool{}, paths: operations(t)}}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(server.OpenAPI()))
	if err = errors.Join(err, c.schemas.AddResource("openapi.json", document)); err != nil {
		t.Fatal(err)
	}
	c.Client = &api.Client{URL: c.url, Token: c.tokens[server.Deploy], HTTP: http.Client{Transport: c.recorder}}
	c.addReleases()
	c.createGraphs()
	c.readGraphs()
	c.updateGraphs()
	c.selects()
	c.runs()
	c.stops()
	c.changeByID()
	c.deletes()
	for path, methods := range c.paths {
		for _, m := range methods {
			var found []string
			for seen := range c.seen {
				if strings.HasPrefix(seen, m+" "+path+" ") {
					found = append(found, seen[len(m+path)+2:])
				}
			}
			if slices.Sort(found); len(found) == 0 || found[0] >= "300" {
				t.Errorf("%s %s: statuses = %v, want a success", m, path, found)
			}
		}
	}
}

func (c *caller) addReleases() {
	ctx := c.Context()
	release, err := c.AddRelease(ctx, api.Release{Layer: store.ReleaseLayer, Name: "shop", Version: "1"})
	c.check(err, release.StatusCode, 201, string(release.Body))
	c.release, c.releasePath = release.JSON.ID, fmt.Sprint(release.JSON.ID)
	if at := release.Header.Get("Location"); at != fmt.Sprintf("/releases/%d", c.release) {
		c.Errorf("AddRelease: Location = %q, want /releases/%d", at, c.release)
	}
	again, err := c.AddRelease(ctx, api.Release{Layer: store.ReleaseLayer, Name: "shop", Version: "1"})
	c.check(err, again.StatusCode, 409)
	if got := again.Problem.Detail; got != "release shop 1 already exists" {
		c.Errorf("AddRelease of a duplicate: detail = %q", got)
	}
	if a := c.send(server.Deploy, "POST", "/releases/", `{"name": "shop", "version": "1"}`); a.status != 409 { // the path determines the layer
		c.Errorf("POST /releases/ without a layer = %d %s, want 409", a.status, a.body)
	}
	again, err = c.AddRelease(ctx, api.Release{Layer: store.ReleaseLayer, Name: "not a name", Version: "1"})
	c.check(err, again.StatusCode, 400)
	plugin, err := c.AddPlugin(ctx, api.Release{Layer: store.PluginLayer, Name: "lma", Version: "2"})
	c.check(err, plugin.StatusCode, 201)
	c.plugin, c.pluginPath = plugin.JSON.ID, fmt.Sprint(plugin.JSON.ID)
	plugin, err = c.AddPlugin(ctx, api.Release{Layer: store.PluginLayer, Name: "lma", Version: "2"})
	c.check(err, plugin.StatusCode, 409)
	plugin, err = c.AddPlugin(ctx, api.Release{Layer: store.PluginLayer, Name: "", Version: "2"})
	c.check(err, plugin.StatusCode, 400)
	releases, err := c.ListReleases(ctx)
	c.check(err, releases.StatusCode, 200)
	plugins, err := c.ListPlugins(ctx)
	c.check(err, plugins.StatusCode, 200)
	if all := slices.Concat(releases.JSON, plugins.JSON); len(all) != 2 || all[0].Name != "shop" || all[1].Layer != "plugin" {
		c.Errorf("ListReleases and ListPlugins = %+v, want shop and one plugin", all)
	}
	one, err := c.GetRelease(ctx, c.release)
	c.check(err, one.StatusCode, 200)
	one, err = c.GetRelease(ctx, 99)
	c.check(err, one.StatusCode, 404)
	two, err := c.GetPlugin(ctx, c.plugin)
	c.check(err, two.StatusCode, 200)
	two, err = c.GetPlugin(ctx, c.release) // a release is not a plugin
	c.check(err, two.StatusCode, 404)
}

func (c *caller) createGraphs() {
	ctx := c.Context()
	graph, err := c.CreateReleaseGraph(ctx, c.releasePath, api.Upload{Name: new("Release"), Tasks: tasks("a", "b")})
	c.check(err, graph.StatusCode, 201, string(graph.Body))
	g := graph.JSON
	if g.Type != "default" || g.Name != "Release" || len(g.Tasks) != 2 || g.Tasks[0].DatabaseID == 0 || g.Relations[0].Layer != "release" || g.Relations[0].ID != c.release {
		c.Errorf("CreateReleaseGraph = %s", graph.Body)
	}
	if at := graph.Header.Get("Location"); at != fmt.Sprintf("/graphs/%d", g.ID) {
		c.Errorf("CreateReleaseGraph: Location = %q, want /graphs/%d", at, g.ID)
	}
	for _, d := range []struct {
		id   string
		body api.Upload
		want int
	}{{c.releasePath, api.Upload{}, 409}, {"99", api.Upload{}, 404}, {"shop", api.Upload{}, 400}, {c.releasePath, api.Upload{Type: "no type"}, 400}} {
		body, _ := json.Marshal(d.body)
		if a := c.send(server.Deploy, "POST", "/releases/"+d.id+"/deployment_graphs/", string(body)); a.status != d.want {
			c.Errorf("creation of graph %+v = %d %s, want %d", d, a.status, a.body, d.want)
		}
	}
	clusterGraph, err := c.CreateClusterGraph(ctx, "dev", api.Upload{Type: "default", Tasks: tasks("c")})
	c.check(err, clusterGraph.StatusCode, 201, string(clusterGraph.Body))
	clusterGraph, err = c.CreateClusterGraph(ctx, "dev", api.Upload{Tasks: tasks("c")})
	c.check(err, clusterGraph.StatusCode, 409)
	clusterGraph, err = c.CreateClusterGraph(ctx, "other", api.Upload{})
	c.check(err, clusterGraph.StatusCode, 404)
	clusterGraph, err = c.CreateClusterGraph(ctx, "dev", api.Upload{Type: "cycle", Tasks: []taskgraph.Task{
		{ID: "x", Attributes: map[string]any{"type": "stage", "requires": []string{"x"}}},
	}})
	c.check(err, clusterGraph.StatusCode, 400)
	pluginGraph, err := c.CreatePluginGraph(ctx, c.pluginPath, api.Upload{Tasks: tasks("d")})
	c.check(err, pluginGraph.StatusCode, 201, string(pluginGraph.Body))
	pluginGraph, err = c.CreatePluginGraph(ctx, c.pluginPath, api.Upload{})
	c.check(err, pluginGraph.StatusCode, 409)
	pluginGraph, err = c.CreatePluginGraph(ctx, "99", api.Upload{})
	c.check(err, pluginGraph.StatusCode, 404)
	pluginGraph, err = c.CreatePluginGraph(ctx, "lma", api.Upload{})
	c.check(err, pluginGraph.StatusCode, 400)
}

func (c *caller) readGraphs() {
	ctx := c.Context()
	listed, err := c.ListReleaseGraphs(ctx, c.releasePath)
	c.check(err, listed.StatusCode, 200)
	if len(listed.JSON) != 1 || listed.JSON[0].Tasks != nil {
		c.Errorf("ListReleaseGraphs = %s, want one graph without tasks", listed.Body)
	}
	listed, err = c.ListReleaseGraphs(ctx, "99")
	c.check(err, listed.StatusCode, 404)
	listed2, err := c.ListClusterGraphs(ctx, "prod")
	c.check(err, listed2.StatusCode, 200)
	if strings.TrimSpace(string(listed2.Body)) != "[]" {
		c.Errorf("ListClusterGraphs = %s, want []", listed2.Body)
	}
	listed2, err = c.ListClusterGraphs(ctx, "other")
	c.check(err, listed2.StatusCode, 404)
	listed3, err := c.ListPluginGraphs(ctx, c.pluginPath)
	c.check(err, listed3.StatusCode, 200)
	listed3, err = c.ListPluginGraphs(ctx, "99")
	c.check(err, listed3.StatusCode, 404)

	got, err := c.GetReleaseGraph(ctx, c.releasePath, "default")
	c.check(err, got.StatusCode, 200)
	got, err = c.GetReleaseGraph(ctx, c.releasePath, "other")
	c.check(err, got.StatusCode, 404)
	got2, err := c.GetClusterGraph(ctx, "dev", "default")
	c.check(err, got2.StatusCode, 200)
	got2, err = c.GetClusterGraph(ctx, "dev", "other")
	c.check(err, got2.StatusCode, 404)
	got3, err := c.GetPluginGraph(ctx, c.pluginPath, "default")
	c.check(err, got3.StatusCode, 200)
	got3, err = c.GetPluginGraph(ctx, c.pluginPath, "other")
	c.check(err, got3.StatusCode, 404)
}

func (c *caller) updateGraphs() {
	ctx := c.Context()
	put, err := c.PutReleaseGraph(ctx, c.releasePath, "default", api.Upload{Name: new("New")})
	c.check(err, put.StatusCode, 200)
	if put.JSON.Name != "New" || len(put.JSON.Tasks) != 2 {
		c.Errorf("PutReleaseGraph = %s, want only the name changed", put.Body)
	}
	put, err = c.PutReleaseGraph(ctx, c.releasePath, "other", api.Upload{})
	c.check(err, put.StatusCode, 404)
	put, err = c.PutReleaseGraph(ctx, c.releasePath, "default", api.Upload{Type: "other"})
	c.check(err, put.StatusCode, 400)
	put2, err := c.PutClusterGraph(ctx, "dev", "default", api.Upload{Tasks: tasks("c", "e")})
	c.check(err, put2.StatusCode, 200)
	if put2.JSON.Name != "" || len(put2.JSON.Tasks) != 2 {
		c.Errorf("PutClusterGraph = %s, want only the tasks changed", put2.Body)
	}
	put2, err = c.PutClusterGraph(ctx, "dev", "other", api.Upload{})
	c.check(err, put2.StatusCode, 404)
	put2, err = c.PutClusterGraph(ctx, "dev", "default", api.Upload{Relations: []store.Owner{{Layer: "cluster", Environment: "prod"}}})
	c.check(err, put2.StatusCode, 400)
	put3, err := c.PutPluginGraph(ctx, c.pluginPath, "default", api.Upload{})
	c.check(err, put3.StatusCode, 200)
	put3, err = c.PutPluginGraph(ctx, c.pluginPath, "other", api.Upload{})
	c.check(err, put3.StatusCode, 404)
	put3, err = c.PutPluginGraph(ctx, c.pluginPath, "default", api.Upload{Tasks: tasks("d", "d")})
	c.check(err, put3.StatusCode, 400)
}

func (c *caller) selects() {
	ctx := c.Context()
	selection, err := c.PutSelection(ctx, "dev", api.NewSelection{Release: new(api.ID(c.release)), Plugins: []api.ID{api.ID(c.plugin)}})
	c.check(err, selection.StatusCode, 200, string(selection.Body))
	selection, err = c.PutSelection(ctx, "dev", api.NewSelection{Release: new(api.ID(99))})
	c.check(err, selection.StatusCode, 404)
	selection, err = c.PutSelection(ctx, "dev", api.NewSelection{Plugins: []api.ID{api.ID(c.plugin), api.ID(c.plugin)}})
	c.check(err, selection.StatusCode, 400)
	clusters, err := c.ListClusters(ctx)
	c.check(err, clusters.StatusCode, 200)
	if want := []api.Cluster{{Name: "dev"}, {Name: "prod"}}; !slices.Equal(clusters.JSON, want) {
		c.Errorf("ListClusters = %s, want dev and prod", clusters.Body)
	}
	selected, err := c.GetSelection(ctx, "dev")
	c.check(err, selected.StatusCode, 200)
	if selected.JSON.Release.ID != c.release || len(selected.JSON.Plugins) != 1 {
		c.Errorf("GetSelection = %s, want the release and one plugin", selected.Body)
	}
	selected, err = c.GetSelection(ctx, "other")
	c.check(err, selected.StatusCode, 404)
	merged, err := c.GetMergedTasks(ctx, "dev", api.GetMergedTasksParams{})
	c.check(err, merged.StatusCode, 200)
	if len(merged.JSON) != 5 {
		c.Errorf("GetMergedTasks = %s, want 5 tasks", merged.Body)
	}
	merged, err = c.GetMergedTasks(ctx, "dev", api.GetMergedTasksParams{Type: new("default"), Layers: &[]string{"release", "plugin"}})
	c.check(err, merged.StatusCode, 200)
	if len(merged.JSON) != 3 {
		c.Errorf("GetMergedTasks of release and plugin = %s, want 3 tasks", merged.Body)
	}
	merged, err = c.GetMergedTasks(ctx, "dev", api.GetMergedTasksParams{Type: new("other")})
	c.check(err, merged.StatusCode, 404)
	merged, err = c.GetMergedTasks(ctx, "dev", api.GetMergedTasksParams{Layers: &[]string{"node"}})
	c.check(err, merged.StatusCode, 400)
	origins, err := c.ExplainMergedTasks(ctx, "dev", api.ExplainMergedTasksParams{})
	c.check(err, origins.StatusCode, 200)
	if origins.JSON.Origins["a"]["type"] != "release shop 1" {
		c.Errorf("ExplainMergedTasks = %s, want release shop 1 as the origin of a's type", origins.Body)
	}
	origins, err = c.ExplainMergedTasks(ctx, "other", api.ExplainMergedTasksParams{})
	c.check(err, origins.StatusCode, 404)
}

func (c *caller) runs() {
	ctx := c.Context()
	plan, err := c.PlanRun(ctx, "dev", api.PlanRunParams{}, nil)
	c.check(err, plan.StatusCode, 200)
	if plan.JSON.Type != "default" || len(plan.JSON.Items) != 5 {
		c.Errorf("PlanRun = %s, want type default and 5 items", plan.Body)
	}
	plan, err = c.PlanRun(ctx, "dev", api.PlanRunParams{GraphType: new("other")}, nil)
	c.check(err, plan.StatusCode, 404)
	run, err := c.DeployClusters(ctx, "dev", api.DeployClustersParams{GraphType: new("default"), Nodes: &[]string{"here"}}, nil)
	c.check(err, run.StatusCode, 201, string(run.Body))
	if at := run.Header.Get("Location"); at != fmt.Sprintf("/runs/%d", run.JSON.ID) || run.JSON.Type != "default" {
		c.Errorf("DeployClusters: Location = %q, body %s, want /runs/%d and type default", at, run.Body, run.JSON.ID)
	}
	shown, err := c.GetRun(ctx, run.JSON.ID)
	c.check(err, shown.StatusCode, 200)
	for !slices.Contains([]store.State{store.Done, store.Failed}, shown.JSON.State) {
		shown, err = c.GetRun(ctx, run.JSON.ID)
		c.check(err, shown.StatusCode, 200)
	}
	if shown.JSON.State != "DONE" || len(shown.JSON.Tasks) != 5 {
		c.Errorf("GetRun = %s, want DONE with 5 tasks", shown.Body)
	}
	shown, err = c.GetRun(ctx, 99)
	c.check(err, shown.StatusCode, 404)
	events, err := c.GetEvents(ctx, run.JSON.ID, api.GetEventsParams{})
	c.check(err, events.StatusCode, 200)
	later, err := c.GetEvents(ctx, run.JSON.ID, api.GetEventsParams{After: &events.JSON[0].Serial})
	c.check(err, later.StatusCode, 200)
	if len(later.JSON) != len(events.JSON)-1 || len(later.JSON) == 0 {
		c.Errorf("GetEvents = %s, then %s after the first, want one fewer", events.Body, later.Body)
	}
	events, err = c.GetEvents(ctx, 99, api.GetEventsParams{})
	c.check(err, events.StatusCode, 404)
	stopped, err := c.StopRun(ctx, run.JSON.ID)
	c.check(err, stopped.StatusCode, 409)
	stopped, err = c.StopRun(ctx, 99)
	c.check(err, stopped.StatusCode, 404)
	resumed, err := c.ResumeRun(ctx, run.JSON.ID, &api.Answer{})
	c.check(err, resumed.StatusCode, 409)
	resumed, err = c.ResumeRun(ctx, 99, &api.Answer{})
	c.check(err, resumed.StatusCode, 404)
	slip, err := c.DeployCluster(ctx, "dev", api.DeployClusterParams{}, &api.RunRequest{Type: "other"})
	c.check(err, slip.StatusCode, 404)
	slip, err = c.DeployCluster(ctx, "dev", api.DeployClusterParams{Type: new("default")}, &api.RunRequest{Type: "other"})
	c.check(err, slip.StatusCode, 201)
	run, err = c.DeployClusters(ctx, "prod", api.DeployClustersParams{}, nil)
	c.check(err, run.StatusCode, 404)
	listedRuns, err := c.ListRuns(ctx, "dev", api.ListRunsParams{Limit: new(int64(1))})
	c.check(err, listedRuns.StatusCode, 200)
	if all := listedRuns.JSON; len(all) != 1 || all[0].ID != slip.JSON.ID {
		c.Errorf("ListRuns with limit 1 = %s, want the latest run", listedRuns.Body)
	}
	listedRuns, err = c.ListRuns(ctx, "dev", api.ListRunsParams{Before: &slip.JSON.ID})
	c.check(err, listedRuns.StatusCode, 200)
	if len(listedRuns.JSON) != 1 {
		c.Errorf("ListRuns before the latest = %s, want 1 run", listedRuns.Body)
	}
	listedRuns, err = c.ListRuns(ctx, "dev", api.ListRunsParams{Limit: new(int64(0))})
	c.check(err, listedRuns.StatusCode, 400)
	listedRuns, err = c.ListRuns(ctx, "other", api.ListRunsParams{})
	c.check(err, listedRuns.StatusCode, 404)
}

func (c *caller) changeByID() {
	ctx := c.Context()
	all, err := c.ListGraphs(ctx)
	c.check(err, all.StatusCode, 200)
	if len(all.JSON) != 4 {
		c.Errorf("ListGraphs = %s, want 4 graphs", all.Body)
	}
	byID, err := c.CreateGraph(ctx, api.Upload{Type: "fix", Relations: []store.Owner{{Layer: "cluster", Environment: "prod"}}, Tasks: tasks("x", "y")})
	c.check(err, byID.StatusCode, 201, string(byID.Body))
	fix := byID.JSON
	byID, err = c.CreateGraph(ctx, api.Upload{Type: "fix"})
	c.check(err, byID.StatusCode, 400)
	byID, err = c.CreateGraph(ctx, api.Upload{Type: "fix", Relations: fix.Relations[:]})
	c.check(err, byID.StatusCode, 409)
	byID, err = c.CreateGraph(ctx, api.Upload{Type: "fix", Relations: []store.Owner{{Layer: "cluster", Environment: "other"}}})
	c.check(err, byID.StatusCode, 404)
	read, err := c.GetGraph(ctx, fix.ID)
	c.check(err, read.StatusCode, 200)
	read, err = c.GetGraph(ctx, 99)
	c.check(err, read.StatusCode, 404)
	changed, err := c.PutGraph(ctx, fix.ID, api.Upload{Name: new("Fix"), Tasks: []taskgraph.Task{fix.Tasks[0].Task, taskOf("y", "anchor")}})
	c.check(err, changed.StatusCode, 200, string(changed.Body))
	if now := changed.JSON.Tasks; now[0].DatabaseID != fix.Tasks[0].DatabaseID || now[1].DatabaseID == fix.Tasks[1].DatabaseID {
		c.Errorf("PutGraph changed tasks %+v to %s, want the first ID kept and a new second ID", fix.Tasks, changed.Body)
	}
	changed, err = c.PutGraph(ctx, 99, api.Upload{})
	c.check(err, changed.StatusCode, 404)
	changed, err = c.PutGraph(ctx, fix.ID, api.Upload{Type: "other"})
	c.check(err, changed.StatusCode, 400)
	ofGraph, err := c.ListTasks(ctx, fix.ID)
	c.check(err, ofGraph.StatusCode, 200)
	x := ofGraph.JSON[0].DatabaseID
	ofGraph, err = c.ListTasks(ctx, 99)
	c.check(err, ofGraph.StatusCode, 404)
	replaced, err := c.PutTasks(ctx, fix.ID, stored(tasks("x", "z")))
	c.check(err, replaced.StatusCode, 200)
	if replaced.JSON[0].DatabaseID != x || len(replaced.JSON) != 2 {
		c.Errorf("PutTasks = %s, want 2 tasks, the first with its ID kept", replaced.Body)
	}
	z := replaced.JSON[1].DatabaseID
	replaced, err = c.PutTasks(ctx, 99, stored(tasks("x")))
	c.check(err, replaced.StatusCode, 404)
	replaced, err = c.PutTasks(ctx, fix.ID, stored(tasks("not a name")))
	c.check(err, replaced.StatusCode, 400)
	task, err := c.GetTask(ctx, fix.ID, x)
	c.check(err, task.StatusCode, 200)
	if task.JSON.ID != "x" || task.JSON.DatabaseID != x {
		c.Errorf("GetTask = %s, want task x", task.Body)
	}
	task, err = c.GetTask(ctx, fix.ID, 9999)
	c.check(err, task.StatusCode, 404)
	putTask, err := c.PutTask(ctx, fix.ID, x, api.Task{Task: taskOf("x", "anchor"), DatabaseID: 9999}) // the ID in the body is ignored
	c.check(err, putTask.StatusCode, 200)
	putTask, err = c.PutTask(ctx, fix.ID, x, api.Task{Task: taskgraph.Task{ID: "x"}}) // the update gave the task a new ID
	c.check(err, putTask.StatusCode, 404)
	putTask, err = c.PutTask(ctx, fix.ID, x, api.Task{Task: taskgraph.Task{ID: "?"}})
	c.check(err, putTask.StatusCode, 400)
	deletedTask, err := c.DeleteTask(ctx, fix.ID, z)
	c.check(err, deletedTask.StatusCode, 204)
	deletedTask, err = c.DeleteTask(ctx, fix.ID, x)
	c.check(err, deletedTask.StatusCode, 404)
	deleted, err := c.DeleteGraph(ctx, fix.ID)
	c.check(err, deleted.StatusCode, 204)
	deleted, err = c.DeleteGraph(ctx, fix.ID)
	c.check(err, deleted.StatusCode, 404)
}

func (c *caller) deletes() {
	ctx := c.Context()
	inUse, err := c.DeleteRelease(ctx, c.release)
	c.check(err, inUse.StatusCode, 409)
	inUse2, err := c.DeletePlugin(ctx, c.plugin)
	c.check(err, inUse2.StatusCode, 409)
	selection, err := c.PutSelection(ctx, "dev", api.NewSelection{Release: new(api.ID(0)), Plugins: []api.ID{}})
	c.check(err, selection.StatusCode, 200, string(selection.Body))
	gone, err := c.DeleteReleaseGraph(ctx, c.releasePath, "default")
	c.check(err, gone.StatusCode, 204)
	gone, err = c.DeleteReleaseGraph(ctx, c.releasePath, "default")
	c.check(err, gone.StatusCode, 404)
	gone2, err := c.DeleteClusterGraph(ctx, "dev", "default")
	c.check(err, gone2.StatusCode, 204)
	gone2, err = c.DeleteClusterGraph(ctx, "dev", "default")
	c.check(err, gone2.StatusCode, 404)
	gone3, err := c.DeletePluginGraph(ctx, c.pluginPath, "default")
	c.check(err, gone3.StatusCode, 204)
	gone3, err = c.DeletePluginGraph(ctx, c.pluginPath, "default")
	c.check(err, gone3.StatusCode, 404)
	inUse, err = c.DeleteRelease(ctx, c.release)
	c.check(err, inUse.StatusCode, 204)
	inUse, err = c.DeleteRelease(ctx, c.release)
	c.check(err, inUse.StatusCode, 404)
	inUse2, err = c.DeletePlugin(ctx, c.plugin)
	c.check(err, inUse2.StatusCode, 204)
	inUse2, err = c.DeletePlugin(ctx, c.plugin)
	c.check(err, inUse2.StatusCode, 404)
}

// until waits until a run is in the given state.
func (c *caller) until(id int64, state store.State) {
	c.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r, err := c.GetRun(c.Context(), id)
		c.check(err, r.StatusCode, 200)
		if r.JSON.State == state {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("run is not in state %s after 20s: %s", state, r.Body)
		}
	}
}

func (c *caller) stops() {
	ctx := c.Context()
	created, err := c.CreateClusterGraph(ctx, "prod", api.Upload{Tasks: []taskgraph.Task{
		{ID: "wait", Attributes: map[string]any{"type": "shell", "parameters": map[string]any{"cmd": "until [ -e go ]; do sleep 0.02; done"}}},
		{ID: "after", Attributes: map[string]any{"type": "shell", "requires": []string{"wait"}, "parameters": map[string]any{"cmd": "true"}}},
	}})
	c.check(err, created.StatusCode, 201, string(created.Body))
	run, err := c.DeployClusters(ctx, "prod", api.DeployClustersParams{}, nil)
	c.check(err, run.StatusCode, 201, string(run.Body))
	id := run.JSON.ID
	c.until(id, "RUNNING")
	other, err := c.DeployCluster(ctx, "prod", api.DeployClusterParams{}, nil)
	c.check(err, other.StatusCode, 409, string(other.Body))
	stopped, err := c.StopRun(ctx, id)
	c.check(err, stopped.StatusCode, 200, string(stopped.Body))
	time.Sleep(400 * time.Millisecond) // longer than a third of the engine's lease, after which it checks for a stop
	must.Do(c, os.WriteFile(filepath.Join(c.folder, "go"), nil, 0o600))
	c.until(id, "CANCELLED")
	resumed, err := c.ResumeRun(ctx, id, &api.Answer{Number: 1, Done: true})
	c.check(err, resumed.StatusCode, 409, string(resumed.Body)) // the run is not waiting for an answer
	resumed, err = c.ResumeRun(ctx, id, nil)
	c.check(err, resumed.StatusCode, 200, string(resumed.Body))
	c.until(id, "DONE")
}
