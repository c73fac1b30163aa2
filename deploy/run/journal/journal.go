// Package journal reads and writes an environment's resource graph, jobs, and events. Concurrent writes share a
// transaction.
//
//	err := j.Write(ctx, func(t *journal.Tx) error {
//		g, err := t.Graph()
//		…
//		return t.SetGraph(g)
//	})
package journal

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Journal reads and writes a single environment. It is safe for concurrent use.
type Journal struct {
	Jobs *job.Runner
	// Key is the data key of the environment. If it is nil, secrets stay sealed.
	Key *secret.Key

	commit  chan struct{} // full while a transaction runs; testing/synctest can wait for it, unlike for a mutex
	mutex   sync.Mutex    // guards waiting
	waiting []*write
	latest  latest
}

// Tx is a transaction that includes the environment's resource graph.
type Tx struct {
	*job.Tx
	journal *Journal
	// graph is the resource graph with the transaction's changes. It is loaded lazily.
	graph  *graph.Graph
	serial int64
}

// write is a pending function of a transaction.
type write struct {
	f    func(*Tx) error
	err  error
	done bool
}

// latest caches the resource graph that was last read or written.
type latest struct {
	mutex  sync.Mutex
	graph  *graph.Graph
	serial int64
}

// New returns the journal of the runner's environment.
func New(jobs *job.Runner, key *secret.Key) *Journal {
	return &Journal{Jobs: jobs, Key: key, commit: make(chan struct{}, 1)}
}

// Codec returns the codec for stored text.
func (j *Journal) Codec() state.Codec { return state.Codec{Key: j.Key} }

// Read runs f in a read-only transaction with a consistent view of the store. f may run more than once.
func (j *Journal) Read(ctx context.Context, f func(*Tx) error) error {
	t := &Tx{}
	err := j.Jobs.Read(ctx, func(tx *job.Tx) error {
		*t = Tx{Tx: tx, journal: j}
		return f(t)
	})
	if err == nil {
		t.keep()
	}
	return err
}

// Write runs f in a transaction, which it may share with other writes. f may run more than once.
func (j *Journal) Write(ctx context.Context, f func(*Tx) error) error { return j.wait(ctx, j.add(f)) }

// maxDelay is the maximum time for which a step's result waits to be stored with the intents of dependent steps.
const maxDelay = 20 * time.Millisecond

// WriteSoon runs f in the transaction of the next write, or in its own transaction after 20 ms. wait commits f
// immediately if it is still pending, and returns its error.
func (j *Journal) WriteSoon(f func(*Tx) error) (wait func() error) {
	w := j.add(f)
	commit := func() error { return j.wait(context.Background(), w) }
	timer := time.AfterFunc(maxDelay, func() { _ = commit() }) // wait returns the error.
	return func() error {
		timer.Stop()
		return commit()
	}
}

// WriteAlone runs f in a transaction that is not shared with other writes.
func (j *Journal) WriteAlone(ctx context.Context, f func(*Tx) error) error {
	return j.transact(ctx, []*write{{f: f}})
}

// add adds f to the next transaction.
func (j *Journal) add(f func(*Tx) error) *write {
	w := &write{f: f}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.waiting = append(j.waiting, w)
	return w
}

// wait runs all waiting writes in a single transaction, unless w is already done. It returns the error of w.
func (j *Journal) wait(ctx context.Context, w *write) error {
	j.commit <- struct{}{}
	defer func() { <-j.commit }()
	if w.done {
		return w.err
	}
	j.mutex.Lock()
	batch := j.waiting
	j.waiting = nil
	j.mutex.Unlock()
	// The batch contains writes with other contexts, which must not be canceled by this one.
	ctx = context.WithoutCancel(ctx)
	err := j.transact(ctx, batch)
	isSaved := errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrUncertain) // or may be
	for _, w := range batch {
		if w.err = err; err != nil && len(batch) > 1 && !isSaved {
			w.err = j.transact(ctx, []*write{w})
		}
		w.done = true
	}
	return w.err
}

// transact runs all writes of batch in a single transaction.
func (j *Journal) transact(ctx context.Context, batch []*write) error {
	t := &Tx{}
	err := j.Jobs.Write(ctx, func(tx *job.Tx) error {
		*t = Tx{Tx: tx, journal: j}
		for _, w := range batch {
			if err := w.f(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || errors.Is(err, store.ErrLost) {
		t.keep()
	}
	return err
}
