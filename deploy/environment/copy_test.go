package environment_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// dump is everything in an environment, with IDs replaced by positions.
type dump struct {
	Environment store.Environment
	Vertices    []store.Vertex
	Jobs        []store.Job
	Contents    []store.Content
	Tasks       [][]store.Task
	Steps       [][]store.Step
	Runs        [][]store.TaskRun
	Last        []store.TaskRun
	Events      []store.Event
	Selected    []string
	Graphs      map[string][]string
}

func dumpOf(t *testing.T, s store.Store, name string) (d dump) {
	t.Helper()
	must.Do(t, s.Read(t.Context(), func(tx store.Tx) error {
		d = dump{
			Environment: must.Get(tx.Environment(name))(t), Vertices: must.Get(tx.Vertices(name))(t),
			Events: must.Get(tx.Events(name, 0, 0, 99))(t), Last: must.Get(tx.LastTaskRuns(name, "default"))(t), Graphs: map[string][]string{},
		}
		jobs := slices.Concat(must.Get(tx.Queue(name))(t), must.Get(tx.History(name, 0, 99))(t), must.Get(tx.Runs(name, 0, 99))(t))
		slices.SortFunc(jobs, func(a, b store.Job) int { return cmp.Compare(a.ID, b.ID) })
		at := map[int64]int64{}
		for i, j := range jobs {
			at[j.ID] = int64(i + 1)
			d.Contents = append(d.Contents, must.Get(tx.Content(j.ID))(t))
			tasks, steps := must.Get(tx.Tasks(j.ID))(t), must.Get(tx.Steps(j.ID))(t)
			for k := range tasks {
				tasks[k].Deployment = at[j.ID]
			}
			for k := range steps {
				steps[k].Deployment = at[j.ID]
			}
			d.Tasks, d.Steps = append(d.Tasks, tasks), append(d.Steps, steps)
			d.Runs = append(d.Runs, must.Get(tx.TaskRuns(j.ID))(t))
			j.ID, j.Place = at[j.ID], at[j.Place]
			d.Jobs = append(d.Jobs, j)
		}
		for i := range d.Events {
			d.Events[i].Serial, d.Events[i].Deployment = 0, at[d.Events[i].Deployment]
		}
		owners := map[int64]string{}
		for _, r := range must.Get(tx.Releases())(t) {
			owners[r.ID] = r.String()
		}
		for _, s := range must.Get(tx.Selections())(t) {
			if s.Environment == name {
				d.Selected = append(d.Selected, owners[s.Release])
				for _, id := range s.Plugins {
					d.Selected = append(d.Selected, owners[id])
				}
			}
		}
		for _, g := range must.Get(tx.Graphs())(t) {
			names := map[int64]string{}
			for _, task := range must.Get(tx.GraphTasks(g.ID))(t) {
				names[task.ID] = task.Name + " " + task.Content
			}
			key := cmp.Or(g.Owner.Environment, owners[g.Owner.ID]) + " " + g.Type
			for _, id := range g.Order {
				d.Graphs[key] = append(d.Graphs[key], names[id])
			}
		}
		return nil
	}))
	return d
}

// addGraph adds a graph with two tasks, in reverse order.
func addGraph(t *testing.T, tx store.Tx, o store.Owner) {
	g := store.TaskGraph{Owner: o, Type: "default", Name: "graph"}
	g.ID = must.Get(tx.AddGraph(g))(t)
	for _, name := range []string{"a", "b"} {
		g.Order = append([]int64{must.Get(tx.AddGraphTask(store.GraphTask{Graph: g.ID, Name: name, Content: name + "!"}))(t)}, g.Order...)
	}
	must.Do(t, tx.PutGraph(g))
}

// source returns a store with rows of every kind in dev, and with other rows.
func source(t *testing.T) store.Store {
	t.Helper()
	s := memory.New()
	for _, name := range []string{"other", "dev"} {
		must.Do(t, s.Write(t.Context(), name, func(tx store.Tx) error {
			must.Do(t, tx.PutEnvironment(store.Environment{Name: name, Lineage: name, Key: "age:" + name, Serial: 7, Last: 2}))
			first := must.Get(tx.AddJob(store.Job{Environment: name, Number: 1, Module: "a", Kind: store.Deploy, State: store.Superseded}, store.Content{Desired: "1"}))(t)
			second := must.Get(tx.AddJob(store.Job{
				Environment: name, Number: 2, Module: "a", Kind: store.Deploy, State: store.Failed, Place: first, Uses: []string{"b"}, Fence: 3,
			}, store.Content{Desired: "2", Shown: "shown", Request: "request"}))(t)
			run := must.Get(tx.AddJob(store.Job{Environment: name, Kind: store.Tasks, Module: "default", State: store.Done}, store.Content{Request: "run"}))(t)
			must.Do(t, errors.Join(
				tx.PutTask(store.Task{Deployment: second, Number: 1, State: store.Failed}),
				tx.PutStep(store.Step{Deployment: second, Number: 1, URN: "urn", State: store.Failed, Deadline: time.Unix(5, 0)}),
				tx.PutTaskRuns(run, []store.TaskRun{{Number: 1, Task: "a", State: store.Done}, {Number: 2, Task: "b", State: store.Skipped}}),
				tx.AddEvents(name, []store.Event{{Deployment: second, Message: "one"}, {Deployment: first, Message: "two"}}),
			))
			addGraph(t, tx, store.Owner{Layer: store.ClusterLayer, Environment: name})
			return nil
		}))
	}
	must.Do(t, s.Write(t.Context(), "dev", func(tx store.Tx) error {
		must.Do(t, tx.PutVertices("dev", []store.Vertex{{Key: "a", Text: "{}"}}, nil))
		var plugins []int64
		for _, r := range []store.Release{
			{Layer: store.ReleaseLayer, Name: "unused", Version: "1"}, {Layer: store.PluginLayer, Name: "p", Version: "1"},
			{Layer: store.PluginLayer, Name: "q", Version: "1"}, {Layer: store.ReleaseLayer, Name: "r", Version: "1"},
		} {
			id := must.Get(tx.AddRelease(r))(t)
			addGraph(t, tx, store.Owner{Layer: r.Layer, ID: id})
			plugins = append(plugins, id)
		}
		return tx.PutSelection(store.Selection{Environment: "dev", Release: plugins[3], Plugins: []int64{plugins[2], plugins[1]}, Whole: true})
	}))
	return s
}

