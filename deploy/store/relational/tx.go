// Package relational implements the statements of a store in SQL. The stores differ in transactions, connections, and
// migrations, and implement [Database].
package relational

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Database executes the SQL of a transaction. In SQL, $1 is the first parameter, and @ precedes the name of each table.
// After an error, all later calls return errors.
type Database interface {
	// Query executes a statement that returns rows. For each row, it sets the variables that fields point to and calls row.
	Query(sql string, args, fields []any, row func()) error
	// Exec executes a statement, now or before the next call of Query or Change, or the commit, which then return its error.
	Exec(sql string, args []any) error
	// Change executes a statement and returns the number of changed rows.
	Change(sql string, args []any) (int64, error)
}

// Options configure [New].
type Options struct {
	// Clock returns the time of the transaction by the store's clock.
	Clock func() time.Time
	// Write is set if statements may write.
	Write bool
	// Elements is an SQL expression for a query that returns the numbers in the JSON array in parameter 1.
	Elements string
}

// Tx implements [store.Tx]. It reads a row before it adds one that refers to it, since an error of the database would end
// some transactions, and may come late.
type Tx struct{ statements }

// New returns a transaction.
func New(db Database, o Options) *Tx { return &Tx{statements{DB: db, Options: o}} }

type statements struct {
	DB Database
	Options
	// Queued is set once a statement has changed a job or the resource graph, so that others may be able to start.
	Queued bool

	known map[reference]bool // rows that exist
	job   store.Job          // the last job read or written
}

// reference is a reference to a row.
type reference struct {
	table, column string
	key           any
}

func toEnvironment(name string) reference { return reference{"environment", "name", name} }

func toJob(id int64) reference { return reference{"deployment", "id", id} }

// String returns the name of the row for errors.
func (r reference) String() string { return fmt.Sprintf("%s %v", r.table, r.key) }

var errReadOnly = errors.New("cannot write in a read-only transaction")

// Now implements [store.Tx].
func (t *statements) Now() time.Time { return t.Clock() }

// require returns an error wrapping [store.ErrNotFound] if a row does not exist, and an error if t is read-only.
func (t *statements) require(r reference) error {
	if !t.Write {
		return errReadOnly
	}
	if t.known[r] {
		return nil
	}
	found := false
	var n int
	err := t.DB.Query("SELECT 1 FROM @"+r.table+" WHERE "+r.column+" = $1", []any{r.key}, []any{&n}, func() { found = true })
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", r, store.ErrNotFound)
	}
	if err == nil {
		t.knows(r)
	}
	return err
}

func (t *statements) knows(all ...reference) {
	if t.known == nil {
		t.known = map[reference]bool{}
	}
	for _, r := range all {
		t.known[r] = true
	}
}

// exec executes a statement for a row that refers to r.
func (t *statements) exec(r reference, sql string, args ...any) error {
	if err := t.require(r); err != nil {
		return err
	}
	return t.DB.Exec(sql, args)
}

// remove deletes a row and everything that belongs to it.
func (t *statements) remove(r reference) error {
	err := t.exec(r, "DELETE FROM @"+r.table+" WHERE "+r.column+" = $1", r.key)
	t.known, t.job = nil, store.Job{}
	return err
}

func (t *statements) delete(sql string, args ...any) error {
	if !t.Write {
		return errReadOnly
	}
	return t.DB.Exec(sql, args)
}

func find[T any](t *statements, tab *table[T], rest string, args ...any) ([]T, error) {
	var all []T
	var row T
	err := t.DB.Query(tab.list+rest, args, tab.fields(&row), func() { all = append(all, row) })
	if err != nil {
		return nil, err
	}
	return all, nil
}

func one[T any](t *statements, tab *table[T], key string, value any) (T, error) {
	rows, err := find(t, tab, "WHERE "+key+" = $1", value)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s %v: %w", tab.name, value, store.ErrNotFound)
	}
	if err != nil {
		var none T
		return none, err
	}
	return rows[0], nil
}

// add inserts a row that refers to r and returns the ID generated for its first column. what is the name, for errors, of
// the new row.
func add[T any](t *statements, r reference, tab *table[T], what string, row *T) (int64, error) {
	if !t.Write {
		return 0, errReadOnly
	}
	if r.table != "" {
		if err := t.require(r); err != nil {
			return 0, fmt.Errorf("%s: %w", what, err)
		}
	}
	var id int64
	err := t.DB.Query(tab.add+" ON CONFLICT DO NOTHING RETURNING id", tab.fields(row)[1:], []any{&id}, func() {})
	if err == nil && id == 0 {
		err = fmt.Errorf("%s %w", what, store.ErrExists)
	}
	return id, err
}

