package run

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
)

// txn is a transaction of the store, with the resource graph and the events of the environment.
type txn struct {
	*job.Tx
	engine *Engine
	// graph is the resource graph with the changes of the transaction, nil until it is needed.
	graph  *graph.Graph
	serial int64
}

// cached is the latest resource graph that was read or written.
type cached struct {
	mutex  sync.Mutex
	graph  *graph.Graph
	serial int64
}

// Graph returns the resource graph. While no transaction changes it, all get the same one.
func (t *txn) Graph() (*graph.Graph, error) {
	environment, err := t.cached()
	if err != nil || t.graph != nil {
		return t.graph, err
	}
	rows, err := t.Vertices(environment.Name)
	if err != nil {
		return nil, err
	}
	t.graph, err = t.engine.codec().Graph(environment, rows)
	return t.graph, err
}

// outline returns the resource graph, perhaps without resources.
func (t *txn) outline() (*graph.Graph, error) {
	environment, err := t.cached()
	if err != nil || t.graph != nil {
		return t.graph, err
	}
	return t.engine.codec().Outline(t, environment)
}

// cached sets the resource graph if the engine has it, and returns the environment unless it is set.
func (t *txn) cached() (environment store.Environment, err error) {
	if t.graph != nil {
		return environment, nil
	}
	e := t.engine
	if environment, err = t.Environment(e.Environment); err != nil {
		return environment, err
	}
	if err := e.Key.Verify(environment.Key); err != nil { // What the former key seals could never be opened.
		return environment, err
	}
	t.serial = environment.Serial
	e.cache.mutex.Lock()
	defer e.cache.mutex.Unlock()
	if c := &e.cache; c.graph != nil && c.serial == t.serial && c.graph.Lineage == environment.Lineage {
		t.graph = c.graph
	}
	return environment, nil
}

// queue returns the deployments that are not in a final state, in the order of the queue, and the resource graph.
func (t *txn) queue() (rows []store.Job, g *graph.Graph, err error) {
	if rows, err = t.Queue(t.engine.Environment); err == nil {
		g, err = t.Graph()
	}
	return rows, g, err
}

// SetGraph changes the resource graph.
func (t *txn) SetGraph(after *graph.Graph) error {
	before, err := t.Graph()
	if err != nil || before == after {
		return err
	}
	put, gone, err := t.engine.codec().Changes(before, after)
	if err != nil {
		return err
	}
	if len(put)+len(gone) > 0 {
		if err := t.PutVertices(t.engine.Environment, put, gone); err != nil {
			return err
		}
		t.serial++
	}
	t.graph = after
	return nil
}

// committed keeps the graph for the next transaction.
func (t *txn) committed() {
	c := &t.engine.cache
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if t.graph != nil && (c.graph == nil || t.serial >= c.serial || t.graph.Lineage != c.graph.Lineage) {
		c.graph, c.serial = t.graph, t.serial
	}
}

// journal commits concurrent writes together, in one transaction.
type journal struct {
	commit  chan struct{} // full while a transaction runs; unlike a mutex, testing/synctest can wait for it
	mutex   sync.Mutex    // of waiting
	waiting []*write
}

type write struct {
	f    func(*txn) error
	err  error
	done bool
}

// read runs f with a consistent view of the store.
func (e *Engine) read(ctx context.Context, f func(*txn) error) error {
	t := &txn{engine: e}
	err := e.jobs.Read(ctx, func(tx *job.Tx) error {
		t.Tx = tx
		return f(t)
	})
	if err == nil {
		t.committed()
	}
	return err
}

// write runs f in a transaction, perhaps together with others. It may run more than once.
func (e *Engine) write(ctx context.Context, f func(*txn) error) error {
	return e.commit(ctx, e.enqueue(f))
}

// enqueue has f run in the next transaction.
func (e *Engine) enqueue(f func(*txn) error) *write {
	j, w := &e.journal, &write{f: f}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.waiting = append(j.waiting, w)
	return w
}

// maxDelay is how long the result of a step waits for the intents of the steps that it frees.
const maxDelay = 20 * time.Millisecond

// writeSoon runs f in the transaction of the next write, or in its own after [maxDelay]. The function that it returns waits for
// that, at once.
func (e *Engine) writeSoon(f func(*txn) error) (wait func() error) {
	w := e.enqueue(f)
	commit := func() error { return e.commit(context.Background(), w) }
	timer := time.AfterFunc(maxDelay, func() { _ = commit() }) // The error stays in the write.
	return func() error {
		timer.Stop()
		return commit()
	}
}

// commit runs all writes that wait in a transaction, unless w is done already.
func (e *Engine) commit(ctx context.Context, w *write) error {
	j := &e.journal
	j.commit <- struct{}{}
	defer func() { <-j.commit }()
	if w.done {
		return w.err
	}
	j.mutex.Lock()
	batch := j.waiting
	j.waiting = nil
	j.mutex.Unlock()
	// A write that waited for this one has its own context, so this one's must not end it.
	ctx = context.WithoutCancel(ctx)
	err := e.transact(ctx, batch)
	for _, w := range batch {
		if w.err = err; err != nil && len(batch) > 1 && !errors.Is(err, store.ErrLost) {
			w.err = e.transact(ctx, []*write{w})
		}
		w.done = true
	}
	return w.err
}

// transact runs writes in one transaction.
func (e *Engine) transact(ctx context.Context, batch []*write) error {
	t := &txn{engine: e}
	err := e.jobs.Write(ctx, func(tx *job.Tx) error {
		*t = txn{engine: e, Tx: tx}
		for _, w := range batch {
			if err := w.f(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || errors.Is(err, store.ErrLost) {
		t.committed()
	}
	return err
}

// enqueueAfter queues the cleanups that follow a deployment: of modules with versions that nothing needs any more and, if it
// was aborted, of what it leaves to be deleted.
func (t *txn) enqueueAfter(d store.Job, g *graph.Graph) error {
	modules := g.Unused()
	if d.Abort && len(g.Pending(d.Module)) > 0 && !slices.Contains(modules, d.Module) {
		modules = append(modules, d.Module)
	}
	for _, module := range modules {
		if _, err := t.enqueue(module); err != nil {
			return err
		}
	}
	return nil
}

// enqueue queues the cleanup of a module, unless one waits already, and returns its ID.
func (t *txn) enqueue(module string) (int64, error) {
	rows, err := t.Queue(t.engine.Environment)
	if err != nil {
		return 0, err
	}
	for _, d := range rows {
		if d.Kind == store.Cleanup && d.Module == module && d.State == store.Wait {
			return d.ID, nil
		}
	}
	d := store.Job{Environment: t.engine.Environment, Module: module, Kind: store.Cleanup}
	err = t.Add(&d, store.Content{})
	return d.ID, err
}