// A copy contains all rows of the environment, although the other store has other IDs, and nothing else.
func TestCopy(t *testing.T) {
	t.Parallel()
	from, to := source(t), memory.New()
	must.Do(t, to.Write(t.Context(), "prod", func(tx store.Tx) error {
		must.Do(t, tx.PutEnvironment(store.Environment{Name: "prod"}))
		for range 5 {
			must.Get(tx.AddJob(store.Job{Environment: "prod", State: store.Done}, store.Content{}))(t)
		}
		must.Get(tx.AddRelease(store.Release{Layer: store.PluginLayer, Name: "q", Version: "1"}))(t) // kept without a graph
		return nil
	}))
	must.Do(t, environment.Copy(t.Context(), from, to, "dev"))
	want, got := dumpOf(t, from, "dev"), dumpOf(t, to, "dev")
	for _, key := range []string{"other default", "release unused 1 default", "plugin q 1 default"} {
		delete(want.Graphs, key)
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	err := environment.Copy(t.Context(), from, to, "dev")
	message := "environment dev already exists: an environment keeps its name when it is copied, " +
		"so delete the existing one first with 'lumi env delete dev', or use another state"
	if err == nil || err.Error() != message {
		t.Errorf("Copy = %v, want %s", err, message)
	}
	if err := environment.Copy(t.Context(), from, to, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Copy of a missing environment = %v, want ErrNotFound", err)
	}
}

func TestCopyRunning(t *testing.T) {
	t.Parallel()
	from, to := source(t), memory.New()
	must.Do(t, from.Write(t.Context(), "dev", func(tx store.Tx) error {
		_, err := tx.AddJob(store.Job{Environment: "dev", Number: 9, Module: "a", State: store.Aborting}, store.Content{})
		return err
	}))
	err := environment.Copy(t.Context(), from, to, "dev")
	var refused *job.RefusedError
	if want := "a[9] is running: wait until it ends"; !errors.As(err, &refused) || err.Error() != want {
		t.Errorf("Copy = %v, want %s", err, want)
	}
	must.Do(t, to.Read(t.Context(), func(tx store.Tx) error {
		if all := must.Get(tx.Environments())(t); len(all) > 0 {
			t.Errorf("environments after a refused copy = %v", all)
		}
		return nil
	}))
}

func TestPrunable(t *testing.T) {
	t.Parallel()
	s, now := memory.New(), time.Now()
	must.Do(t, s.Write(t.Context(), "dev", func(tx store.Tx) error {
		must.Do(t, tx.PutEnvironment(store.Environment{Name: "dev"}))
		for i, j := range []store.Job{
			{Module: "a", Kind: store.Deploy, State: store.Done},         // 1: the latest of a
			{Module: "b", Kind: store.Deploy, State: store.Done},         // 2
			{Module: "b", Kind: store.Edit, State: store.Done},           // 3
			{Module: "b", Kind: store.Deploy, State: store.Done},         // 4: the latest of b
			{Module: "b", Kind: store.Cleanup, State: store.Done},        // 5
			{Module: "a", Kind: store.Deploy, State: store.Aborted},      // 6
			{Module: "a", Kind: store.Deploy, State: store.Failed},       // 7: in the queue
			{Module: "default", Kind: store.Tasks, State: store.Ask},     // 8
			{Module: "default", Kind: store.Tasks, State: store.Failed},  // 9
			{Module: "default", Kind: store.Tasks, State: store.Running}, // 10
		} {
			j.Environment = "dev"
			if j.State != store.Running {
				j.Ended = now.Add(time.Duration(i-10) * time.Hour)
			}
			must.Get(tx.AddJob(j, store.Content{}))(t)
		}
		for _, test := range []struct {
			keep   int
			before time.Time
			want   []int64
		}{
			{keep: 1, want: []int64{3, 2, 9}},
			{keep: 2, want: []int64{3, 2}},
			{keep: 99},
			{before: now, want: []int64{6, 5, 3, 2, 9}},
			{before: now.Add(-450 * time.Minute), want: []int64{3, 2}},
			{},
		} {
			got, err := environment.Prunable(tx, "dev", test.keep, test.before)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("Prunable(%d, %v) = %v, %v, want %v", test.keep, test.before, got, err, test.want)
			}
		}
		return nil
	}))
}
