// Package memory implements an in-memory store for tests, model checking, and simulations. It performs no I/O, starts
// no goroutines, and is cheap to create.
package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Store is an in-memory [store.Store].
type Store struct {
	// Clock is the store's clock. If it is nil, the store uses [time.Now]. It must be set before the first transaction.
	Clock func() time.Time

	writer    sync.Mutex
	committed atomic.Pointer[data]
}

// New returns an empty store.
func New() *Store {
	s := &Store{}
	s.committed.Store(&data{})
	return s
}

// Close implements [store.Store]. It is a no-op.
func (s *Store) Close() error { return nil }

// Watch implements [store.Store]. It calls nothing.
func (s *Store) Watch(ctx context.Context, _ func(string)) { <-ctx.Done() }

// Read implements [store.Store].
func (s *Store) Read(ctx context.Context, f func(store.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return f(reader{s.begin()})
}

// Write implements [store.Store]. It excludes all other writers, even of other environments.
func (s *Store) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := s.begin()
	if err := f(store.Guarded(t, environment)); err != nil {
		return err
	}
	s.committed.Store(&t.data)
	return nil
}

func (s *Store) begin() *tx {
	now := time.Now
	if s.Clock != nil {
		now = s.Clock
	}
	return &tx{*s.committed.Load(), micros(now())}
}

// data holds sorted rows. Transactions share slices, so visible rows are never modified. Appended rows are beyond the
// length of slices in other transactions. If two transactions append to the same slice, the first one was rolled back.
type data struct {
	environments []store.Environment
	vertices     []vertex
	deployments  []deployment
	tasks        []store.Task
	steps        []store.Step
	workers      []store.Worker
	events       []events
	releases     []store.Release
	selections   []store.Selection
	graphs       []store.TaskGraph
	graphTasks   []store.GraphTask
	taskRuns     []taskRuns
	last, serial int64 // last ID of deployments and last serial of events
	rows         int64 // last ID of releases, graphs, and graph tasks
}

type (
	vertex struct {
		environment string
		store.Vertex
	}
	deployment struct {
		store.Job
		content store.Content
	}
	// events is a batch of events of an environment. Their serials start at after + 1.
	events struct {
		environment string
		after       int64
		rows        []store.Event
	}
)

func byName(a, b store.Environment) int { return cmp.Compare(a.Name, b.Name) }
func byID(a, b deployment) int          { return cmp.Compare(a.ID, b.ID) }
func byKey(a, b vertex) int {
	return cmp.Or(cmp.Compare(a.environment, b.environment), cmp.Compare(a.Key, b.Key))
}
func byOwner(a, b store.Worker) int {
	return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Owner, b.Owner))
}
func byTask(a, b store.Task) int {
	return cmp.Or(cmp.Compare(a.Deployment, b.Deployment), cmp.Compare(a.Number, b.Number))
}
func byStep(a, b store.Step) int {
	return cmp.Or(cmp.Compare(a.Deployment, b.Deployment), cmp.Compare(a.Number, b.Number))
}

// put returns rows with r inserted, or replaced if a row with the same order exists.
func put[T any](rows []T, r T, order func(a, b T) int) []T {
	i, found := slices.BinarySearchFunc(rows, r, order)
	if i == len(rows) {
		return append(rows, r)
	}
	if !found {
		return slices.Concat(rows[:i], []T{r}, rows[i:])
	}
	rows = slices.Clone(rows)
	rows[i] = r
	return rows
}

// find returns the matching rows in a new slice, converted by row.
func find[T, R any](rows []T, match func(T) bool, row func(T) R) []R {
	var found []R
	for _, r := range rows {
		if match(r) {
			found = append(found, row(r))
		}
	}
	return found
}

func same[T any](r T) T { return r }

// stored returns a copy of a caller's deployment for storage, and shown a copy of a stored deployment for a caller.
func stored(d store.Job) store.Job {
	d.Expires, d.Created, d.Ended = micros(d.Expires), micros(d.Created), micros(d.Ended)
	d.Uses = append([]string(nil), d.Uses...)
	return d
}

func shown(d deployment) store.Job {
	d.Uses = slices.Clone(d.Uses)
	return d.Job
}

// micros returns t in UTC, truncated to microseconds, as stores do.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
