package sqlite

import (
	"fmt"
	"math"

	"github.com/lumi-idl/lumi/deploy/store"
)

// add inserts a row and returns the ID generated for its first column.
func add[T any](t *tx, tab *table[T], what string, row *T) (int64, error) {
	fields := tab.fields(row)
	fields[0] = nil
	result, err := t.exec(what, tab.insert, fields...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (t *tx) AddRelease(r store.Release) (int64, error) {
	return add(t, releases, fmt.Sprintf("%s %s %s", r.Layer, r.Name, r.Version), &r)
}

func (t *tx) Releases() ([]store.Release, error) { return find(t, releases, "ORDER BY id") }

func (t *tx) DeleteRelease(id int64) error {
	return t.change(fmt.Sprintf("release %d", id), "DELETE FROM release WHERE id = ?", id)
}

func (t *tx) Selections() ([]store.Selection, error) {
	return find(t, selections, "ORDER BY environment")
}

func (t *tx) PutSelection(s store.Selection) error {
	_, err := t.exec("environment "+s.Environment, selections.put, selections.fields(&s)...)
	return err
}

func (t *tx) AddGraph(g store.TaskGraph) (int64, error) {
	return add(t, graphs, fmt.Sprintf("graph %s of %s %s%d", g.Type, g.Owner.Layer, g.Owner.Environment, g.Owner.ID), &g)
}

func (t *tx) Graphs() ([]store.TaskGraph, error) { return find(t, graphs, "ORDER BY id") }

func (t *tx) PutGraph(g store.TaskGraph) error {
	return t.change(fmt.Sprintf("graph %d", g.ID), "UPDATE graph SET name = ?, tasks = ? WHERE id = ?",
		g.Name, &array[int64]{&g.Order}, g.ID)
}

func (t *tx) DeleteGraph(id int64) error {
	return t.change(fmt.Sprintf("graph %d", id), "DELETE FROM graph WHERE id = ?", id)
}

func (t *tx) GraphTasks(graph int64) ([]store.GraphTask, error) {
	return find(t, graphTasks, "WHERE graph = ? ORDER BY id", graph)
}

func (t *tx) AddGraphTask(r store.GraphTask) (int64, error) {
	return add(t, graphTasks, fmt.Sprintf("task %s of graph %d", r.Name, r.Graph), &r)
}

func (t *tx) DeleteGraphTask(id int64) error {
	return t.change(fmt.Sprintf("task %d", id), "DELETE FROM graphtask WHERE id = ?", id)
}

func (t *tx) Runs(environment string, before int64, limit int) ([]store.Job, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return find(t, deployments, "WHERE environment = ? AND id < ? AND purpose = 'tasks' ORDER BY id DESC LIMIT ?",
		environment, before, max(limit, 0))
}

func (t *tx) PutTaskRuns(run int64, all []store.TaskRun) error {
	what := fmt.Sprintf("deployment %d", run)
	for _, r := range all {
		_, err := t.exec(what, taskRuns.put, taskRuns.fields(&taskRunRow{run, r})...)
		if err == nil && r.State != store.Skipped {
			_, err = t.exec(what, `INSERT INTO lasttaskrun (environment, type, task, node, run, number)
				SELECT environment, module, ?2, ?3, ?1, ?4 FROM deployment WHERE id = ?1
				ON CONFLICT DO UPDATE SET run = ?1, number = ?4 WHERE run < ?1`, run, r.Task, r.Node, r.Number)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) TaskRuns(run int64) ([]store.TaskRun, error) {
	return taskRunsOf(find(t, taskRuns, "WHERE run = ? ORDER BY number", run))
}

func (t *tx) LastTaskRuns(environment, graphType string) ([]store.TaskRun, error) {
	return taskRunsOf(find(t, taskRuns, `WHERE (run, number) IN (
		SELECT run, number FROM lasttaskrun WHERE environment = ? AND type = ?) ORDER BY task, node`, environment, graphType))
}

func taskRunsOf(rows []taskRunRow, err error) ([]store.TaskRun, error) {
	all := make([]store.TaskRun, len(rows))
	for i, r := range rows {
		all[i] = r.TaskRun
	}
	return all, err
}
