package local

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// ledger records the resources that this process has created, changed, or deleted. It is for types whose resources exist
// only in an engine's state, and allows the engine to recover from a lost response unless the process has exited. The zero
// value is an empty ledger.
type ledger[P lumi.Object] struct {
	mu sync.Mutex
	// tokens maps creation tokens to ids.
	tokens map[string]lumi.ID
	latest map[lumi.ID]entry[P]
}

type entry[P lumi.Object] struct {
	properties P
	deleted    bool
}

// add records a new resource and returns its id and properties. If a resource with the token already exists, add returns
// that instead. The caller must not modify the properties afterward.
func (l *ledger[P]) add(token string, properties P) (lumi.ID, P) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := l.tokens[token]
	if now := l.latest[id]; ok && !now.deleted {
		return id, now.properties
	}
	if l.tokens == nil {
		l.tokens = map[string]lumi.ID{}
	}
	id = lumi.ID(rand.Text())
	l.tokens[token] = id
	l.put(id, entry[P]{properties: properties})
	return id, properties
}

// set records the current entry of a resource.
func (l *ledger[P]) set(id lumi.ID, now entry[P]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(id, now)
}

func (l *ledger[P]) put(id lumi.ID, now entry[P]) {
	if l.latest == nil {
		l.latest = map[lumi.ID]entry[P]{}
	}
	l.latest[id] = now
}

// Get implements [lumi.Ops].
func (l *ledger[P]) Get(_ context.Context, id lumi.ID, old *lumi.State[P]) (P, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now, ok := l.latest[id]; {
	case now.deleted:
		return now.properties, lumi.ErrNotFound
	case ok:
		return now.properties, nil
	case old == nil:
		return now.properties, fmt.Errorf("%w: it exists only in the state and cannot be imported", lumi.ErrNotFound)
	}
	return old.Properties, nil
}

// Delete implements [lumi.Ops]. It only updates the ledger.
func (l *ledger[P]) Delete(_ context.Context, old *lumi.State[P]) error {
	l.set(old.ID, entry[P]{deleted: true})
	return nil
}
