package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/deploy/store"
)

func (t *T) release(layer store.Layer, name string) store.Release {
	t.Helper()
	r := store.Release{ID: 77, Layer: layer, Name: name, Version: "1.0"}
	t.write(func(tx store.Tx) (err error) {
		r.ID, err = tx.AddRelease(r)
		return err
	})
	return r
}

// graph adds a graph with two tasks and returns the graph and the tasks.
func (t *T) graph(o store.Owner, graphType string) (store.TaskGraph, []store.GraphTask) {
	t.Helper()
	g := store.TaskGraph{ID: 77, Owner: o, Type: graphType, Name: "Graph " + graphType}
	var tasks []store.GraphTask
	t.write(func(tx store.Tx) (err error) {
		g.ID, err = tx.AddGraph(g)
		for _, name := range []string{"b", "a"} {
			r := store.GraphTask{ID: 77, Graph: g.ID, Name: name, Content: `{"id":"` + name + `"}`}
			var err2 error
			r.ID, err2 = tx.AddGraphTask(r)
			err, tasks = errors.Join(err, err2), append(tasks, r)
		}
		return err
	})
	return g, tasks
}

func cluster(name string) store.Owner {
	return store.Owner{Layer: store.ClusterLayer, Environment: name}
}

func graphTasks(id int64) func(tx store.Tx) ([]store.GraphTask, error) {
	return func(tx store.Tx) ([]store.GraphTask, error) { return tx.GraphTasks(id) }
}

func releases(t *T) {
	want(t, nil, store.Tx.Releases)
	shop, lma := t.release(store.ReleaseLayer, "shop"), t.release(store.PluginLayer, "lma")
	same := t.release(store.PluginLayer, "shop")
	want(t, []store.Release{shop, lma, same}, store.Tx.Releases)
	t.wantError(store.ErrExists, func(tx store.Tx) error { _, err := tx.AddRelease(lma); return err })
	of := func(r store.Release) store.Owner { return store.Owner{Layer: r.Layer, ID: r.ID} }
	gone, tasks := t.graph(of(shop), "default")
	kept, others := t.graph(of(lma), "default")
	want(t, tasks, graphTasks(gone.ID))
	t.write(func(tx store.Tx) error { return tx.DeleteRelease(shop.ID) })
	t.wantError(store.ErrNotFound, func(tx store.Tx) error { return tx.DeleteRelease(shop.ID) })
	want(t, []store.Release{lma, same}, store.Tx.Releases)
	want(t, []store.TaskGraph{kept}, store.Tx.Graphs)
	want(t, nil, graphTasks(gone.ID))
	want(t, others, graphTasks(kept.ID))
	if again := t.release(store.ReleaseLayer, "shop"); again.ID <= same.ID {
		t.Errorf("AddRelease() = %d, want an ID greater than %d", again.ID, same.ID)
	}
}

func selections(t *T) {
	t.environment("prod")
	t.environment("dev")
	want(t, nil, store.Tx.Selections)
	prod := store.Selection{
		Environment: "prod", Release: 3, Plugins: []int64{5, 4}, Order: []store.Layer{store.PluginLayer, store.ReleaseLayer}, Whole: true,
	}
	dev := store.Selection{Environment: "dev", Plugins: []int64{4}}
	put := func(s store.Selection) { t.write(func(tx store.Tx) error { return tx.PutSelection(s) }) }
	put(prod)
	put(dev)
	want(t, []store.Selection{dev, prod}, store.Tx.Selections)
	changed := store.Selection{Environment: "prod", Plugins: []int64{9}, Order: []store.Layer{store.ClusterLayer}}
	given := store.Selection{Environment: "prod", Plugins: slices.Clone(changed.Plugins), Order: slices.Clone(changed.Order)}
	put(given)
	given.Plugins[0], given.Order[0] = 0, "" // changes the caller's slices
	want(t, []store.Selection{dev, changed}, func(tx store.Tx) ([]store.Selection, error) {
		if got, _ := tx.Selections(); len(got) == 2 {
			got[1].Plugins[0], got[1].Order[0] = 0, "" // changes the reader's slices
		}
		return tx.Selections()
	})
	t.writeTo("prod", func(tx store.Tx) error { return tx.DeleteEnvironment("prod") })
	want(t, []store.Selection{dev}, store.Tx.Selections)
}