func (t *statements) Environments() ([]store.Environment, error) {
	return find(t, environments, "ORDER BY name")
}

func (t *statements) Environment(name string) (store.Environment, error) {
	e, err := one(t, environments, "name", name)
	if err == nil {
		t.knows(toEnvironment(name))
	}
	return e, err
}

func (t *statements) PutEnvironment(e store.Environment) error {
	if !t.Write {
		return errReadOnly
	}
	t.knows(toEnvironment(e.Name))
	return t.DB.Exec(environments.put, environments.fields(&e))
}

func (t *statements) DeleteEnvironment(name string) error { return t.remove(toEnvironment(name)) }

func (t *statements) Vertices(environment string) ([]store.Vertex, error) {
	return t.VerticesFrom(environment, "", math.MaxInt)
}

func (t *statements) VerticesFrom(environment, from string, limit int) ([]store.Vertex, error) {
	rows, err := find(t, vertices, "WHERE environment = $1 AND key >= $2 ORDER BY key LIMIT $3", environment, from, limit)
	all := make([]store.Vertex, len(rows))
	for i, r := range rows {
		all[i] = r.Vertex
	}
	return all, err
}

func (t *statements) PutVertices(environment string, put []store.Vertex, gone []string) error {
	t.Queued = true
	err := t.exec(toEnvironment(environment), "UPDATE @environment SET serial = serial + 1 WHERE name = $1", environment)
	for i := 0; i < len(put) && err == nil; i++ {
		err = t.DB.Exec(vertices.put, []any{environment, put[i].Key, put[i].Text})
	}
	for i := 0; i < len(gone) && err == nil; i++ {
		err = t.DB.Exec("DELETE FROM @vertex WHERE environment = $1 AND key = $2", []any{environment, gone[i]})
	}
	return err
}

func (t *statements) AddJob(d store.Job, c store.Content) (int64, error) {
	id, err := add(t, toEnvironment(d.Environment), deployments, "deployment", &d)
	if err != nil {
		return 0, err
	}
	d.ID, t.Queued = id, true
	t.keep(d)
	if d.Place == 0 {
		d.Place = id
		if err := t.PutJob(d); err != nil {
			return 0, err
		}
	}
	return id, t.DB.Exec(contents.insert, contents.fields(&contentRow{id, c}))
}

// keep keeps a job, which transactions often read several times.
func (t *statements) keep(d store.Job) {
	t.job = d
	t.knows(toJob(d.ID), toEnvironment(d.Environment))
}

func (t *statements) Job(id int64) (store.Job, error) {
	if t.Write && t.job.ID == id && id != 0 {
		d := t.job
		d.Uses = slices.Clone(d.Uses)
		return d, nil
	}
	d, err := one(t, deployments, "id", id)
	if err == nil {
		t.keep(d)
	}
	return d, err
}

func (t *statements) Content(id int64) (store.Content, error) {
	c, err := one(t, contents, "deployment", id)
	return c.Content, err
}

func (t *statements) PutContent(id int64, c store.Content) error {
	return t.exec(toJob(id), contents.update, contents.fields(&contentRow{id, c})...)
}

// final lists the final states exactly as in the definition of the queue's index.
const final = "('DONE', 'ABORTED', 'CANCELLED', 'SUPERSEDED')"

func (t *statements) Queue(environment string) ([]store.Job, error) {
	return find(t, deployments, "WHERE environment = $1 AND purpose <> 'tasks' AND state NOT IN "+final+" ORDER BY place, id", environment)
}

func (t *statements) History(environment string, before int64, limit int) ([]store.Job, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return find(t, deployments, "WHERE environment = $1 AND id < $2 AND purpose <> 'tasks' AND state IN "+final+" ORDER BY id DESC LIMIT $3",
		environment, before, max(limit, 0))
}

func (t *statements) Ready(prefix string, after int64, limit int) ([]store.Job, error) {
	now := micros(t.Now())
	// The condition on final states lets the database use the queue's index.
	return find(t, deployments, "WHERE state NOT IN "+final+" AND state IN ('WAIT', 'RUNNING', 'ABORTING') AND (expires IS NULL OR expires <= $1)"+
		" AND environment >= $2 AND environment < $3 AND id > $4 ORDER BY id LIMIT $5", &now, prefix, prefix+"\U0010ffff", after, max(limit, 0))
}

