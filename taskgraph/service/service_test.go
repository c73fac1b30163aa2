package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/service"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// world is a service with two environments, prod and dev.
type world struct {
	*service.Service
	t     testing.TB
	nodes []inventory.Node
	// parameters contains the parameters of the environment.
	parameters map[string]any
	// fail maps the tasks that fail to their errors. executed lists the tasks that ran, and commands what they ran.
	mutex    sync.Mutex
	fail     map[string]error
	executed []string
	commands []string
}

func (w *world) Execute(_ context.Context, work run.Work) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	name := work.Task.ID
	if work.Node != nil {
		name = work.Node.Name + "/" + name
	}
	w.executed = append(w.executed, name)
	w.commands = append(w.commands, fmt.Sprintf("%s: %v", name, work.Task.Parameters["cmd"]))
	return w.fail[name]
}

func newWorld(t testing.TB, s store.Store) *world {
	t.Helper()
	w := &world{t: t, fail: map[string]error{}, parameters: map[string]any{}, nodes: []inventory.Node{
		{Name: "db-1", Roles: []string{"db"}, Parameters: map[string]any{"size": json.Number("1")}}, {Name: "web-1", Roles: []string{"web"}},
	}}
	engines := map[string]*run.Engine{}
	for _, name := range []string{"prod", "dev"} {
		must.Do(t, s.Write(context.Background(), name, func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: name}) }))
		engines[name] = run.New(run.Options{Store: s, Environment: name, Executor: w})
	}
	w.Service = &service.Service{
		Store: s, Types: tasktype.Builtin(), Engine: func(name string) *run.Engine { return engines[name] },
		Inventory: func(_ context.Context, environment string) (*inventory.Inventory, *lumigl.Snapshot, error) {
			if environment == "dev" {
				return nil, nil, errors.New("dev has no inventory")
			}
			return &inventory.Inventory{Nodes: w.nodes, Parameters: w.parameters}, nil, nil
		},
	}
	return w
}

var prod, dev = store.Owner{Layer: store.ClusterLayer, Environment: "prod"}, store.Owner{Layer: store.ClusterLayer, Environment: "dev"}

func owner(r service.Release) store.Owner { return store.Owner{Layer: r.Layer, ID: r.ID} }

// shell returns a task of type shell in YAML, with additional attributes in YAML.
func shell(id string, more ...string) string {
	return "{" + strings.Join(append([]string{"id: " + id, "type: shell", "parameters: {cmd: echo " + id + "}"}, more...), ", ") + "}"
}

func (w *world) graph(graphType string, tasks ...string) taskgraph.Graph {
	w.t.Helper()
	g, err := taskgraph.Parse([]byte("{type: "+graphType+", tasks: ["+strings.Join(tasks, ", ")+"]}"), "tasks.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	return *g
}

func (w *world) create(o store.Owner, graphType string, tasks ...string) service.Graph {
	w.t.Helper()
	return must.Get(w.Create(w.t.Context(), o, w.graph(graphType, tasks...)))(w.t)
}

func (w *world) release(layer store.Layer, name string) service.Release {
	w.t.Helper()
	return must.Get(w.AddRelease(w.t.Context(), service.Release{Layer: layer, Name: name, Version: "1.2"}))(w.t)
}

func (w *world) use(environment string, release *service.Release, plugins ...service.Release) {
	w.t.Helper()
	must.Get(w.Use(w.t.Context(), service.Selection{Environment: environment, Release: release, Plugins: plugins}))(w.t)
}

// want checks the kind and the message of an error. The kind is "" for problems of graphs.
func (w *world) want(kind service.Kind, message string, err error) {
	w.t.Helper()
	var e *service.Error
	var problems *taskgraph.Error
	switch {
	case kind == "" && !errors.As(err, &problems), kind != "" && (!errors.As(err, &e) || e.Kind != kind):
		w.t.Errorf("error = %T %v, want kind %q", err, err, kind)
	case err.Error() != message:
		w.t.Errorf("error = %s\nwant %s", err, message)
	}
}

func same(t testing.TB, want, got any) {
	t.Helper()
	expect.Equal(t, want, got)
}

// ids returns the tasks of a graph with their IDs as text.
func ids(g service.Graph) string {
	var all []string
	for _, t := range g.Tasks {
		all = append(all, fmt.Sprintf("%s:%d", t.ID, t.DatabaseID))
	}
	return strings.Join(all, " ")
}

// TestStores runs the main scenario on each store: three layers, a plan, a run that fails, a change, and a run of the
// remaining tasks.
func TestStores(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"memory": func(*testing.T) (store.Store, error) { return memory.New(), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := must.Get(open(t))(t)
			t.Cleanup(func() { s.Close() })
			mainPath(t, newWorld(t, s))
		})
	}
}

