package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
)

// taskRuns is a batch of task runs. If a task run is stored more than once, the last row is valid.
type taskRuns struct {
	run  int64
	rows []store.TaskRun
}

func byRelease(a, b store.Release) int     { return cmp.Compare(a.ID, b.ID) }
func byGraph(a, b store.TaskGraph) int     { return cmp.Compare(a.ID, b.ID) }
func byGraphTask(a, b store.GraphTask) int { return cmp.Compare(a.ID, b.ID) }
func byEnvironment(a, b store.Selection) int {
	return cmp.Compare(a.Environment, b.Environment)
}

func (t *tx) AddRelease(r store.Release) (int64, error) {
	if slices.ContainsFunc(t.releases, func(o store.Release) bool {
		return o.Layer == r.Layer && o.Name == r.Name && o.Version == r.Version
	}) {
		return 0, fmt.Errorf("%s %s %s %w", r.Layer, r.Name, r.Version, store.ErrExists)
	}
	t.rows++
	r.ID = t.rows
	t.releases = append(t.releases, r)
	return r.ID, nil
}

func (t *tx) Releases() ([]store.Release, error) { return slices.Clone(t.releases), nil }

func (t *tx) DeleteRelease(id int64) error {
	before := len(t.releases)
	if t.releases = find(t.releases, func(r store.Release) bool { return r.ID != id }, same); len(t.releases) == before {
		return fmt.Errorf("release %d: %w", id, store.ErrNotFound)
	}
	t.deleteGraphs(func(o store.Owner) bool { return o.ID == id })
	return nil
}

func (t *tx) deleteGraphs(of func(store.Owner) bool) {
	for _, g := range t.graphs {
		if of(g.Owner) {
			_ = t.DeleteGraph(g.ID)
		}
	}
}

func (t *tx) Selections() ([]store.Selection, error) {
	return find(t.selections, func(store.Selection) bool { return true }, sharesNothing), nil
}

func (t *tx) PutSelection(s store.Selection) error {
	if _, err := t.environment(s.Environment); err != nil {
		return err
	}
	t.selections = put(t.selections, sharesNothing(s), byEnvironment)
	return nil
}

func sharesNothing(s store.Selection) store.Selection {
	s.Plugins, s.Order = slices.Clone(s.Plugins), slices.Clone(s.Order)
	return s
}

func (t *tx) AddGraph(g store.TaskGraph) (int64, error) {
	what := fmt.Sprintf("graph %s of %s %s%d", g.Type, g.Owner.Layer, g.Owner.Environment, g.Owner.ID)
	_, unknown := t.environment(g.Owner.Environment)
	if g.Owner.ID != 0 {
		unknown = nil
		if _, found := slices.BinarySearchFunc(t.releases, store.Release{ID: g.Owner.ID}, byRelease); !found {
			unknown = store.ErrNotFound
		}
	}
	switch {
	case unknown != nil:
		return 0, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	case slices.ContainsFunc(t.graphs, func(o store.TaskGraph) bool { return o.Owner == g.Owner && o.Type == g.Type }):
		return 0, fmt.Errorf("%s %w", what, store.ErrExists)
	}
	t.rows++
	g.ID = t.rows
	g.Order = slices.Clone(g.Order)
	t.graphs = append(t.graphs, g)
	return g.ID, nil
}

func (t *tx) Graphs() ([]store.TaskGraph, error) {
	return find(t.graphs, func(store.TaskGraph) bool { return true }, func(g store.TaskGraph) store.TaskGraph {
		g.Order = slices.Clone(g.Order)
		return g
	}), nil
}

func (t *tx) PutGraph(g store.TaskGraph) error {
	i, found := slices.BinarySearchFunc(t.graphs, g, byGraph)
	if !found {
		return fmt.Errorf("graph %d: %w", g.ID, store.ErrNotFound)
	}
	replaced := t.graphs[i]
	replaced.Name, replaced.Order = g.Name, slices.Clone(g.Order)
	t.graphs = put(t.graphs, replaced, byGraph)
	return nil
}

