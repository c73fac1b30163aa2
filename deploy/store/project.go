package store

import (
	"context"
	"fmt"
	"strings"
)

// InProject returns a view of s that contains only the environments, releases, and plugins of a project. In s, their names
// start with the project and a slash; project must not contain one. Closing the view closes s.
func InProject(s Store, project string) Store { return &projectStore{s, project + "/"} }

type projectStore struct {
	Store
	prefix string
}

func (s *projectStore) Read(ctx context.Context, f func(Tx) error) error {
	return s.Store.Read(ctx, func(tx Tx) error { return f(projectTx{tx, s.prefix}) })
}

func (s *projectStore) Write(ctx context.Context, environment string, f func(Tx) error) error {
	return s.Store.Write(ctx, s.prefix+environment, func(tx Tx) error { return f(projectTx{tx, s.prefix}) })
}

func (s *projectStore) Watch(ctx context.Context, f func(environment string)) {
	s.Store.Watch(ctx, func(environment string) {
		if name, ok := strings.CutPrefix(environment, s.prefix); ok {
			f(name)
		}
	})
}

// projectTx adds the prefix to the names in arguments and removes it from the names in results. Statements that it does not
// define contain no names.
type projectTx struct {
	Tx
	prefix string
}

// own returns the rows of the project. name returns the field that contains a row's prefix, which own removes.
func own[T any](t projectTx, rows []T, err error, name func(*T) *string) ([]T, error) {
	var kept []T
	for _, row := range rows {
		var ok bool
		field := name(&row)
		if *field, ok = strings.CutPrefix(*field, t.prefix); ok {
			kept = append(kept, row)
		}
	}
	return kept, err
}

func environmentOf(j *Job) *string { return &j.Environment }

func (t projectTx) Environments() ([]Environment, error) {
	rows, err := t.Tx.Environments()
	return own(t, rows, err, func(e *Environment) *string { return &e.Name })
}

func (t projectTx) Environment(name string) (Environment, error) {
	e, err := t.Tx.Environment(t.prefix + name)
	e.Name = strings.TrimPrefix(e.Name, t.prefix)
	return e, err
}

func (t projectTx) PutEnvironment(e Environment) error {
	e.Name = t.prefix + e.Name
	return t.Tx.PutEnvironment(e)
}

func (t projectTx) DeleteEnvironment(name string) error {
	return t.Tx.DeleteEnvironment(t.prefix + name)
}

func (t projectTx) Vertices(environment string) ([]Vertex, error) {
	return t.Tx.Vertices(t.prefix + environment)
}

func (t projectTx) VerticesFrom(environment, from string, limit int) ([]Vertex, error) {
	return t.Tx.VerticesFrom(t.prefix+environment, from, limit)
}

func (t projectTx) PutVertices(environment string, put []Vertex, gone []string) error {
	return t.Tx.PutVertices(t.prefix+environment, put, gone)
}

func (t projectTx) AddJob(j Job, c Content) (int64, error) {
	j.Environment = t.prefix + j.Environment
	return t.Tx.AddJob(j, c)
}

func (t projectTx) Job(id int64) (Job, error) {
	j, err := t.Tx.Job(id)
	return t.job(j, err)
}

func (t projectTx) Touch(id, fence int64, states ...State) (Job, error) {
	j, err := t.Tx.Touch(id, fence, states...)
	return t.job(j, err)
}

func (t projectTx) job(j Job, err error) (Job, error) {
	var ok bool
	if j.Environment, ok = strings.CutPrefix(j.Environment, t.prefix); !ok && err == nil {
		return Job{}, fmt.Errorf("deployment %d: %w", j.ID, ErrNotFound)
	}
	return j, err
}

func (t projectTx) PutJob(j Job) error {
	j.Environment = t.prefix + j.Environment
	return t.Tx.PutJob(j)
}

func (t projectTx) Queue(environment string) ([]Job, error) {
	rows, err := t.Tx.Queue(t.prefix + environment)
	return own(t, rows, err, environmentOf)
}

func (t projectTx) History(environment string, before int64, limit int) ([]Job, error) {
	rows, err := t.Tx.History(t.prefix+environment, before, limit)
	return own(t, rows, err, environmentOf)
}

func (t projectTx) Ready(prefix string, after int64, limit int) ([]Job, error) {
	rows, err := t.Tx.Ready(t.prefix+prefix, after, limit)
	return own(t, rows, err, environmentOf)
}

func (t projectTx) Prune(environment string, jobs []int64) (int, error) {
	return t.Tx.Prune(t.prefix+environment, jobs)
}

func (t projectTx) Workers(environment string) ([]Worker, error) {
	rows, err := t.Tx.Workers(t.prefix + environment)
	return own(t, rows, err, func(w *Worker) *string { return &w.Environment })
}

func (t projectTx) PutWorker(w Worker) error {
	w.Environment = t.prefix + w.Environment
	return t.Tx.PutWorker(w)
}

func (t projectTx) DeleteWorker(environment, owner string) error {
	return t.Tx.DeleteWorker(t.prefix+environment, owner)
}

func (t projectTx) AddEvents(environment string, events []Event) error {
	return t.Tx.AddEvents(t.prefix+environment, events)
}

func (t projectTx) Events(environment string, deployment, after int64, limit int) ([]Event, error) {
	return t.Tx.Events(t.prefix+environment, deployment, after, limit)
}

func (t projectTx) AddRelease(r Release) (int64, error) {
	r.Name = t.prefix + r.Name
	return t.Tx.AddRelease(r)
}

func (t projectTx) Releases() ([]Release, error) {
	rows, err := t.Tx.Releases()
	return own(t, rows, err, func(r *Release) *string { return &r.Name })
}

func (t projectTx) Selections() ([]Selection, error) {
	rows, err := t.Tx.Selections()
	return own(t, rows, err, func(s *Selection) *string { return &s.Environment })
}

func (t projectTx) PutSelection(s Selection) error {
	s.Environment = t.prefix + s.Environment
	return t.Tx.PutSelection(s)
}

func (t projectTx) AddGraph(g TaskGraph) (int64, error) {
	if g.Owner.Environment != "" {
		g.Owner.Environment = t.prefix + g.Owner.Environment
	}
	return t.Tx.AddGraph(g)
}

// Graphs returns the graphs of the project's environments, releases, and plugins.
func (t projectTx) Graphs() ([]TaskGraph, error) {
	releases, err := t.Releases()
	if err != nil {
		return nil, err
	}
	owners := map[int64]bool{}
	for _, r := range releases {
		owners[r.ID] = true
	}
	rows, err := t.Tx.Graphs()
	return own(t, rows, err, func(g *TaskGraph) *string {
		if g.Owner.Environment == "" && owners[g.Owner.ID] {
			g.Owner.Environment = t.prefix
		}
		return &g.Owner.Environment
	})
}

func (t projectTx) Runs(environment string, before int64, limit int) ([]Job, error) {
	rows, err := t.Tx.Runs(t.prefix+environment, before, limit)
	return own(t, rows, err, environmentOf)
}

func (t projectTx) LastTaskRuns(environment, graphType string) ([]TaskRun, error) {
	return t.Tx.LastTaskRuns(t.prefix+environment, graphType)
}