func mainPath(t *testing.T, w *world) {
	ctx := t.Context()
	shop, lma := w.release(store.ReleaseLayer, "shop"), w.release(store.PluginLayer, "lma")
	w.create(owner(shop), "upgrade", shell("stop", "reexecute_on: []"), shell("start", "requires: [stop]", "roles: [web]", "reexecute_on: []"))
	w.create(owner(lma), "upgrade", "{id: start, condition: $.event = never}", shell("watch", "cross_depends: [{name: stop}]", "roles: [db]"))
	w.use("prod", &shop, lma)
	w.create(prod, "upgrade", "{id: start, condition: $.event = deploy_changes, parameters: {cmd: start}}")
	_, err := w.Use(ctx, service.Selection{
		Environment: "prod", Release: &shop, Plugins: []service.Release{lma}, Order: []store.Layer{store.PluginLayer, store.ReleaseLayer, store.ClusterLayer},
	})
	must.Do(t, err)
	e := must.Get(w.Effective(ctx, "prod", "upgrade"))(t)
	same(t, map[string]string{
		"id": "plugin lma 1.2", "type": "release shop 1.2", "requires": "release shop 1.2", "roles": "release shop 1.2",
		"reexecute_on": "release shop 1.2", "condition": "cluster prod", "parameters": "cluster prod",
	}, e.Origins["start"])
	p := must.Get(w.Plan(ctx, "prod", service.RunRequest{Type: "upgrade"}))(t)
	same(t, service.Plan{Type: "upgrade", Items: []service.PlanItem{
		{Task: "start", Node: "web-1", Type: "shell", Condition: "$.event = deploy_changes", Holds: new(true), Waits: []string{"web-1/stop"}},
		{Task: "watch", Node: "db-1", Type: "shell", Waits: []string{"db-1/stop", "web-1/stop"}},
		{Task: "stop", Node: "db-1", Type: "shell"}, {Task: "stop", Node: "web-1", Type: "shell"},
	}}, p)
	w.fail["web-1/start"] = errors.New("exit status 1")
	var begun []int64
	w.Go = func(environment string, id int64) {
		begun = append(begun, id)
		if _, err := w.Engine(environment).Run(ctx, id); err != nil {
			t.Error(err)
		}
	}
	r := must.Get(w.Start(ctx, "prod", service.RunRequest{Type: "upgrade"}))(t)
	got := must.Get(w.Run(ctx, r.ID))(t)
	states := map[string]store.State{}
	for _, r := range got.Tasks {
		states[r.Node+"/"+r.Task] = r.State
	}
	if got.State != store.Failed || got.Running || !r.Running || got.Type != "upgrade" || got.Ended.IsZero() {
		t.Errorf("Start = %+v, then Run = %+v, want a failed run", r, got)
	}
	same(t, map[string]store.State{"db-1/stop": "DONE", "web-1/stop": "DONE", "db-1/watch": "DONE", "web-1/start": "FAILED"}, states)
	events := must.Get(w.Events(ctx, r.ID, 0))(t)
	same(t, events[1:], must.Get(w.Events(ctx, r.ID, events[0].Serial))(t))
	w.executed, w.fail = nil, nil
	must.Get(w.Resume(ctx, r.ID, nil))(t)
	same(t, []string{"web-1/start"}, w.executed)
	must.Get(w.Start(ctx, "prod", service.RunRequest{Type: "upgrade", Nodes: []string{"web-1"}, Event: "other"}))(t)
	same(t, []string{"web-1/start"}, w.executed) // nothing else ran, since the condition is false
	runs := must.Get(w.Runs(ctx, "prod", 0, 9))(t)
	if len(runs) != 2 || runs[1].ID != r.ID || runs[0].State != store.Done || runs[1].State != store.Done || len(begun) != 3 {
		t.Errorf("Runs = %+v, begun %v, want two finished runs", runs, begun)
	}
	same(t, runs[1:], must.Get(w.Runs(ctx, "prod", runs[0].ID, 9))(t))
	p = must.Get(w.Plan(ctx, "prod", service.RunRequest{Type: "upgrade", All: true}))(t)
	if p.Items[2].Skip != "" {
		t.Errorf("Plan with All = %+v, want no skipped item", p)
	}
	p = must.Get(w.Plan(ctx, "prod", service.RunRequest{Type: "upgrade"}))(t)
	if p.Items[2].Skip != "unchanged" || p.Items[1].Skip != "" || p.Items[0].Skip != "unchanged" {
		t.Errorf("Plan = %+v, want unchanged items skipped", p)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	g := w.create(prod, "default", shell("a"), shell("b"), shell("c"))
	a, b, c := g.Tasks[0].DatabaseID, g.Tasks[1].DatabaseID, g.Tasks[2].DatabaseID
	name := "Default graph"
	updated := must.Get(w.Update(ctx, g.ID, &name, nil))(t)
	if updated.Name != name || ids(updated) != ids(g) {
		t.Errorf("Update of the name = %+v, want name %s and unchanged tasks", updated, name)
	}
	updated = must.Get(w.Update(ctx, g.ID, nil, w.graph("default", shell("c"), shell("b", "requires: [c]"), shell("d"), shell("a")).Tasks))(t)
	newB, d := updated.Tasks[1].DatabaseID, updated.Tasks[2].DatabaseID
	if newB <= c || d <= c {
		t.Errorf("IDs after Update = %s, want new ones for b and d", ids(updated))
	}
	same(t, fmt.Sprintf("c:%d b:%d d:%d a:%d", c, newB, d, a), ids(updated))
	same(t, updated, must.Get(w.Find(ctx, prod, ""))(t))
	one := must.Get(w.UpdateTask(ctx, g.ID, newB, w.graph("default", shell("b", "requires: [c]")).Tasks[0]))(t)
	if one.DatabaseID != newB {
		t.Errorf("ID of an unchanged task = %d, want %d", one.DatabaseID, newB)
	}
	one = must.Get(w.UpdateTask(ctx, g.ID, newB, w.graph("default", shell("b")).Tasks[0]))(t)
	if one.DatabaseID <= d || one.DatabaseID == b {
		t.Errorf("ID of a changed task = %d, want a new one", one.DatabaseID)
	}
	must.Do(t, w.DeleteTask(ctx, g.ID, d))
	got := must.Get(w.Graph(ctx, g.ID))(t)
	same(t, fmt.Sprintf("c:%d b:%d a:%d", c, one.DatabaseID, a), ids(got))
	got = must.Get(w.Update(ctx, g.ID, nil, []taskgraph.Task{}))(t)
	if len(got.Tasks) != 0 || got.Name != name {
		t.Errorf("Update to no tasks = %+v, want no tasks and name %s", got, name)
	}
}

// The JSON of a task contains its ID, which is ignored in uploads.
func TestTaskJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	g := w.create(prod, "default", shell("a", "owner: me"))
	text, err := json.Marshal(g.Tasks[0])
	want := fmt.Sprintf(`{"_id":%d,"id":"a","type":"shell","parameters":{"cmd":"echo a"},"owner":"me"}`, g.Tasks[0].DatabaseID)
	if err != nil || string(text) != want {
		t.Errorf("JSON of a task = %s, %v, want %s", text, err, want)
	}
	var back service.Task
	must.Do(t, json.Unmarshal(text, &back))
	same(t, g.Tasks[0], back)
	var upload taskgraph.Task
	must.Do(t, json.Unmarshal(text, &upload))
	updated := must.Get(w.Update(t.Context(), g.ID, nil, []taskgraph.Task{upload}))(t)
	same(t, ids(g), ids(updated))
}

func TestReleaseErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	shop, old, lma := w.release(store.ReleaseLayer, "shop"), w.release(store.ReleaseLayer, "old"), w.release(store.PluginLayer, "lma")
	w.release(store.PluginLayer, "shop")
	for _, c := range []struct {
		kind    service.Kind
		release service.Release
		message string
	}{
		{service.Conflict, shop, "release shop 1.2 already exists"},
		{service.Invalid, service.Release{Layer: store.ClusterLayer}, `unknown layer "cluster"; expected release or plugin`},
		{service.Invalid, service.Release{Layer: store.PluginLayer, Name: "a b"},
			`invalid plugin name "a b"; use a letter or digit, then up to 127 letters, digits, _, -, and .`},
		{service.Invalid, service.Release{Layer: store.PluginLayer, Name: "a"},
			`invalid version ""; use a letter or digit, then up to 127 letters, digits, _, -, ., +, and ~`},
	} {
		_, err := w.AddRelease(ctx, c.release)
		w.want(c.kind, c.message, err)
	}
	same(t, []service.Release{shop, old}, must.Get(w.Releases(ctx, store.ReleaseLayer))(t))
	w.want(service.NotFound, fmt.Sprintf("plugin %d does not exist", shop.ID), w.DeleteRelease(ctx, store.PluginLayer, shop.ID))
	w.use("prod", &shop, lma)
	w.use("dev", &old, lma)
	w.want(service.Conflict, "release shop 1.2 is in use: select another one for prod first", w.DeleteRelease(ctx, store.ReleaseLayer, shop.ID))
	w.want(service.Conflict, "plugin lma 1.2 is in use: select another one for dev, prod first", w.DeleteRelease(ctx, store.PluginLayer, lma.ID))
	w.create(owner(shop), "default", shell("a"))
	kept := w.create(owner(old), "default", shell("a"))
	w.use("prod", &old)
	must.Do(t, w.DeleteRelease(ctx, store.ReleaseLayer, shop.ID))
	graphs := must.Get(w.Graphs(ctx, nil))(t)
	if len(graphs) != 1 || graphs[0].ID != kept.ID || graphs[0].Tasks != nil {
		t.Errorf("Graphs = %v, want only graph %d without tasks", graphs, kept.ID)
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	shop, lma := w.release(store.ReleaseLayer, "shop"), w.release(store.PluginLayer, "lma")
	order := []store.Layer{store.ReleaseLayer, store.ClusterLayer, store.PluginLayer}
	got := must.Get(w.Selection(ctx, "prod"))(t)
	same(t, service.Selection{Environment: "prod", Plugins: []service.Release{}, Order: order}, got)
	want := service.Selection{Environment: "prod", Release: &shop, Plugins: []service.Release{lma}, Order: order, Whole: true}
	used := must.Get(w.Use(ctx, service.Selection{Environment: "prod", Release: &service.Release{ID: shop.ID}, Plugins: []service.Release{{ID: lma.ID}}, Whole: true}))(t)
	same(t, want, used)
	got = must.Get(w.Selection(ctx, "prod"))(t)
	same(t, want, got)
	_, err := w.Selection(ctx, "prd")
	w.want(service.NotFound, "environment prd does not exist; did you mean prod?", err)
	for _, c := range []struct {
		kind    service.Kind
		use     service.Selection
		message string
	}{
		{service.NotFound, service.Selection{Environment: "test"}, "environment test does not exist; 'lumi env new NAME' creates one"},
		{service.NotFound, service.Selection{Environment: "prod", Release: &lma}, fmt.Sprintf("release %d does not exist", lma.ID)},
		{service.NotFound, service.Selection{Environment: "prod", Plugins: []service.Release{shop}}, fmt.Sprintf("plugin %d does not exist", shop.ID)},
		{service.Invalid, service.Selection{Environment: "prod", Plugins: []service.Release{lma, lma}}, fmt.Sprintf("plugin %d is selected twice", lma.ID)},
		{service.Invalid, service.Selection{Environment: "prod", Order: order[1:]}, "the order must list release, cluster, and plugin exactly once"},
		{service.Invalid, service.Selection{Environment: "prod", Order: []store.Layer{"release", "cluster", "cluster"}},
			"the order must list release, cluster, and plugin exactly once"},
	} {
		_, err := w.Use(ctx, c.use)
		w.want(c.kind, c.message, err)
	}
}

func TestGraphErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	g := w.create(prod, "upgrade", shell("a"))
	some := func(graphType string) taskgraph.Graph { return w.graph(graphType, shell("a")) }
	for _, c := range []struct {
		kind    service.Kind
		owner   store.Owner
		graph   taskgraph.Graph
		message string
	}{
		{service.Conflict, prod, some("upgrade"), "cluster prod already has a graph of type upgrade: update it instead"},
		{service.NotFound, store.Owner{Layer: store.ClusterLayer, Environment: "rod"}, some("a"), "environment rod does not exist; did you mean prod?"},
		{service.NotFound, store.Owner{Layer: store.ReleaseLayer, ID: 9}, some("a"), "release 9 does not exist"},
		{service.Invalid, store.Owner{Layer: "environment"}, some("a"), `unknown layer "environment"; expected release, cluster, or plugin`},
		{service.Invalid, prod, taskgraph.Graph{Type: "fix 1"},
			`invalid graph type "fix 1"; use a letter or digit, then up to 127 letters, digits, _, -, and .`},
		{"", prod, taskgraph.Graph{Tasks: []taskgraph.Task{{ID: "a"}, {ID: "b c"}, {ID: "a", Attributes: map[string]any{"requires": json.Number("1")}}}},
			`cluster prod: task b c: invalid task name "b c"; use a letter or digit, then up to 127 letters, digits, _, -, and .` +
				"\ncluster prod: task a: duplicate task id" +
				"\ncluster prod: task a: requires must be a string or a list of strings"},
	} {
		_, err := w.Create(ctx, c.owner, c.graph)
		w.want(c.kind, c.message, err)
	}
	_, err := w.Graph(ctx, 99)
	w.want(service.NotFound, "graph 99 does not exist", err)
	_, err = w.Update(ctx, 99, nil, nil)
	w.want(service.NotFound, "graph 99 does not exist", err)
	w.want(service.NotFound, "graph 99 does not exist", w.Delete(ctx, 99))
	w.want(service.NotFound, "graph 99 does not exist", w.DeleteTask(ctx, 99, 1))
	w.want(service.NotFound, fmt.Sprintf("graph %d has no task 99", g.ID), w.DeleteTask(ctx, g.ID, 99))
	_, err = w.UpdateTask(ctx, g.ID, 99, g.Tasks[0].Task)
	w.want(service.NotFound, fmt.Sprintf("graph %d has no task 99", g.ID), err)
	_, err = w.Find(ctx, prod, "upgrades")
	w.want(service.NotFound, "cluster prod has no graph of type upgrades; did you mean upgrade?", err)
	_, err = w.Find(ctx, prod, "")
	w.want(service.NotFound, "cluster prod has no graph of type default", err)
	_, err = w.Find(ctx, store.Owner{Layer: store.PluginLayer, ID: 9}, "")
	w.want(service.NotFound, "plugin 9 does not exist", err)
	_, err = w.Graphs(ctx, &store.Owner{Layer: store.PluginLayer, ID: 9})
	w.want(service.NotFound, "plugin 9 does not exist", err)
	_, err = w.Effective(ctx, "prod", "upgrades")
	w.want(service.NotFound, "prod has no graph of type upgrades; did you mean upgrade?", err)
	_, err = w.Effective(ctx, "prod", "upgrade", store.ReleaseLayer)
	w.want(service.NotFound, "prod has no graph of type upgrade: 'lumi tasks upload' adds one", err)
	_, err = w.Effective(ctx, "prod", "upgrade", "plugins")
	w.want(service.Invalid, `unknown layer "plugins"; expected release, cluster, or plugin`, err)
	_, err = w.Effective(ctx, "none", "")
	w.want(service.NotFound, "environment none does not exist; 'lumi env new NAME' creates one", err)
	w.create(dev, "upgrade", shell("a"))
	graphs := must.Get(w.Graphs(ctx, &prod))(t)
	g.Tasks = nil
	same(t, []service.Graph{g}, graphs)
}

func TestEffectiveGraphChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	shop, next := w.release(store.ReleaseLayer, "shop"), w.release(store.ReleaseLayer, "next")
	lma, extra := w.release(store.PluginLayer, "lma"), w.release(store.PluginLayer, "extra")
	_, err := w.Create(ctx, owner(shop), w.graph("default", shell("a", "requires: [z]"), "{id: b}"))
	w.want("", "release shop 1.2: task a: requires: unknown task z\nrelease shop 1.2: task b: missing type, such as shell", err)
	release := w.create(owner(shop), "default", shell("a"), shell("b", "requires: [a]"))
	w.create(owner(next), "default", shell("b"))
	upgrade := w.create(owner(shop), "upgrade", shell("a"))
	w.use("prod", &shop)
	w.use("dev", &shop)
	w.create(prod, "default", shell("c", "requires: [a]"))
	w.create(prod, "upgrade", shell("c", "requires: [a]"))
	w.create(dev, "default", shell("d", "cross_depends: [{name: b}]"))
	_, err = w.Create(ctx, dev, w.graph("upgrade", shell("d", "requires: [x]"), "{id: a, type: reboot2}"))
	w.want("", "graph upgrade of dev: task a: unknown type \"reboot2\"; did you mean reboot?\n"+
		"graph upgrade of dev: task d: requires: unknown task x", err)
	_, err = w.Update(ctx, release.ID, nil, w.graph("default", shell("e")).Tasks)
	unknown := "graph default of prod: task c: requires: unknown task a"
	w.want("", "graph default of dev: task d: cross_depends: unknown task b\n"+unknown, err)
	w.want("", "graph default of dev: task d: cross_depends: unknown task b", w.DeleteTask(ctx, release.ID, release.Tasks[1].DatabaseID))
	w.want("", "graph upgrade of prod: task c: requires: unknown task a", w.Delete(ctx, upgrade.ID))
	_, err = w.UpdateTask(ctx, release.ID, release.Tasks[1].DatabaseID, w.graph("", shell("f")).Tasks[0])
	w.want("", "graph default of dev: task d: cross_depends: unknown task b", err)
	_, err = w.Use(ctx, service.Selection{Environment: "prod", Release: &next})
	w.want("", unknown+"\ngraph upgrade of prod: task c: requires: unknown task a", err)

	// The graph of a plugin may be incomplete until an environment uses it.
	plugin := w.create(owner(lma), "default", "{id: b, requires: [c, p]}", "{id: a, version: 2.0.0}")
	use := service.Selection{Environment: "prod", Release: &shop, Plugins: []service.Release{lma}}
	_, err = w.Use(ctx, use)
	w.want("", "plugin lma 1.2 (graph default of prod): task b: requires: unknown task p", err)
	got := must.Get(w.Selection(ctx, "prod"))(t)
	if len(got.Plugins) > 0 {
		t.Errorf("Selection = %+v, want no plugins", got)
	}
	must.Get(w.Update(ctx, plugin.ID, nil, w.graph("default", "{id: b, requires: [c]}").Tasks))(t)
	w.use("prod", &shop, lma)
	_, err = w.Update(ctx, plugin.ID, nil, w.graph("default", "{id: a, requires: [b]}").Tasks)
	w.want("", "release shop 1.2 (graph default of prod): task a: cycle: a requires b, b requires a", err)
	w.create(owner(extra), "default", "{id: b, requires: [a]}")
	_, err = w.Use(ctx, service.Selection{Environment: "prod", Release: &shop, Plugins: []service.Release{lma, extra}})
	w.want("", "graph default of prod: task b: plugin lma 1.2 and plugin extra 1.2 have different values for requires; remove one of them", err)
	must.Get(w.Find(ctx, owner(lma), ""))(t)
	e := must.Get(w.Effective(ctx, "prod", "", store.PluginLayer, store.ReleaseLayer))(t)
	same(t, "plugin lma 1.2", e.Origins["b"]["requires"])
	same(t, "", e.Origins["c"]["id"])
	same(t, release, must.Get(w.Graph(ctx, release.ID))(t))
}

