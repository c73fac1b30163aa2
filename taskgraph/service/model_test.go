package service_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/service"
)

// modelTask is a task of the model. It has one of four names and requires a task with a lesser name or one that may not
// exist.
type modelTask struct{ name, requires string }

func (m modelTask) task() taskgraph.Task {
	a := map[string]any{"type": "shell", "parameters": map[string]any{"cmd": "true"}}
	if m.requires != "" {
		a["requires"] = m.requires
	}
	return taskgraph.Task{ID: m.name, Attributes: a}
}

type modelGraph struct {
	id    int64
	tasks []modelTask
	ids   []int64
}

type modelKey struct {
	owner     store.Owner
	graphType string
}

// model predicts which requests the service accepts and what it stores. Its owners are prod, dev, two releases, and two
// plugins.
type model struct {
	graphs  map[modelKey]modelGraph
	owners  []store.Owner
	release map[string]int64
	plugins map[string][]int64
}

// isRight reports whether all effective graphs and all graphs of releases are valid.
func (m *model) isRight() bool {
	for key, g := range m.graphs {
		if key.owner.Layer == store.ReleaseLayer && !complete([][]modelTask{g.tasks}) {
			return false
		}
	}
	for _, environment := range []string{"prod", "dev"} {
		for _, graphType := range []string{"default", "upgrade"} {
			layers := [][]modelTask{
				m.graphs[modelKey{store.Owner{Layer: store.ReleaseLayer, ID: m.release[environment]}, graphType}].tasks,
				m.graphs[modelKey{store.Owner{Layer: store.ClusterLayer, Environment: environment}, graphType}].tasks,
			}
			given := map[string]string{}
			for _, id := range m.plugins[environment] {
				tasks := m.graphs[modelKey{store.Owner{Layer: store.PluginLayer, ID: id}, graphType}].tasks
				for _, t := range tasks {
					if before := given[t.name]; t.requires != "" && before != "" && before != t.requires {
						return false
					} else if t.requires != "" {
						given[t.name] = t.requires
					}
				}
				layers = append(layers, tasks)
			}
			if !complete(layers) {
				return false
			}
		}
	}
	return true
}

// complete reports whether merged layers contain all required tasks.
func complete(layers [][]modelTask) bool {
	requires := map[string]string{}
	for _, l := range layers {
		for _, t := range l {
			if t.requires != "" || requires[t.name] == "" {
				requires[t.name] = t.requires
			}
		}
	}
	for _, required := range requires {
		if _, ok := requires[required]; required != "" && !ok {
			return false
		}
	}
	return true
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.graphs), slices.Clone(m.owners), maps.Clone(m.release), maps.Clone(m.plugins)}
}

// put returns the graph with other tasks. An ID of 0 means that only the store knows the ID.
func (g modelGraph) put(tasks []modelTask) modelGraph {
	put := modelGraph{id: g.id, tasks: tasks}
	for _, t := range tasks {
		id := int64(0)
		if i := slices.Index(g.tasks, t); i >= 0 {
			id = g.ids[i]
		}
		put.ids = append(put.ids, id)
	}
	return put
}