func graphs(t *T) {
	t.environment("dev")
	t.environment("prod")
	shop := t.release(store.ReleaseLayer, "shop")
	release := store.Owner{Layer: store.ReleaseLayer, ID: shop.ID}
	want(t, nil, store.Tx.Graphs)
	first, tasks := t.graph(cluster("prod"), "default")
	all := []store.TaskGraph{first}
	for _, o := range []store.Owner{cluster("dev"), release} {
		for _, graphType := range []string{"upgrade", "default"} {
			g, _ := t.graph(o, graphType)
			all = append(all, g)
		}
	}
	want(t, all, store.Tx.Graphs)
	for _, g := range all {
		t.wantError(store.ErrExists, func(tx store.Tx) error { _, err := tx.AddGraph(g); return err })
	}
	order := []int64{tasks[1].ID, tasks[0].ID}
	t.write(func(tx store.Tx) error {
		return tx.PutGraph(store.TaskGraph{ID: first.ID, Owner: release, Type: "other", Name: "New", Order: order})
	})
	all[0].Name, all[0].Order = "New", slices.Clone(order)
	order[0] = 0 // changes the caller's slice
	want(t, all, store.Tx.Graphs)
	t.write(func(tx store.Tx) error { return tx.DeleteGraph(all[1].ID) })
	want(t, append(all[:1:1], all[2:]...), store.Tx.Graphs)
	want(t, nil, graphTasks(all[1].ID))
	want(t, tasks, graphTasks(first.ID))
	t.write(func(tx store.Tx) error { return tx.DeleteEnvironment("dev") })
	want(t, append(all[:1:1], all[3:]...), store.Tx.Graphs)
	want(t, nil, graphTasks(all[2].ID))
}

func tasksOfGraphs(t *T) {
	t.environment("dev")
	g, tasks := t.graph(cluster("dev"), "default")
	other, others := t.graph(cluster("dev"), "other")
	t.wantError(store.ErrExists, func(tx store.Tx) error {
		_, err := tx.AddGraphTask(store.GraphTask{Graph: g.ID, Name: "a", Content: "new"})
		return err
	})
	t.write(func(tx store.Tx) error { return tx.DeleteGraphTask(tasks[1].ID) })
	want(t, tasks[:1], graphTasks(g.ID))
	again := store.GraphTask{Graph: g.ID, Name: "a", Content: "new"}
	t.write(func(tx store.Tx) (err error) {
		again.ID, err = tx.AddGraphTask(again)
		return err
	})
	if again.ID <= tasks[1].ID {
		t.Errorf("AddGraphTask() = %d, want an ID greater than %d", again.ID, tasks[1].ID)
	}
	want(t, []store.GraphTask{tasks[0], again}, graphTasks(g.ID))
	want(t, others, graphTasks(other.ID))
	want(t, nil, graphTasks(99))
}

func (t *T) run(environment, graphType string, s store.State) store.Job {
	t.Helper()
	return t.add(store.Job{Environment: environment, Kind: store.Tasks, Module: graphType, State: s})
}

func runs(t *T) {
	t.environment("dev")
	t.environment("other")
	deployment := t.add(store.Job{Environment: "dev", Kind: "deploy", State: store.Wait})
	ended := t.add(store.Job{Environment: "dev", Kind: "destroy", State: store.Done})
	var all []store.Job
	for _, s := range []store.State{store.Done, store.Running, store.Canceled, store.Ask} {
		t.run("other", "default", s)
		all = append([]store.Job{t.run("dev", "upgrade", s)}, all...)
	}
	want(t, []store.Job{deployment}, func(tx store.Tx) ([]store.Job, error) { return tx.Queue("dev") })
	want(t, []store.Job{ended}, func(tx store.Tx) ([]store.Job, error) { return tx.History("dev", 0, 9) })
	for _, test := range []struct {
		before int64
		limit  int
		want   []store.Job
	}{
		{0, 9, all}, {0, 2, all[:2]}, {all[1].ID, 9, all[2:]}, {all[1].ID, 1, all[2:3]}, {all[3].ID, 9, nil}, {0, 0, nil},
	} {
		want(t, test.want, func(tx store.Tx) ([]store.Job, error) { return tx.Runs("dev", test.before, test.limit) })
	}
}