func (t *statements) PutJob(d store.Job) error {
	if !t.Write {
		return errReadOnly
	}
	before, err := t.Job(d.ID)
	if err == nil && before.Environment != d.Environment {
		err = fmt.Errorf("%s: %w", toJob(d.ID), store.ErrNotFound)
	}
	if err != nil {
		return err
	}
	d.Uses = slices.Clone(d.Uses)
	for _, at := range []*time.Time{&d.Expires, &d.Created, &d.Ended} {
		*at = at.UTC().Truncate(time.Microsecond) // as it will be read
	}
	isRenewal := d.State == before.State && d.Owner == before.Owner && !d.Expires.IsZero()
	t.job, t.Queued = d, t.Queued || !isRenewal
	return t.DB.Exec(deployments.update, deployments.fields(&d))
}

func (t *statements) Touch(id, fence int64, states ...store.State) (store.Job, error) {
	if !t.Write {
		return store.Job{}, errReadOnly
	}
	d, err := t.Job(id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return d, err
	}
	if err != nil || d.Fence != fence || !slices.Contains(states, d.State) {
		return d, fmt.Errorf("deployment %d: %w", id, store.ErrFenced)
	}
	return d, nil // The transaction excludes other writers of the environment.
}

func (t *statements) Tasks(deployment int64) ([]store.Task, error) {
	return find(t, tasks, "WHERE deployment = $1 ORDER BY number", deployment)
}

func (t *statements) PutTask(r store.Task) error {
	return t.exec(toJob(r.Deployment), tasks.put, tasks.fields(&r)...)
}

func (t *statements) DeleteTasks(deployment int64) error {
	return t.delete("DELETE FROM @task WHERE deployment = $1", deployment)
}

func (t *statements) Steps(deployment int64) ([]store.Step, error) {
	return find(t, steps, "WHERE deployment = $1 ORDER BY number", deployment)
}

func (t *statements) PutStep(r store.Step) error {
	return t.exec(toJob(r.Deployment), steps.put, steps.fields(&r)...)
}

func (t *statements) DeleteSteps(deployment int64, except ...store.State) error {
	where, args := "deployment = $1", []any{deployment}
	for _, state := range except {
		args = append(args, string(state))
		where += fmt.Sprintf(" AND state <> $%d", len(args))
	}
	return t.delete("DELETE FROM @step WHERE "+where, args...)
}

func (t *statements) MoveSteps(from, to int64) error {
	if err := t.require(toJob(to)); err != nil {
		return err
	}
	if rows, err := find(t, steps, "WHERE deployment = $1 LIMIT 1", to); err != nil {
		return err
	} else if len(rows) > 0 {
		return fmt.Errorf("deployment %d already has steps", to)
	}
	return t.DB.Exec("UPDATE @step SET deployment = $1 WHERE deployment = $2", []any{to, from})
}

func (t *statements) Prune(environment string, jobs []int64) (int, error) {
	if !t.Write {
		return 0, errReadOnly
	}
	list, err := json.Marshal(append([]int64{}, jobs...))
	if err != nil {
		return 0, err
	}
	args := []any{string(list), environment}
	t.known, t.job = nil, store.Job{}
	deleted, err := t.DB.Change("DELETE FROM @deployment WHERE id IN ("+t.Elements+") AND environment = $2"+
		" AND id NOT IN (SELECT run FROM @lasttaskrun WHERE environment = $2)", args)
	if err == nil {
		err = t.DB.Exec("DELETE FROM @event WHERE deployment IN ("+t.Elements+") AND environment = $2"+
			" AND deployment NOT IN (SELECT id FROM @deployment)", args)
	}
	return int(deleted), err
}

func (t *statements) Workers(environment string) ([]store.Worker, error) {
	return find(t, workers, "WHERE environment = $1 ORDER BY owner", environment)
}

func (t *statements) PutWorker(w store.Worker) error {
	return t.exec(toEnvironment(w.Environment), workers.put, workers.fields(&w)...)
}

func (t *statements) DeleteWorker(environment, owner string) error {
	return t.delete("DELETE FROM @worker WHERE environment = $1 AND owner = $2", environment, owner)
}

func (t *statements) AddEvents(environment string, add []store.Event) error {
	for _, e := range add {
		if err := t.exec(toEnvironment(environment), events.add, events.fields(&eventRow{environment, e})[1:]...); err != nil {
			return err
		}
	}
	return nil
}

func (t *statements) Events(environment string, deployment, after int64, limit int) ([]store.Event, error) {
	// Use separate statements, so that each can use its index.
	where, args := "environment = $1", []any{environment, after, max(limit, 0)}
	if deployment != 0 {
		where, args = where+" AND deployment = $4", append(args, deployment)
	}
	rows, err := find(t, events, "WHERE "+where+" AND serial > $2 ORDER BY serial LIMIT $3", args...)
	all := make([]store.Event, len(rows))
	for i, r := range rows {
		all[i] = r.Event
	}
	return all, err
}
