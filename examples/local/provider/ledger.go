package local

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// ledger has the resources of a type that exist nowhere but in an engine's state, as far as this process created, changed
// or deleted them. An engine that did not get an answer learns from it what happened; if the process has died as well,
// the state is all that there is. The zero ledger is empty.
type ledger[P lumi.Object] struct {
	mu sync.Mutex
	// tokens are the ids of what was created with them.
	tokens map[string]lumi.ID
	latest map[lumi.ID]entry[P]
}

type entry[P lumi.Object] struct {
	properties P
	deleted    bool
}

// created returns what was created with a token, if it exists.
func (l *ledger[P]) created(token string) (id lumi.ID, properties P, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok = l.tokens[token]
	now := l.latest[id]
	return id, now.properties, ok && !now.deleted
}

// add enters what was created, and returns its id. Nobody changes the properties any more.
func (l *ledger[P]) add(token string, properties P) lumi.ID {
	id := lumi.ID(rand.Text())
	l.set(id, entry[P]{properties: properties})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens == nil {
		l.tokens = map[string]lumi.ID{}
	}
	l.tokens[token] = id
	return id
}

// set enters what a resource is now.
func (l *ledger[P]) set(id lumi.ID, now entry[P]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		l.latest = map[lumi.ID]entry[P]{}
	}
	l.latest[id] = now
}

// Get is the operation of that name.
func (l *ledger[P]) Get(_ context.Context, id lumi.ID, old *lumi.State[P]) (P, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now, ok := l.latest[id]; {
	case now.deleted:
		return now.properties, lumi.ErrNotFound
	case ok:
		return now.properties, nil
	case old == nil:
		return now.properties, fmt.Errorf("%w: it exists only in the state, and cannot be imported", lumi.ErrNotFound)
	}
	return old.Properties, nil
}

// Delete is the operation of that name, for what no work has to be done about.
func (l *ledger[P]) Delete(_ context.Context, old *lumi.State[P]) error {
	l.set(old.ID, entry[P]{deleted: true})
	return nil
}
