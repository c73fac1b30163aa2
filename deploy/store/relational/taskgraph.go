package relational

import (
	"fmt"
	"math"

	"github.com/lumi-idl/lumi/deploy/store"
)

func (t *statements) AddRelease(r store.Release) (int64, error) {
	return add(t, reference{}, releases, fmt.Sprintf("%s %s %s", r.Layer, r.Name, r.Version), &r)
}

func (t *statements) Releases() ([]store.Release, error) { return find(t, releases, "ORDER BY id") }

func (t *statements) DeleteRelease(id int64) error { return t.remove(reference{"release", "id", id}) }

func (t *statements) Selections() ([]store.Selection, error) {
	return find(t, selections, "ORDER BY environment")
}

func (t *statements) PutSelection(s store.Selection) error {
	return t.exec(toEnvironment(s.Environment), selections.put, selections.fields(&s)...)
}

func toGraph(id int64) reference { return reference{"graph", "id", id} }

func (t *statements) AddGraph(g store.TaskGraph) (int64, error) {
	owner := toEnvironment(g.Owner.Environment)
	if g.Owner.ID != 0 {
		owner = reference{"release", "id", g.Owner.ID}
	}
	return add(t, owner, graphs, fmt.Sprintf("graph %s of %s %s%d", g.Type, g.Owner.Layer, g.Owner.Environment, g.Owner.ID), &g)
}

func (t *statements) Graphs() ([]store.TaskGraph, error) { return find(t, graphs, "ORDER BY id") }

func (t *statements) PutGraph(g store.TaskGraph) error {
	return t.exec(toGraph(g.ID), "UPDATE @graph SET name = $1, tasks = $2 WHERE id = $3", g.Name, &array[int64]{&g.Order}, g.ID)
}

func (t *statements) DeleteGraph(id int64) error { return t.remove(toGraph(id)) }

func (t *statements) GraphTasks(graph int64) ([]store.GraphTask, error) {
	return find(t, graphTasks, "WHERE graph = $1 ORDER BY id", graph)
}

func (t *statements) AddGraphTask(r store.GraphTask) (int64, error) {
	return add(t, toGraph(r.Graph), graphTasks, fmt.Sprintf("task %s of graph %d", r.Name, r.Graph), &r)
}

func (t *statements) DeleteGraphTask(id int64) error {
	return t.remove(reference{"graphtask", "id", id})
}

func (t *statements) Runs(environment string, before int64, limit int) ([]store.Job, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return find(t, deployments, "WHERE environment = $1 AND id < $2 AND purpose = 'tasks' ORDER BY id DESC LIMIT $3",
		environment, before, max(limit, 0))
}

func (t *statements) PutTaskRuns(run int64, all []store.TaskRun) error {
	for _, r := range all {
		err := t.exec(toJob(run), taskRuns.put, taskRuns.fields(&taskRunRow{run, r})...)
		if err == nil && r.State != store.Skipped {
			err = t.DB.Exec(`INSERT INTO @lasttaskrun AS last (environment, type, task, node, run, number)
				SELECT environment, module, CAST($2 AS text), CAST($3 AS text), id, CAST($4 AS bigint) FROM @deployment WHERE id = $1
				ON CONFLICT (environment, type, task, node) DO UPDATE SET run = excluded.run, number = excluded.number
				WHERE last.run < excluded.run`, []any{run, r.Task, r.Node, r.Number})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *statements) TaskRuns(run int64) ([]store.TaskRun, error) {
	return taskRunsOf(find(t, taskRuns, "WHERE run = $1 ORDER BY number", run))
}

func (t *statements) LastTaskRuns(environment, graphType string) ([]store.TaskRun, error) {
	return taskRunsOf(find(t, taskRuns, `WHERE (run, number) IN (
		SELECT run, number FROM @lasttaskrun WHERE environment = $1 AND type = $2) ORDER BY task, node`, environment, graphType))
}

func taskRunsOf(rows []taskRunRow, err error) ([]store.TaskRun, error) {
	all := make([]store.TaskRun, len(rows))
	for i, r := range rows {
		all[i] = r.TaskRun
	}
	return all, err
}
