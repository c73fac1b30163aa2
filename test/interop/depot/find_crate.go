package depot

import (
	"context"
	"fmt"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// FindCrate implements FindCrateFunc.
func (d *Depot) FindCrate(ctx context.Context, call *findCrate, refs lumi.References) error {
	lumi.Log(ctx).Info("searching")
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, made := range d.crates {
		if made.Serial != call.Serial {
			continue
		}
		if call.Shelf != nil {
			if shelf, _ := refs.Resolve(*call.Shelf); made.Place == nil || *made.Place != string(shelf.ID) {
				return lumi.Faultf(FindCrate_Shelf, "does not hold %s", id)
			}
		}
		call.Crate, call.Seal = string(id), made.Seal
		return nil
	}
	return fmt.Errorf("crate with serial number %s: %w", call.Serial, lumi.ErrNotFound)
}