func taskRuns(t *T) {
	t.environment("dev")
	id, other := t.run("dev", "default", store.Running).ID, t.run("dev", "default", store.Running).ID
	now := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("zone", 3600))
	second := store.TaskRun{
		Number: 12, Task: "install", Node: "web-1", State: store.Failed, Digest: "digest", Refresh: "refresh", Owner: "owner", Attempt: 2,
		Started: now, Ended: now.Add(time.Hour), Message: "exit status 1", Tolerated: true,
	}
	first := store.TaskRun{Number: 3, Task: "stage"}
	put := func(run int64, all ...store.TaskRun) {
		t.write(func(tx store.Tx) error { return tx.PutTaskRuns(run, all) })
	}
	get := func(tx store.Tx) ([]store.TaskRun, error) { return tx.TaskRuns(id) }
	put(id, second, first)
	put(id)
	put(other, store.TaskRun{Number: 3, Task: "other"})
	second.Started, second.Ended = now.UTC().Truncate(time.Microsecond), now.UTC().Truncate(time.Microsecond).Add(time.Hour)
	want(t, []store.TaskRun{first, second}, get)
	first.State, second.State, second.Message, second.Tolerated = store.Done, store.Done, "", false
	put(id, first)
	put(id, second)
	want(t, []store.TaskRun{first, second}, get)
	want(t, nil, func(tx store.Tx) ([]store.TaskRun, error) { return tx.TaskRuns(99) })
	t.write(func(tx store.Tx) error { return tx.DeleteEnvironment("dev") })
	want(t, nil, get)
}

func lastTaskRuns(t *T) {
	for _, name := range []string{"dev", "prod"} {
		t.environment(name)
	}
	put := func(run int64, all ...store.TaskRun) {
		t.write(func(tx store.Tx) error { return tx.PutTaskRuns(run, all) })
	}
	last := func(environment, graphType string, all ...store.TaskRun) {
		t.Helper()
		want(t, all, func(tx store.Tx) ([]store.TaskRun, error) { return tx.LastTaskRuns(environment, graphType) })
	}
	number := 0
	r := func(task, node string, s store.State, message string) store.TaskRun {
		number++
		return store.TaskRun{Number: number, Task: task, Node: node, State: s, Message: message}
	}
	first, second, third := t.run("dev", "default", store.Done).ID, t.run("dev", "default", store.Failed).ID, t.run("dev", "default", store.Ask).ID
	last("dev", "default")
	oldB, skipped := r("b", "n1", store.Done, "1"), r("c", "n1", store.Skipped, "1")
	a := r("a", "n2", store.Done, "1")
	put(first, oldB, a, skipped, r("a", "n1", store.Done, "1"), r("d", "", store.Done, "1"))
	started := r("b", "n1", store.Started, "2")
	failed, stage := r("a", "n1", store.Failed, "2"), r("d", "", store.Unknown, "2")
	put(second, started, failed, stage, r("a", "n2", store.Skipped, "2"))
	last("dev", "default", failed, a, started, stage)
	put(third, r("a", "n1", store.Skipped, "3"))
	// Earlier runs continue, as if resumed.
	oldB.Message, started.State, failed.State = "again", store.Done, store.Done
	put(first, oldB)
	put(second, started, failed)
	last("dev", "default", failed, a, started, stage)
	skipped.State = store.Done
	put(first, skipped)
	last("dev", "default", failed, a, started, skipped, stage)
	number = 0 // for another graph type and another environment
	upgrade := r("b", "n1", store.Done, "upgrade")
	put(t.run("dev", "upgrade", store.Done).ID, upgrade)
	prod := t.run("prod", "default", store.Done).ID
	t.writeTo("prod", func(tx store.Tx) error {
		return tx.PutTaskRuns(prod, []store.TaskRun{r("b", "n1", store.Done, "prod")})
	})
	last("dev", "default", failed, a, started, skipped, stage)
	last("dev", "upgrade", upgrade)
	last("none", "default")
	t.write(func(tx store.Tx) error { return tx.DeleteEnvironment("dev") })
	t.environment("dev")
	last("dev", "default")
}

