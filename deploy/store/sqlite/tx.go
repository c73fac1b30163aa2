package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/lumi-idl/lumi/deploy/store"
)

// tx is a transaction. Its statements have no context: interrupting a write would roll back the transaction.
type tx struct {
	*conn
	write bool
	// err is the first database error. SQLite may have rolled back, so later statements fail with it.
	err error
}

var errReadOnly = errors.New("cannot write in a read-only transaction")

func (t *tx) fail(err error) error {
	if t.err == nil {
		t.err = err
	}
	return err
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if t.err != nil {
		return nil, t.err
	}
	if s := t.stmts[query]; s != nil {
		return s, nil
	}
	s, err := t.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, t.fail(err)
	}
	t.stmts[query] = s
	return s, nil
}

// exec runs a writing statement. what names the row that must exist, for errors.
func (t *tx) exec(what, query string, args ...any) (sql.Result, error) {
	if !t.write {
		return nil, errReadOnly
	}
	stmt, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	result, err := stmt.Exec(args...)
	var e *sqlite.Error
	switch {
	case errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return nil, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	case errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return nil, fmt.Errorf("%s %w", what, store.ErrExists)
	case err != nil:
		return nil, t.fail(err)
	}
	return result, nil
}

// change is exec for a statement that must change at least one row.
func (t *tx) change(what, query string, args ...any) error {
	result, err := t.exec(what, query, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("%s: %w", what, store.ErrNotFound)
}

func (t *tx) delete(query string, args ...any) error {
	_, err := t.exec("", query, args...)
	return err
}

func find[T any](t *tx, tab *table[T], rest string, args ...any) ([]T, error) {
	stmt, err := t.stmt(tab.list + rest)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query(args...)
	if err != nil {
		return nil, t.fail(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var all []T
	var row T
	for fields := tab.fields(&row); rows.Next(); {
		if err := rows.Scan(fields...); err != nil {
			return nil, t.fail(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, t.fail(err)
	}
	return all, nil
}

func one[T any](t *tx, tab *table[T], key string, value any) (T, error) {
	rows, err := find(t, tab, "WHERE "+key+" = ?", value)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s %v: %w", tab.name, value, store.ErrNotFound)
	}
	if err != nil {
		var none T
		return none, err
	}
	return rows[0], nil
}

func (t *tx) Environments() ([]store.Environment, error) {
	return find(t, environments, "ORDER BY name")
}

func (t *tx) Environment(name string) (store.Environment, error) {
	return one(t, environments, "name", name)
}

func (t *tx) PutEnvironment(e store.Environment) error {
	_, err := t.exec("", environments.put, environments.fields(&e)...)
	return err
}

func (t *tx) DeleteEnvironment(name string) error {
	return t.change("environment "+name, "DELETE FROM environment WHERE name = ?", name)
}

func (t *tx) Vertices(environment string) ([]store.Vertex, error) {
	return t.VerticesFrom(environment, "", math.MaxInt)
}

func (t *tx) VerticesFrom(environment, from string, limit int) ([]store.Vertex, error) {
	rows, err := find(t, vertices, "WHERE environment = ? AND key >= ? ORDER BY key LIMIT ?", environment, from, limit)
	all := make([]store.Vertex, len(rows))
	for i, r := range rows {
		all[i] = r.Vertex
	}
	return all, err
}

func (t *tx) PutVertices(environment string, put []store.Vertex, gone []string) error {
	err := t.change("environment "+environment, "UPDATE environment SET serial = serial + 1 WHERE name = ?", environment)
	for i := 0; i < len(put) && err == nil; i++ {
		_, err = t.exec("", vertices.put, environment, put[i].Key, put[i].Text)
	}
	for i := 0; i < len(gone) && err == nil; i++ {
		err = t.delete("DELETE FROM vertex WHERE environment = ? AND key = ?", environment, gone[i])
	}
	return err
}

func (t *tx) AddJob(d store.Job, c store.Content) (int64, error) {
	what := "environment " + d.Environment
	fields := deployments.fields(&d)
	fields[0] = nil // the database counts
	result, err := t.exec(what, deployments.insert, fields...)
	if err != nil {
		return 0, err
	}
	if d.ID, err = result.LastInsertId(); err != nil {
		return 0, err
	}
	if d.Place == 0 {
		d.Place = d.ID
		if err := t.PutJob(d); err != nil {
			return 0, err
		}
	}
	_, err = t.exec(what, contents.insert, contents.fields(&contentRow{d.ID, c})...)
	return d.ID, err
}

func (t *tx) Job(id int64) (store.Job, error) { return one(t, deployments, "id", id) }

func (t *tx) Content(id int64) (store.Content, error) {
	c, err := one(t, contents, "deployment", id)
	return c.Content, err
}

func (t *tx) PutContent(id int64, c store.Content) error {
	return t.change(fmt.Sprintf("deployment %d", id), contents.update, contents.fields(&contentRow{id, c})...)
}

// final lists the final states exactly as in the index of the queue.
const final = "('DONE', 'ABORTED', 'CANCELLED', 'SUPERSEDED')"

func (t *tx) Queue(environment string) ([]store.Job, error) {
	return find(t, deployments, "WHERE environment = ? AND purpose <> 'tasks' AND state NOT IN "+final+" ORDER BY place, id", environment)
}

func (t *tx) History(environment string, before int64, limit int) ([]store.Job, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return find(t, deployments, "WHERE environment = ? AND id < ? AND purpose <> 'tasks' AND state IN "+final+" ORDER BY id DESC LIMIT ?",
		environment, before, max(limit, 0))
}

func (t *tx) PutJob(d store.Job) error {
	return t.change(fmt.Sprintf("deployment %d", d.ID), deployments.update, deployments.fields(&d)...)
}

func (t *tx) Touch(id, fence int64, states ...store.State) (store.Job, error) {
	if !t.write {
		return store.Job{}, errReadOnly
	}
	d, err := t.Job(id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return d, err
	}
	if err != nil || d.Fence != fence || !slices.Contains(states, d.State) {
		return d, fmt.Errorf("deployment %d: %w", id, store.ErrFenced)
	}
	return d, nil // a writing transaction has locked all rows
}

func (t *tx) Tasks(deployment int64) ([]store.Task, error) {
	return find(t, tasks, "WHERE deployment = ? ORDER BY number", deployment)
}

func (t *tx) PutTask(r store.Task) error {
	_, err := t.exec(fmt.Sprintf("deployment %d", r.Deployment), tasks.put, tasks.fields(&r)...)
	return err
}

func (t *tx) DeleteTasks(deployment int64) error {
	return t.delete("DELETE FROM task WHERE deployment = ?", deployment)
}

func (t *tx) Steps(deployment int64) ([]store.Step, error) {
	return find(t, steps, "WHERE deployment = ? ORDER BY number", deployment)
}

func (t *tx) PutStep(r store.Step) error {
	_, err := t.exec(fmt.Sprintf("deployment %d", r.Deployment), steps.put, steps.fields(&r)...)
	return err
}

func (t *tx) DeleteSteps(deployment int64, except ...store.State) error {
	keep, err := json.Marshal(append([]store.State{}, except...))
	if err != nil {
		return err
	}
	return t.delete("DELETE FROM step WHERE deployment = ? AND state NOT IN (SELECT value FROM json_each(?))",
		deployment, string(keep))
}

func (t *tx) MoveSteps(from, to int64) error {
	if _, err := t.Job(to); err != nil {
		return err
	}
	if rows, err := find(t, steps, "WHERE deployment = ? LIMIT 1", to); err != nil {
		return err
	} else if len(rows) > 0 {
		return fmt.Errorf("deployment %d already has steps", to)
	}
	_, err := t.exec(fmt.Sprintf("deployment %d", to), "UPDATE step SET deployment = ? WHERE deployment = ?", to, from)
	return err
}

func (t *tx) AddEvents(environment string, add []store.Event) error {
	for _, e := range add {
		fields := events.fields(&eventRow{environment, e})
		fields[0] = nil // the database counts
		if _, err := t.exec("environment "+environment, events.insert, fields...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) Events(environment string, deployment, after int64, limit int) ([]store.Event, error) {
	// Two statements, so that each can use its index.
	where, args := "environment = ?1", []any{environment, after, max(limit, 0)}
	if deployment != 0 {
		where, args = "environment = ?1 AND deployment = ?4", append(args, deployment)
	}
	rows, err := find(t, events, "WHERE "+where+" AND serial > ?2 ORDER BY serial LIMIT ?3", args...)
	all := make([]store.Event, len(rows))
	for i, r := range rows {
		all[i] = r.Event
	}
	return all, err
}