// A problem that several environments share because they use a plugin is reported once.
func TestSharedProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	lma := w.release(store.PluginLayer, "lma")
	w.use("prod", nil, lma)
	w.use("dev", nil, lma)
	_, err := w.Create(t.Context(), owner(lma), w.graph("default", "{id: a}"))
	w.want("", "plugin lma 1.2 (graph default of dev): task a: missing type, such as shell", err)
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	w.create(prod, "default", shell("a"), shell("b", "idempotent: false"))
	w.create(prod, "broken", shell("a", "condition: $.node.name"))
	w.create(prod, "cache", shell("a", "roles: cache"))
	w.create(dev, "default", shell("a"))
	for _, c := range []struct {
		kind        service.Kind
		environment string
		request     service.RunRequest
		message     string
	}{
		{service.NotFound, "rod", service.RunRequest{}, "environment rod does not exist; did you mean prod?"},
		{service.NotFound, "prod", service.RunRequest{Type: "defautl"}, "prod has no graph of type defautl; did you mean default?"},
		{service.Invalid, "prod", service.RunRequest{Type: "cache"},
			"graph cache of prod has no tasks for these nodes: check the roles of its tasks and the nodes"},
		{"", "prod", service.RunRequest{Nodes: []string{"web-2", "db"}}, "no node web-2 in the inventory; did you mean web-1?\nno node db in the inventory"},
		{"", "prod", service.RunRequest{Type: "broken"}, "task a: condition on db-1 and 1 more: a condition must be true or false, " +
			"such as $.parameters.size = 3"},
	} {
		_, err := w.Plan(ctx, c.environment, c.request)
		w.want(c.kind, c.message, err)
		_, err = w.Start(ctx, c.environment, c.request)
		w.want(c.kind, c.message, err)
	}
	if _, err := w.Start(ctx, "dev", service.RunRequest{}); err == nil || err.Error() != "dev has no inventory" {
		t.Errorf("Start = %v, want dev has no inventory", err)
	}
	r := must.Get(w.Start(ctx, "prod", service.RunRequest{}))(t)
	_, err := w.Start(ctx, "prod", service.RunRequest{})
	w.want(service.Conflict, fmt.Sprintf("default[%d] is about to run: wait for it to end, or stop it", r.ID), err)
	stopped := must.Get(w.Stop(ctx, r.ID))(t)
	if stopped.State != store.Canceled || stopped.Running {
		t.Errorf("Stop = %+v, want a canceled run", stopped)
	}
	_, err = w.Stop(ctx, r.ID)
	w.want(service.Conflict, fmt.Sprintf("default[%d] cannot be stopped: it is CANCELLED", r.ID), err)
	var other int64
	err = w.Store.Write(ctx, "prod", func(tx store.Tx) (err error) {
		other, err = tx.AddJob(store.Job{Environment: "prod", Kind: "deploy"}, store.Content{})
		return err
	})
	must.Do(t, err)
	for _, id := range []int64{99, other} {
		message := fmt.Sprintf("run %d does not exist", id)
		_, err := w.Run(ctx, id)
		w.want(service.NotFound, message, err)
		_, err = w.Events(ctx, id, 0)
		w.want(service.NotFound, message, err)
		_, err = w.Stop(ctx, id)
		w.want(service.NotFound, message, err)
		_, err = w.Resume(ctx, id, nil)
		w.want(service.NotFound, message, err)
	}
	_, err = w.Runs(ctx, "none", 0, 9)
	w.want(service.NotFound, "environment none does not exist; 'lumi env new NAME' creates one", err)
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memory.New())
	ctx := t.Context()
	w.create(prod, "default", shell("a", "idempotent: false", "roles: [db]"))
	w.fail["db-1/a"] = run.ErrUncertain
	w.Go = func(environment string, id int64) {
		if _, err := w.Engine(environment).Run(ctx, id); err != nil {
			t.Error(err)
		}
	}
	r := must.Get(w.Start(ctx, "prod", service.RunRequest{}))(t)
	got := must.Get(w.Run(ctx, r.ID))(t)
	if got.State != store.Ask || len(got.Tasks) != 1 || got.Tasks[0].State != store.Unknown {
		t.Fatalf("Run = %+v, want one task run with an unknown outcome", got)
	}
	_, err := w.Resume(ctx, r.ID, nil)
	w.want(service.Conflict, fmt.Sprintf("default[%d] needs an answer: did task a on node db-1 take effect?", r.ID), err)
	must.Get(w.Resume(ctx, r.ID, &service.Answer{Number: got.Tasks[0].Number, Done: true}))(t)
	got = must.Get(w.Run(ctx, r.ID))(t)
	if got.State != store.Done || len(w.executed) != 1 {
		t.Errorf("Run = %+v after %v, want a finished run after one task", got, w.executed)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := must.Get(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{}))(t)
	t.Cleanup(func() { s.Close() })
	w := newWorld(t, s)
	g := w.graph("default", shell("a"))
	var all sync.WaitGroup
	var mutex sync.Mutex
	created, conflicts := 0, 0
	for range 8 {
		all.Go(func() {
			_, err := w.Create(t.Context(), prod, g)
			mutex.Lock()
			defer mutex.Unlock()
			var e *service.Error
			switch {
			case err == nil:
				created++
			case errors.As(err, &e) && e.Kind == service.Conflict:
				conflicts++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if created != 1 || conflicts != 7 {
		t.Errorf("%d calls of Create succeeded and %d failed, want 1 and 7", created, conflicts)
	}
}
