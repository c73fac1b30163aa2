package depot

import (
	"context"
	"fmt"
	"strconv"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Shelves implements ShelfProviderOps, but none of the optional operations.
type Shelves struct{ Depot *Depot }

type shelfState = lumi.State[*shelf]

// Check implements ShelfProviderOps.
func (Shelves) Check(context.Context, *shelfState) error { return nil }

// Name returns a name derived from the number of rows.
func (Shelves) Name(_ context.Context, want *shelfState) (string, error) {
	return fmt.Sprintf("shelf-of-%v", want.Properties.Rows), nil
}

// Create implements ShelfProviderOps.
func (s Shelves) Create(_ context.Context, want *shelfState) (lumi.ID, error) {
	s.Depot.mu.Lock()
	defer s.Depot.mu.Unlock()
	id := lumi.ID("shelf-" + strconv.Itoa(len(s.Depot.shelves)+1))
	s.Depot.shelves[id] = want.Properties.Rows
	return id, nil
}

// Get implements ShelfProviderOps.
func (s Shelves) Get(_ context.Context, id lumi.ID, _ *shelfState) (*shelf, error) {
	s.Depot.mu.Lock()
	defer s.Depot.mu.Unlock()
	rows, ok := s.Depot.shelves[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &shelf{Rows: rows}, nil
}

// Update implements ShelfProviderOps.
func (s Shelves) Update(_ context.Context, old, want *shelfState, _ *lumi.Diff) error {
	s.Depot.mu.Lock()
	defer s.Depot.mu.Unlock()
	s.Depot.shelves[old.ID] = want.Properties.Rows
	return nil
}

// Delete implements ShelfProviderOps.
func (s Shelves) Delete(_ context.Context, old *shelfState) error {
	s.Depot.mu.Lock()
	defer s.Depot.mu.Unlock()
	delete(s.Depot.shelves, old.ID)
	return nil
}