// taskStatements returns all writing statements of [store.TaskTx], by name.
func taskStatements(environment string, release, graph, task, run int64) map[string]func(tx store.Tx) error {
	add := func(o store.Owner) func(tx store.Tx) error {
		return func(tx store.Tx) error {
			_, err := tx.AddGraph(store.TaskGraph{Owner: o, Type: "new"})
			return err
		}
	}
	return map[string]func(tx store.Tx) error{
		"AddRelease": func(tx store.Tx) error {
			_, err := tx.AddRelease(store.Release{Layer: store.ReleaseLayer, Name: "new"})
			return err
		},
		"DeleteRelease":         func(tx store.Tx) error { return tx.DeleteRelease(release) },
		"PutSelection":          func(tx store.Tx) error { return tx.PutSelection(store.Selection{Environment: environment}) },
		"AddGraph":              add(cluster(environment)),
		"AddGraph of a release": add(store.Owner{Layer: store.ReleaseLayer, ID: release}),
		"PutGraph":              func(tx store.Tx) error { return tx.PutGraph(store.TaskGraph{ID: graph, Name: "new"}) },
		"DeleteGraph":           func(tx store.Tx) error { return tx.DeleteGraph(graph) },
		"AddGraphTask": func(tx store.Tx) error {
			_, err := tx.AddGraphTask(store.GraphTask{Graph: graph, Name: "new"})
			return err
		},
		"DeleteGraphTask": func(tx store.Tx) error { return tx.DeleteGraphTask(task) },
		"PutTaskRuns":     func(tx store.Tx) error { return tx.PutTaskRuns(run, []store.TaskRun{{Number: 9, Task: "new"}}) },
	}
}

// taskTransactions runs statements in read-only transactions and in transactions that are rolled back.
func taskTransactions(t *T) {
	t.environment("dev")
	shop := t.release(store.ReleaseLayer, "shop")
	t.graph(store.Owner{Layer: store.ReleaseLayer, ID: shop.ID}, "default")
	g, tasks := t.graph(cluster("dev"), "default")
	run := t.run("dev", "default", store.Done).ID
	t.write(func(tx store.Tx) error {
		return errors.Join(tx.PutTaskRuns(run, []store.TaskRun{{Number: 1, Task: "a"}}),
			tx.PutSelection(store.Selection{Environment: "dev", Whole: true}))
	})
	rows := func(tx store.Tx) (rows [6]any, err error) {
		var errs [6]error
		rows[0], errs[0] = tx.Releases()
		rows[1], errs[1] = tx.Selections()
		rows[2], errs[2] = tx.Graphs()
		rows[3], errs[3] = tx.GraphTasks(g.ID)
		rows[4], errs[4] = tx.TaskRuns(run)
		rows[5], errs[5] = tx.LastTaskRuns("dev", "default")
		return rows, errors.Join(errs[:]...)
	}
	before, err := [6]any{}, error(nil)
	t.write(func(tx store.Tx) error {
		before, err = rows(tx)
		return err
	})
	failed := errors.New("failed")
	for name, f := range taskStatements("dev", shop.ID, g.ID, tasks[0].ID, run) {
		err := t.Read(t.Context(), func(tx store.Tx) error {
			if f(tx) == nil {
				t.Errorf("%s in Read returned nil, want an error", name)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		t.wantError(failed, func(tx store.Tx) error {
			if err := f(tx); err != nil {
				t.Errorf("%s in Write: %v", name, err)
			}
			if now, err := rows(tx); err != nil || cmp.Equal(before, now, cmpopts.EquateEmpty()) {
				t.Errorf("%s did not change any rows (%v)", name, err)
			}
			return failed
		})
		want(t, before, rows)
	}
}

// tasksNotFound runs statements that refer to nonexistent rows.
func tasksNotFound(t *T) {
	t.environment("dev")
	all := taskStatements("none", 99, 99, 99, 99)
	delete(all, "AddRelease")
	for name, f := range all {
		t.write(func(tx store.Tx) error {
			if err := f(tx); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: error %v, want %v", name, err, store.ErrNotFound)
			}
			return tx.PutSelection(store.Selection{Environment: "dev", Order: []store.Layer{store.Layer(name)}}) // The transaction is still usable.
		})
		want(t, name, func(tx store.Tx) (string, error) {
			all, err := tx.Selections()
			return string(all[0].Order[0]), err
		})
	}
}