func (t *tx) DeleteGraph(id int64) error {
	before := len(t.graphs)
	if t.graphs = find(t.graphs, func(g store.TaskGraph) bool { return g.ID != id }, same); len(t.graphs) == before {
		return fmt.Errorf("graph %d: %w", id, store.ErrNotFound)
	}
	t.graphTasks = find(t.graphTasks, func(r store.GraphTask) bool { return r.Graph != id }, same)
	return nil
}

func (t *tx) GraphTasks(graph int64) ([]store.GraphTask, error) {
	return find(t.graphTasks, func(r store.GraphTask) bool { return r.Graph == graph }, same), nil
}

func (t *tx) AddGraphTask(r store.GraphTask) (int64, error) {
	what := fmt.Sprintf("task %s of graph %d", r.Name, r.Graph)
	if _, found := slices.BinarySearchFunc(t.graphs, store.TaskGraph{ID: r.Graph}, byGraph); !found {
		return 0, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	}
	if slices.ContainsFunc(t.graphTasks, func(o store.GraphTask) bool { return o.Graph == r.Graph && o.Name == r.Name }) {
		return 0, fmt.Errorf("%s %w", what, store.ErrExists)
	}
	t.rows++
	r.ID = t.rows
	t.graphTasks = append(t.graphTasks, r)
	return r.ID, nil
}

func (t *tx) DeleteGraphTask(id int64) error {
	if _, found := slices.BinarySearchFunc(t.graphTasks, store.GraphTask{ID: id}, byGraphTask); !found {
		return fmt.Errorf("task %d: %w", id, store.ErrNotFound)
	}
	t.graphTasks = find(t.graphTasks, func(r store.GraphTask) bool { return r.ID != id }, same)
	return nil
}

func (t *tx) Runs(environment string, before int64, limit int) ([]store.Job, error) {
	runs := find(t.deployments, func(r deployment) bool {
		return r.Environment == environment && r.Kind == store.Tasks && (before == 0 || r.ID < before)
	}, shown)
	slices.Reverse(runs)
	return runs[:min(len(runs), max(limit, 0))], nil
}

func (t *tx) PutTaskRuns(run int64, all []store.TaskRun) error {
	if _, err := t.deployment(run); err != nil {
		return err
	}
	t.taskRuns = append(t.taskRuns, taskRuns{run, all})
	return nil
}

// lastRows returns the last row of each task run in a run, by number.
func (t *tx) lastRows(run int64) map[int]store.TaskRun {
	last := map[int]store.TaskRun{}
	for _, part := range t.taskRuns {
		if part.run != run {
			continue
		}
		for _, r := range part.rows {
			r.Started, r.Ended = micros(r.Started), micros(r.Ended)
			last[r.Number] = r
		}
	}
	return last
}

func (t *tx) TaskRuns(run int64) ([]store.TaskRun, error) {
	return sorted(t.lastRows(run), func(a, b store.TaskRun) int { return cmp.Compare(a.Number, b.Number) }), nil
}

func (t *tx) LastTaskRuns(environment, graphType string) ([]store.TaskRun, error) {
	last := map[place]store.TaskRun{}
	for at, run := range t.lastRuns(environment, graphType) {
		for _, r := range t.lastRows(run) {
			if (place{r.Task, r.Node}) == at && r.State != store.Skipped {
				last[at] = r
			}
		}
	}
	return sorted(last, func(a, b store.TaskRun) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Node, b.Node))
	}), nil
}

// place identifies a task on a node.
type place struct{ task, node string }

// lastRuns returns the ID of the latest run of a graph type that did not skip a task on a node.
func (t *tx) lastRuns(environment, graphType string) map[place]int64 {
	last := map[place]int64{}
	for _, d := range t.deployments {
		if d.Environment != environment || d.Module != graphType || d.Kind != store.Tasks {
			continue
		}
		for _, r := range t.lastRows(d.ID) {
			if r.State != store.Skipped {
				last[place{r.Task, r.Node}] = d.ID
			}
		}
	}
	return last
}

func sorted[K comparable](rows map[K]store.TaskRun, order func(a, b store.TaskRun) int) []store.TaskRun {
	var all []store.TaskRun
	for _, r := range rows {
		all = append(all, r)
	}
	slices.SortFunc(all, order)
	return all
}