func TestModel(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d"}
	task := rapid.Custom(func(t *rapid.T) modelTask {
		i := rapid.IntRange(0, 3).Draw(t, "name")
		return modelTask{names[i], rapid.SampledFrom(append([]string{"", ""}, names[:i]...)).Draw(t, "requires")}
	})
	tasks := rapid.SliceOfNDistinct(task, 0, 4, func(t modelTask) string { return t.name })
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, memory.New())
		ctx := t.Context()
		m := &model{map[modelKey]modelGraph{}, []store.Owner{prod, dev}, map[string]int64{}, map[string][]int64{}}
		var releases, plugins []int64
		for _, name := range []string{"one", "two"} {
			r, p := w.release(store.ReleaseLayer, name), w.release(store.PluginLayer, name)
			releases, plugins = append(releases, r.ID), append(plugins, p.ID)
			m.owners = append(m.owners, owner(r), owner(p))
		}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			next, accepted := m.clone(), true
			key := modelKey{rapid.SampledFrom(m.owners).Draw(rt, "owner"), rapid.SampledFrom([]string{"default", "upgrade"}).Draw(rt, "type")}
			g, exists := m.graphs[key]
			var changed service.Graph
			var err error
			switch operation := rapid.SampledFrom([]string{"create", "update", "delete", "use", "task", "delete task", "release"}).Draw(rt, "operation"); {
			case operation == "use":
				environment := rapid.SampledFrom([]string{"prod", "dev"}).Draw(rt, "environment")
				use := service.Selection{Environment: environment}
				id := rapid.SampledFrom(append([]int64{0}, releases...)).Draw(rt, "release")
				accepted = id == 0 || slices.Contains(m.owners, store.Owner{Layer: store.ReleaseLayer, ID: id})
				if next.release[environment] = id; id != 0 {
					use.Release = &service.Release{ID: id}
				}
				next.plugins[environment] = rapid.SliceOfDistinct(rapid.SampledFrom(plugins), rapid.ID[int64]).Draw(rt, "plugins")
				for _, id := range next.plugins[environment] {
					accepted = accepted && slices.Contains(m.owners, store.Owner{Layer: store.PluginLayer, ID: id})
					use.Plugins = append(use.Plugins, service.Release{ID: id})
				}
				_, err = w.Use(ctx, use)
			case operation == "release" && key.owner.Layer != store.ClusterLayer:
				for _, environment := range []string{"prod", "dev"} {
					accepted = accepted && m.release[environment] != key.owner.ID && !slices.Contains(m.plugins[environment], key.owner.ID)
				}
				next.owners = slices.DeleteFunc(next.owners, func(o store.Owner) bool { return o == key.owner })
				maps.DeleteFunc(next.graphs, func(k modelKey, _ modelGraph) bool { return k.owner == key.owner })
				err = w.DeleteRelease(ctx, key.owner.Layer, key.owner.ID)
			case operation == "create":
				accepted = !exists
				next.graphs[key] = modelGraph{}.put(tasks.Draw(rt, "tasks"))
				changed, err = w.Create(ctx, key.owner, taskgraph.Graph{Type: key.graphType, Tasks: all(next.graphs[key])})
			case !exists:
				continue
			case operation == "delete":
				delete(next.graphs, key)
				err = w.Delete(ctx, g.id)
			case operation == "update":
				next.graphs[key] = g.put(tasks.Draw(rt, "tasks"))
				changed, err = w.Update(ctx, g.id, nil, all(next.graphs[key]))
			case len(g.tasks) > 0:
				i := rapid.IntRange(0, len(g.tasks)-1).Draw(rt, "task")
				edited := slices.Clone(g.tasks)
				if operation == "task" {
					edited[i] = task.Draw(rt, "edited")
					accepted = !slices.ContainsFunc(slices.Delete(slices.Clone(edited), i, i+1), func(t modelTask) bool { return t.name == edited[i].name })
					_, err = w.UpdateTask(ctx, g.id, g.ids[i], edited[i].task())
				} else {
					edited = slices.Delete(edited, i, i+1)
					err = w.DeleteTask(ctx, g.id, g.ids[i])
				}
				next.graphs[key] = g.put(edited)
				if err == nil {
					changed, err = w.Graph(ctx, g.id)
				}
			default:
				continue
			}
			if accepted = accepted && next.isRight(); accepted != (err == nil) {
				rt.Fatalf("service returned %v, but the model accepts the request = %t", err, accepted)
			}
			if accepted {
				m = next
			}
			if accepted && changed.ID != 0 {
				m.graphs[key] = kept(rt, m.graphs[key], changed)
			}
		}
		m.compare(rt, w)
	})
}

func all(g modelGraph) []taskgraph.Task {
	tasks := []taskgraph.Task{}
	for _, t := range g.tasks {
		tasks = append(tasks, t.task())
	}
	return tasks
}

// kept checks that unchanged tasks keep their IDs. It returns the graph with the IDs of the other tasks filled in.
func kept(t *rapid.T, g modelGraph, got service.Graph) modelGraph {
	if len(got.Tasks) != len(g.tasks) || g.id != 0 && g.id != got.ID {
		t.Fatalf("graph = %+v, want %+v", got, g)
	}
	g.id, g.ids = got.ID, slices.Clone(g.ids)
	for i, task := range got.Tasks {
		if g.ids[i] != 0 && g.ids[i] != task.DatabaseID || task.ID != g.tasks[i].name {
			t.Fatalf("task %d = %+v, want the task of %+v", i, task, g)
		}
		g.ids[i] = task.DatabaseID
	}
	return g
}

// compare checks that the service has the same graphs as the model.
func (m *model) compare(t *rapid.T, w *world) {
	want, got := map[string]string{}, map[string]string{}
	for key, g := range m.graphs {
		want[fmt.Sprint(key)] = fmt.Sprint(g.id, all(g), g.ids)
	}
	graphs, err := w.Graphs(w.t.Context(), nil)
	for _, g := range graphs {
		g, err2 := w.Graph(w.t.Context(), g.ID)
		err = errors.Join(err, err2)
		tasks, ids := []taskgraph.Task{}, []int64(nil)
		for _, t := range g.Tasks {
			tasks, ids = append(tasks, t.Task), append(ids, t.DatabaseID)
		}
		got[fmt.Sprint(modelKey{g.Relations[0], g.Type})] = fmt.Sprint(g.ID, tasks, ids)
	}
	if err != nil || !maps.Equal(want, got) {
		t.Fatalf("graphs = %v, %v\nwant %v", got, err, want)
	}
}
