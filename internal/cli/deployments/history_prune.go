package deployments

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/store"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
)

// configured is the value of --prune without a limit, which is then in the workspace file.
const configured = lumiyaml.FileName

// pruneHistory deletes the entries beyond the limit.
func (h *historyCommand) pruneHistory(ctx context.Context) error {
	name := h.Environment.Name
	if h.prune == configured {
		if h.prune = h.Workspace.Histories[name]; h.prune == "" {
			return console.Misused("--prune needs a limit, such as --prune=90d: %s has no history limit for %s", h.Workspace.File, name)
		}
	}
	keep, age, err := lumiyaml.ParseHistory(h.prune)
	if err != nil {
		return console.Misused("--prune=%s", err)
	}
	var ids []int64
	find := func(tx store.Tx) (err error) {
		var before time.Time
		if age > 0 {
			before = tx.Now().Add(-age)
		}
		ids, err = environment.Prunable(tx, name, keep, before)
		return err
	}
	if err := h.Store.Read(ctx, find); err != nil {
		return err
	}
	if len(ids) == 0 {
		return h.Finish("nothing to prune in %s", name)
	}
	if err := h.Agreed(h.yes, "Delete "+console.Count(len(ids), "entry")+" of the history"); err != nil {
		return err
	}
	deleted := 0
	err = h.Store.Write(ctx, name, func(tx store.Tx) (err error) {
		if err = find(tx); err == nil {
			deleted, err = tx.Prune(name, ids)
		}
		return err
	})
	if err != nil {
		return err
	}
	file, ok := h.Database.(interface {
		Compact(context.Context) (before, after int64, err error)
	})
	if !ok { // the server reuses the space
		return h.Finish("%s of the history of %s deleted", console.Count(deleted, "entry"), name)
	}
	was, now, err := file.Compact(ctx)
	if err != nil {
		return err
	}
	return h.Finish("%s of the history of %s deleted; the state has %d KiB instead of %d", console.Count(deleted, "entry"), name, now>>10, was>>10)
}
